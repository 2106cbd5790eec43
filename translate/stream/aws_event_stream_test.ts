import assert from "node:assert/strict";
import { upstreamDialect } from "../dialects.ts";
import { withHostErrors } from "../host_errors.ts";
import { ApiError, type ErrorKind } from "../model/error.ts";
import { joinPieces } from "../bytes/buffers.ts";
import { awsFrame, chunkFrame, exceptionFrame } from "../testing/aws_frames.ts";
import { AwsEventStream } from "./aws_event_stream.ts";

const DECODER = new TextDecoder();

/** Events as Bedrock sends them; numbers and blanks must keep their text. */
const EVENTS: readonly string[] = [
  '{"type":"message_start","message":{"model":"claude-sonnet-4-5","id":"msg_bdrk_01","type":"message","role":"assistant","content":[],"stop_reason":null,"usage":{"input_tokens":12,"output_tokens":1}}}',
  '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
  '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grüße, 世界 🌍"}}',
  '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"1.0e2"}, "n": 1.0e2}',
  '{"type":"content_block_stop","index":0}',
  '{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":7}}',
];
const LAST =
  '{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":12,"outputTokenCount":7,"invocationLatency":900,"firstByteLatency":300}}';
const STREAM = joinPieces([...EVENTS, LAST].map((event) => chunkFrame(event)));
const TEXT = [...EVENTS, '{"type":"message_stop"}'].map((event) =>
  `event: ${JSON.parse(event).type}\ndata: ${event}\n\n`
).join("");

/** As an attempt decodes the errors of Bedrock. */
const { decodeError } = withHostErrors(upstreamDialect("messages"), "aws");
const newStream = () => new AwsEventStream(decodeError);

/** What a stream becomes when it arrives in these chunks. */
function unwrap(...chunks: readonly Uint8Array[]) {
  const stream = newStream();
  let text = "";
  for (const chunk of chunks) text += DECODER.decode(stream.push(chunk));
  stream.end();
  return { text, error: stream.error };
}

function cutAt(bytes: Uint8Array, size: number): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    chunks.push(bytes.subarray(at, at + size));
  }
  return chunks;
}

for (const size of [1, 2, 3, 7, 64, 1_000, STREAM.length]) {
  Deno.test(`AwsEventStream keeps the JSON of each event, in chunks of ${size} bytes`, () => {
    assert.deepEqual(unwrap(...cutAt(STREAM, size)), {
      text: TEXT,
      error: undefined,
    });
  });
}

Deno.test("AwsEventStream reports every cut inside a frame", () => {
  const boundaries = new Set([0]);
  let at = 0;
  for (const event of [...EVENTS, LAST]) {
    at += chunkFrame(event).length;
    boundaries.add(at);
  }
  assert.equal(at, STREAM.length);
  for (let end = 0; end <= STREAM.length; end++) {
    const { text, error } = unwrap(STREAM.subarray(0, end));
    assert.ok(TEXT.startsWith(text));
    assert.equal(
      error?.message,
      boundaries.has(end)
        ? undefined
        : "the upstream's reply ended in the middle of a frame",
      `cut at ${end}`,
    );
  }
});

Deno.test("AwsEventStream reports every flipped bit, and passes nothing of that frame on", () => {
  const frame = chunkFrame(EVENTS[2] ?? "");
  const before = chunkFrame(EVENTS[1] ?? "");
  const sound = `event: content_block_start\ndata: ${EVENTS[1]}\n\n`;
  for (let bit = 0; bit < frame.length * 8; bit++) {
    const flipped = frame.slice();
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    const { text, error } = unwrap(before, flipped);
    assert.equal(text, sound, `bit ${bit}`);
    assert.equal(error?.kind, "upstream", `bit ${bit}`);
  }
});

Deno.test("AwsEventStream refuses a frame of 33 MiB at its prelude", () => {
  const frame = awsFrame(
    { ":message-type": "event", ":event-type": "chunk" },
    " ".repeat(33 * 1024 * 1024),
  );
  const stream = newStream();
  stream.push(frame.subarray(0, 12));
  assert.equal(stream.error?.message, "the upstream's event stream is corrupt");
  assert.equal(stream.push(frame.subarray(12)).length, 0);
});

Deno.test("AwsEventStream accepts a frame of 4 MiB in small chunks", () => {
  const event = JSON.stringify({
    type: "content_block_delta",
    text: "x".repeat(3 * 1024 * 1024),
  });
  const { text, error } = unwrap(...cutAt(chunkFrame(event), 4_096));
  assert.equal(error, undefined);
  assert.equal(text, `event: content_block_delta\ndata: ${event}\n\n`);
});

const EXCEPTIONS: readonly (readonly [string, ErrorKind])[] = [
  ["internalServerException", "internal"],
  ["modelStreamErrorException", "upstream"],
  ["modelTimeoutException", "timeout"],
  ["serviceUnavailableException", "unavailable"],
  ["throttlingException", "rate_limit"],
  ["ThrottlingException", "rate_limit"],
  ["validationException", "invalid_request"],
  ["anotherException", "internal"],
  ["constructor", "internal"],
];

for (const [type, kind] of EXCEPTIONS) {
  Deno.test(`AwsEventStream reports ${type} as ${kind}, first and midway`, () => {
    const exception = exceptionFrame(type, "Too many tokens.");
    for (
      const before of [
        [],
        EVENTS.slice(0, 3).map((event) => chunkFrame(event)),
      ]
    ) {
      const stream = newStream();
      const text = DECODER.decode(
        stream.push(joinPieces([...before, exception, STREAM])),
      );
      assert.equal(text.split("\n\n").length - 1, before.length);
      const { error } = stream;
      assert.ok(error instanceof ApiError);
      assert.equal(error.kind, kind);
      assert.equal(error.message, "Too many tokens.");
      assert.equal(stream.push(STREAM).length, 0, "nothing after an error");
      stream.end();
      assert.equal(stream.error, error);
    }
  });
}

const NO_EVENTS: readonly (readonly [string, Uint8Array, string])[] = [
  [
    "an error frame",
    awsFrame({
      ":message-type": "error",
      ":error-code": "InternalError",
      ":error-message": "An internal server error occurred",
    }, ""),
    "An internal server error occurred",
  ],
  [
    "an exception without a text",
    awsFrame({
      ":message-type": "exception",
      ":exception-type": "throttlingException",
    }, "no JSON"),
    "no JSON",
  ],
  [
    "a frame without headers",
    awsFrame({}, "{}"),
    "the upstream's event stream is corrupt",
  ],
  [
    "a frame of another kind",
    awsFrame({ ":message-type": "event2", ":event-type": "chunk" }, "{}"),
    "the upstream's event stream is corrupt",
  ],
  [
    "a chunk without bytes",
    awsFrame({ ":message-type": "event", ":event-type": "chunk" }, "{}"),
    "the upstream's event stream is corrupt",
  ],
  [
    "a chunk that is no base64",
    awsFrame(
      { ":message-type": "event", ":event-type": "chunk" },
      '{"bytes":"%%"}',
    ),
    "the upstream's event stream is corrupt",
  ],
  [
    "a chunk that is no JSON",
    chunkFrame("{"),
    "the upstream's event stream is corrupt",
  ],
  [
    "an event whose type would end its line",
    chunkFrame('{"type":"a\\nb"}'),
    "the upstream's event stream is corrupt",
  ],
  [
    "an event type that would end its line",
    awsFrame({ ":message-type": "event", ":event-type": "a\nb" }, "{}"),
    "the upstream's event stream is corrupt",
  ],
];

for (const [name, frame, message] of NO_EVENTS) {
  Deno.test(`AwsEventStream: ${name} is an error`, () => {
    assert.deepEqual(unwrap(frame).text, "");
    assert.equal(unwrap(frame).error?.message, message);
  });
}

Deno.test("AwsEventStream names an event by its own type, wherever it stands", () => {
  const event =
    '{"index":0,"delta":{"type":"text_delta"},"type":"content_block_delta"}';
  assert.equal(
    unwrap(chunkFrame(event)).text,
    `event: content_block_delta\ndata: ${event}\n\n`,
  );
});

Deno.test("AwsEventStream writes JSON with line breaks on one line", () => {
  assert.equal(
    unwrap(chunkFrame('{\n\t"type":"ping"\r\n}')).text,
    'event: ping\ndata: { \t"type":"ping"  }\n\n',
  );
});

Deno.test("AwsEventStream passes events that are not chunks on by their type", () => {
  const json = '{"contentBlockIndex":0,"delta":{"text":"Hi"},"p":"abc"}';
  const frame = awsFrame({
    ":message-type": "event",
    ":event-type": "contentBlockDelta",
  }, json);
  assert.equal(
    unwrap(frame).text,
    `event: contentBlockDelta\ndata: ${json}\n\n`,
  );
});
