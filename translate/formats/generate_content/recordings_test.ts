import assert from "node:assert/strict";
import { compact } from "../../bytes/compact.ts";
import { PLAIN_CONTEXT, type StreamDecoder } from "../../dialect.ts";
import {
  arrayOr,
  isObject,
  type JsonObject,
  objectOr,
  stringIn,
} from "../../bytes/json.ts";
import { recordings } from "../../testing/recordings.ts";
import { type Block, foldReply, type ReplyEvent } from "../../model/reply.ts";
import { type Frame, sseParser } from "../../stream/sse.ts";
import { generateContent } from "./mod.ts";

interface Row {
  readonly name: string;
  readonly status: number;
  readonly body: unknown;
  /** The stream's text as received: event frames, or one JSON array. */
  readonly stream?: string;
}

/** Undefined where the folder is absent; a notice was printed then. */
const ROWS: readonly Row[] | undefined = recordings()?.filter(({ vendor }) =>
  vendor === "gemini"
).map(({ id, response }) => {
  const stream = response.sse ?? response.raw_text;
  return {
    name: id,
    status: response.status,
    body: response.body,
    ...compact({ stream }),
  };
});

const STREAMS = (ROWS ?? []).flatMap(({ name, stream }) =>
  stream === undefined ? [] : [{ name, stream }]
);

function forEach<T extends { readonly name: string }>(
  sentence: string,
  rows: readonly T[],
  work: (row: T) => void,
): void {
  Deno.test(sentence, async (t) => {
    if (ROWS === undefined) return;
    assert.notEqual(rows.length, 0, "no recording of this kind");
    for (const row of rows) await t.step(row.name, () => work(row));
  });
}

/** Response objects of a stream, parsed without the code under test. */
function objectsOf(stream: string): readonly JsonObject[] {
  const whole = stream.trimStart().startsWith("[")
    ? stream
    : `[${
      stream.split(/\r?\n/).filter((line) => line.startsWith("data:")).map((
        line,
      ) => line.slice(5)).join(",")
    }]`;
  return arrayOr(JSON.parse(whole)).filter(isObject);
}

/**
 * The facts of a reply, read directly from its objects: only the sums that the recordings follow.
 */
function recorded(objects: readonly JsonObject[]): JsonObject {
  const parts: JsonObject[] = [];
  let finish: unknown;
  let usage: JsonObject = {};
  for (const object of objects) {
    const candidate = objectOr(arrayOr(object["candidates"])[0]);
    const content = objectOr(candidate["content"]);
    parts.push(...arrayOr(content["parts"]).filter(isObject));
    finish = candidate["finishReason"] ??
      objectOr(object["promptFeedback"])["blockReason"] ?? finish;
    usage = { ...usage, ...objectOr(object["usageMetadata"]) };
  }
  const joined = (thought: boolean): string =>
    parts.filter((part) => (part["thought"] === true) === thought).map((part) =>
      stringIn(part["text"]) ?? ""
    ).join("");
  const calls = parts.filter((part) => isObject(part["functionCall"]));
  return {
    text: joined(false),
    thoughts: joined(true),
    tools: calls.map((part) => {
      const { name, args, id } = objectOr(part["functionCall"]);
      return { name, args, id, signature: part["thoughtSignature"] };
    }),
    raw: finish,
    tokens: usage["totalTokenCount"],
    reasoning: usage["thoughtsTokenCount"],
    cached: usage["cachedContentTokenCount"],
  };
}

/** The same facts of the neutral events. */
function decodedFacts(events: readonly ReplyEvent[]): JsonObject {
  const { blocks, stop, usage } = foldReply(events);
  const joined = (kind: Block["kind"]): string =>
    blocks.filter((block) => block.kind === kind).map((block) => block.text)
      .join("");
  const counts = [usage.input, usage.cacheRead, usage.output];
  return {
    text: joined("text"),
    thoughts: joined("reasoning"),
    tools: blocks.flatMap((block) =>
      block.kind !== "tool" ? [] : [{
        name: block.name,
        args: JSON.parse(block.text),
        id: block.id,
        signature: block.signature?.value,
      }]
    ),
    raw: stop?.raw,
    tokens: counts.every((count) => count === undefined)
      ? undefined
      : counts.reduce<number>((sum, count) => sum + (count ?? 0), 0),
    reasoning: usage.reasoning,
    cached: usage.cacheRead,
  };
}

/** Checks that at most one block is open, each is closed, and `stop` and `end` come last. */
function checkOrder(events: readonly ReplyEvent[]): void {
  let open = false;
  for (const [at, event] of events.entries()) {
    switch (event.type) {
      case "start":
        assert.equal(at, 0);
        break;
      case "open":
        assert.equal(open, false);
        open = true;
        break;
      case "delta":
        assert.notEqual(event.text, "");
        assert.equal(open, true);
        break;
      case "sign":
        assert.equal(open, true);
        break;
      case "close":
        assert.equal(open, true);
        open = false;
        break;
      case "usage":
        break;
      case "stop":
        assert.equal(at, events.length - 2);
        assert.equal(open, false);
        break;
      case "end":
      case "error":
        assert.equal(at, events.length - 1);
        break;
    }
  }
  assert.equal(events.at(-1)?.type, "end");
}

function framesOf(chunks: Iterable<Uint8Array>): readonly Frame[] {
  const reader = sseParser();
  const frames: Frame[] = [];
  for (const chunk of chunks) frames.push(...reader.push(chunk));
  return [...frames, ...reader.end()];
}

function run(decoder: StreamDecoder, frames: readonly Frame[]): ReplyEvent[] {
  return [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end()];
}

function streamed(chunks: Iterable<Uint8Array>): readonly ReplyEvent[] {
  return run(generateContent.streamDecoder(PLAIN_CONTEXT), framesOf(chunks));
}

/** The chunks between the given positions. */
function* cut(bytes: Uint8Array, positions: readonly number[]) {
  let from = 0;
  for (const to of [...positions, bytes.length]) {
    yield bytes.subarray(from, to);
    from = to;
  }
}

/** Repeatable positions, so that a failing test fails again. */
function somePositions(length: number, seed: number): readonly number[] {
  let state = seed;
  const positions = new Set<number>();
  for (let i = 0; i < 20; i++) {
    state = (state * 1103515245 + 12345) % 2147483648;
    positions.add(state % length);
  }
  return [...positions].sort((a, b) => a - b);
}

forEach(
  "decodeReply() reads every recorded whole reply as it was recorded",
  (ROWS ?? []).filter(({ status, stream }) =>
    status === 200 && stream === undefined
  ),
  ({ body }) => {
    const events = generateContent.decodeReply(body, PLAIN_CONTEXT);
    checkOrder(events);
    assert.deepEqual(decodedFacts(events), recorded([objectOr(body)]));
  },
);

forEach(
  "streamDecoder() reads every recorded stream as it was recorded, as decodeReply() reads its objects",
  STREAMS,
  ({ stream }) => {
    const events = streamed([new TextEncoder().encode(stream)]);
    const objects = objectsOf(stream);
    checkOrder(events);
    assert.deepEqual(decodedFacts(events), recorded(objects));
    assert.deepEqual(
      generateContent.decodeReply(objects, PLAIN_CONTEXT),
      events,
    );
  },
);

forEach(
  "streamDecoder() gives the same events wherever the stream is cut",
  STREAMS,
  ({ stream }) => {
    const bytes = new TextEncoder().encode(stream);
    const expected = streamed([bytes]);
    const singly = Array.from({ length: bytes.length - 1 }, (_, i) => i + 1);
    assert.deepEqual(streamed(cut(bytes, singly)), expected);
    for (let seed = 1; seed <= 20; seed++) {
      const positions = somePositions(bytes.length, seed);
      assert.deepEqual(streamed(cut(bytes, positions)), expected);
    }
  },
);

forEach(
  "streamDecoder() calls a stream that was cut after any frame unfinished, unless it had finished",
  STREAMS.filter(({ stream }) => !stream.startsWith("[")),
  ({ stream }) => {
    const frames = framesOf([new TextEncoder().encode(stream)]);
    for (let count = 0; count < frames.length; count++) {
      const kept = frames.slice(0, count);
      const finished = kept.some(({ data }) => data.includes("finishReason"));
      const events = run(generateContent.streamDecoder(PLAIN_CONTEXT), kept);
      assert.equal(
        events.at(-1)?.type,
        finished ? "end" : "error",
        `after ${count} of ${frames.length} frames`,
      );
    }
  },
);

forEach(
  "streamDecoder() calls a JSON array that was cut anywhere unfinished",
  STREAMS.filter(({ stream }) => stream.startsWith("[")),
  ({ stream }) => {
    const bytes = new TextEncoder().encode(stream.trimEnd());
    for (
      const length of [...somePositions(bytes.length, 7), bytes.length - 1]
    ) {
      const events = streamed([bytes.subarray(0, length)]);
      assert.equal(events.at(-1)?.type, "error", `after ${length} bytes`);
    }
  },
);

forEach(
  "decodeError() reads every recorded error",
  (ROWS ?? []).filter(({ status }) => status >= 400),
  ({ status, body }) => {
    const error = generateContent.decodeError(
      status,
      new Headers(),
      JSON.stringify(body),
    );
    const { message } = objectOr(objectOr(body)["error"]);
    assert.equal(error.details.upstreamStatus, status);
    if (status === 400) {
      assert.equal(error.kind, "upstream");
      assert.notEqual(error.message, message);
    } else {
      assert.equal(status, 404);
      assert.equal(error.kind, "not_found");
      assert.equal(error.message, message);
    }
  },
);
