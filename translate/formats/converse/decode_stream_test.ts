import assert from "node:assert/strict";
import { PLAIN_CONTEXT } from "../../dialect.ts";
import { foldReply, type ReplyEvent } from "../../model/reply.ts";
import { joinPieces } from "../../bytes/buffers.ts";
import { AwsEventStream } from "../../stream/aws_event_stream.ts";
import { sseParser } from "../../stream/sse.ts";
import { awsFrame } from "../../testing/aws_frames.ts";
import { converse } from "./mod.ts";
import { assistant } from "../../testing/request_samples.ts";

type WireEvent = readonly [string, object];

/** As Bedrock sends it: no start for text and reasoning, usage after the stop, padding `p`. */
const STREAM: readonly WireEvent[] = [
  ["messageStart", { role: "assistant", p: "abc" }],
  [
    "contentBlockDelta",
    { contentBlockIndex: 0, delta: { reasoningContent: { text: "Hm" } } },
  ],
  [
    "contentBlockDelta",
    { contentBlockIndex: 0, delta: { reasoningContent: { signature: "sig" } } },
  ],
  ["contentBlockStop", { contentBlockIndex: 0 }],
  [
    "contentBlockDelta",
    { contentBlockIndex: 1, delta: { text: "I look" }, p: "abcd" },
  ],
  ["contentBlockDelta", { contentBlockIndex: 1, delta: { text: " it up." } }],
  ["contentBlockStop", { contentBlockIndex: 1 }],
  ["contentBlockStart", {
    contentBlockIndex: 2,
    start: { toolUse: { toolUseId: "tooluse_1", name: "get_weather" } },
  }],
  ["contentBlockDelta", {
    contentBlockIndex: 2,
    delta: { toolUse: { input: '{"city":' } },
  }],
  ["contentBlockDelta", {
    contentBlockIndex: 2,
    delta: { toolUse: { input: '"Ulm"}' } },
  }],
  ["contentBlockStop", { contentBlockIndex: 2 }],
  ["messageStop", { stopReason: "tool_use" }],
  ["metadata", {
    usage: {
      inputTokens: 10,
      outputTokens: 20,
      totalTokens: 35,
      cacheReadInputTokens: 5,
      cacheWriteInputTokens: 0,
    },
    metrics: { latencyMs: 900 },
  }],
];

const WHOLE = {
  output: {
    message: assistant(
      {
        reasoningContent: {
          reasoningText: { text: "Hm", signature: "sig" },
        },
      },
      { text: "I look it up." },
      {
        toolUse: {
          toolUseId: "tooluse_1",
          name: "get_weather",
          input: { city: "Ulm" },
        },
      },
    ),
  },
  stopReason: "tool_use",
  usage: {
    inputTokens: 10,
    outputTokens: 20,
    totalTokens: 35,
    cacheReadInputTokens: 5,
    cacheWriteInputTokens: 0,
  },
  metrics: { latencyMs: 900 },
};

function framesOf(stream: readonly WireEvent[]): Uint8Array {
  return joinPieces(stream.map(([type, data]) =>
    awsFrame({
      ":event-type": type,
      ":content-type": "application/json",
      ":message-type": "event",
    }, JSON.stringify(data))
  ));
}

/** The events of binary frames that arrive in these chunks. */
function decoded(...chunks: readonly Uint8Array[]): readonly ReplyEvent[] {
  const binary = new AwsEventStream(converse.decodeError);
  const parser = sseParser();
  const decoder = converse.streamDecoder(PLAIN_CONTEXT);
  const events = chunks.flatMap((chunk) =>
    parser.push(binary.push(chunk)).flatMap((frame) => decoder.push(frame))
  );
  return [
    ...events,
    ...parser.end().flatMap((frame) => decoder.push(frame)),
    ...decoder.end(),
  ];
}

const stream = (events: readonly WireEvent[]) => decoded(framesOf(events));

Deno.test("a stream adds up to the whole reply", () => {
  const reply = foldReply(stream(STREAM));
  assert.deepEqual(
    reply,
    foldReply(converse.decodeReply(WHOLE, PLAIN_CONTEXT)),
  );
  assert.deepEqual(reply, {
    blocks: [
      {
        kind: "reasoning",
        text: "Hm",
        signature: { from: "converse", value: "sig" },
      },
      { kind: "text", text: "I look it up." },
      {
        kind: "tool",
        id: "tooluse_1",
        name: "get_weather",
        text: '{"city":"Ulm"}',
      },
    ],
    usage: { input: 10, output: 20, cacheRead: 5, cacheWrite: 0 },
    stop: { reason: "tool_use", raw: "tool_use" },
  });
});

Deno.test("a stream gives the same events, wherever its bytes are cut", () => {
  const bytes = framesOf(STREAM);
  const whole = decoded(bytes);
  for (let at = 1; at < bytes.length; at++) {
    assert.deepEqual(
      decoded(bytes.subarray(0, at), bytes.subarray(at)),
      whole,
      `cut at ${at}`,
    );
  }
});

Deno.test("a stream without its last events ends in an error, except without its usage alone", () => {
  for (let count = 0; count < STREAM.length; count++) {
    const last = stream(STREAM.slice(0, count)).at(-1);
    assert.equal(
      last?.type,
      count === STREAM.length - 1 ? "end" : "error",
      `${count} events`,
    );
  }
});

Deno.test("nothing follows the end", () => {
  const events = stream([...STREAM, ...STREAM]);
  assert.deepEqual(events, stream(STREAM));
});

Deno.test("a tool that the host ran is no call for the client", () => {
  const toolUse = {
    toolUseId: "tooluse_2",
    name: "nova_grounding",
    type: "server_tool_use",
  };
  const lost = [{ type: "lost", kind: "server_tool_use" }];
  const skipped = stream([
    ["messageStart", { role: "assistant" }],
    ["contentBlockStart", { contentBlockIndex: 0, start: { toolUse } }],
    ["contentBlockDelta", {
      contentBlockIndex: 0,
      delta: { toolUse: { input: '{"q":"Ulm"}' } },
    }],
    ["contentBlockStop", { contentBlockIndex: 0 }],
  ]);
  assert.deepEqual(skipped.slice(1, -1), lost);
  const whole = converse.decodeReply({
    output: { message: assistant({ toolUse: { ...toolUse, input: {} } }) },
    stopReason: "end_turn",
  }, PLAIN_CONTEXT);
  assert.deepEqual(whole.filter(({ type }) => type === "lost"), lost);
  assert.ok(!whole.some(({ type }) => type === "open"));
});

const STOPS: readonly (readonly [string, string])[] = [
  ["end_turn", "end"],
  ["max_tokens", "max_tokens"],
  ["stop_sequence", "stop_sequence"],
  ["tool_use", "tool_use"],
  ["guardrail_intervened", "refusal"],
  ["content_filtered", "refusal"],
  ["model_context_window_exceeded", "context_window"],
  ["malformed_tool_use", "other"],
];

for (const [raw, reason] of STOPS) {
  Deno.test(`the stop reason ${raw} is ${reason}`, () => {
    const { stop } = foldReply(stream([["messageStop", { stopReason: raw }]]));
    assert.deepEqual(stop, { reason, raw });
  });
}

Deno.test("cited text arrives with the sources that have an address", () => {
  const citations = [
    {
      title: "A",
      sourceContent: [{ text: "It " }, { text: "is." }],
      location: { web: { url: "https://a.test/", domain: "a.test" } },
    },
    { title: "facts.txt", location: { documentChar: { start: 0, end: 1 } } },
  ];
  const whole = {
    output: {
      message: {
        content: [{
          citationsContent: {
            content: [{ text: "Ruby " }, { text: "4" }],
            citations,
          },
        }],
      },
    },
    stopReason: "end_turn",
  };
  const place = { contentBlockIndex: 0 };
  const streamed = stream([
    ["messageStart", { role: "assistant" }],
    ["contentBlockDelta", { ...place, delta: { text: "Ruby 4" } }],
    ...citations.map((citation): WireEvent => [
      "contentBlockDelta",
      { ...place, delta: { citation } },
    ]),
    ["contentBlockStop", place],
    ["messageStop", { stopReason: "end_turn" }],
  ]);
  const decoded = converse.decodeReply(whole, PLAIN_CONTEXT);
  for (const events of [decoded, streamed]) {
    const reply = foldReply(events);
    assert.deepEqual(reply.blocks.map(({ text }) => text), ["Ruby 4"]);
    assert.deepEqual(
      events.flatMap((event) => event.type === "cite" ? [event.citation] : []),
      [{ url: "https://a.test/", title: "A", quote: "It is." }],
    );
  }
});

Deno.test("a reply with a picture is not complete elsewhere, and parts of unknown kinds are named", () => {
  const picture = { format: "png", source: { bytes: "AA" } };
  for (
    const [part, reason, lost] of [
      [{ image: picture }, "other", []],
      [{ document: { name: "a" } }, "end", ["document"]],
      [{ hologram: {} }, "end", ["hologram"]],
      [{ toolResult: { toolUseId: "t", content: [] } }, "end", []],
    ] as const
  ) {
    const whole = {
      output: { message: { content: [{ text: "a" }, part, { text: "b" }] } },
      stopReason: "end_turn",
    };
    const text = (at: number): [string, object][] => [
      ["contentBlockDelta", {
        contentBlockIndex: at,
        delta: { text: at === 0 ? "a" : "b" },
      }],
      ["contentBlockStop", { contentBlockIndex: at }],
    ];
    const streams = [
      ["contentBlockStart", { contentBlockIndex: 1, start: part }],
      ["contentBlockDelta", { contentBlockIndex: 1, delta: part }],
    ].map((second) =>
      stream([
        ["messageStart", { role: "assistant" }],
        ...text(0),
        second as [string, object],
        ["contentBlockStop", { contentBlockIndex: 1 }],
        ...text(2),
        ["messageStop", { stopReason: "end_turn" }],
      ])
    );
    for (
      const events of [converse.decodeReply(whole, PLAIN_CONTEXT), ...streams]
    ) {
      const { stop, blocks } = foldReply(events);
      assert.equal(stop?.reason, reason);
      assert.equal(blocks.map((one) => one.text).join(""), "ab");
      assert.deepEqual(
        events.flatMap((one) => one.type === "lost" ? [one.kind] : []),
        lost,
      );
    }
  }
});

Deno.test("parts of unknown kinds are skipped, with their deltas", () => {
  const reply = foldReply(stream([
    ["messageStart", { role: "assistant" }],
    ["contentBlockStart", { contentBlockIndex: 0, start: { new: {} } }],
    ["contentBlockDelta", { contentBlockIndex: 0, delta: { new: {} } }],
    ["contentBlockDelta", { contentBlockIndex: 0, delta: { text: "no" } }],
    ["contentBlockStop", { contentBlockIndex: 0 }],
    ["contentBlockDelta", { contentBlockIndex: 1, delta: { text: "yes" } }],
    ["messageStop", { stopReason: "end_turn" }],
  ]));
  assert.deepEqual(reply.blocks, [{ kind: "text", text: "yes" }]);
});

Deno.test("redacted reasoning keeps its value", () => {
  const { blocks } = foldReply(stream([
    ["contentBlockDelta", {
      contentBlockIndex: 0,
      delta: { reasoningContent: { redactedContent: "cmVk" } },
    }],
    ["contentBlockStop", { contentBlockIndex: 0 }],
    ["messageStop", { stopReason: "end_turn" }],
  ]));
  assert.deepEqual(blocks, [{
    kind: "reasoning",
    text: "",
    signature: { from: "converse", value: "cmVk", redacted: true },
  }]);
});

Deno.test("a reply that is no message, and a call without a name, are errors", () => {
  for (
    const body of [
      null,
      {},
      { message: "no" },
      { output: { message: { content: [{ toolUse: {} }] } } },
    ]
  ) {
    const events = converse.decodeReply(body, PLAIN_CONTEXT);
    assert.equal(events.at(-1)?.type, "error");
  }
});
