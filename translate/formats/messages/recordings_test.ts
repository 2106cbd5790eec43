/**
 * Real replies and requests of this dialect. The expectations are read from the recorded bytes
 * without the decoder.
 */
import assert from "node:assert/strict";
import { DEFAULT_CAPABILITIES } from "../../model/capabilities.ts";
import { PLAIN_CONTEXT } from "../../dialect.ts";
import { isObject, type JsonObject, objectOr } from "../../bytes/json.ts";
import { type Recording, recordings } from "../../testing/recordings.ts";
import { foldReply, type Reply, type ReplyEvent } from "../../model/reply.ts";
import { type Frame, sseParser } from "../../stream/sse.ts";
import { decodeCountTokens, messages } from "./mod.ts";
import { WIRE_STOP_REASONS } from "./stop_reason.ts";
import { ENCODE_CONTEXT } from "./sample_models.ts";
import { atOnce } from "../../steps.ts";

const RECORDINGS = (recordings() ?? []).filter((one) =>
  one.vendor === "messages"
);
const GENERATED = RECORDINGS.filter((one) =>
  one.response.status === 200 && one.meta.op === "generate"
);
const STREAMS = GENERATED.flatMap((one) =>
  one.response.sse === undefined ? [] : [{ id: one.id, sse: one.response.sse }]
);
const WHOLES = GENERATED.filter((one) => isObject(one.response.body));

function each<T extends { readonly id: string }>(
  rows: readonly T[],
  run: (row: T) => void,
): (t: Deno.TestContext) => Promise<void> {
  return async (t) => {
    for (const row of rows) await t.step(row.id, () => run(row));
  };
}

function framesOf(
  bytes: Uint8Array,
  cuts: Iterable<number>,
): readonly Frame[] {
  const reader = sseParser();
  const frames: Frame[] = [];
  let from = 0;
  for (const to of cuts) {
    frames.push(...reader.push(bytes.subarray(from, to)));
    from = to;
  }
  return [...frames, ...reader.push(bytes.subarray(from)), ...reader.end()];
}

function eventsOf(frames: readonly Frame[]): readonly ReplyEvent[] {
  const decoder = messages.streamDecoder(PLAIN_CONTEXT);
  const events: ReplyEvent[] = [];
  for (const frame of frames) events.push(...decoder.push(frame));
  return [...events, ...decoder.end()];
}

function decoded(
  sse: string,
  cuts: Iterable<number> = [],
): readonly ReplyEvent[] {
  return eventsOf(framesOf(new TextEncoder().encode(sse), cuts));
}

/** What clients see of a reply. */
interface Essence {
  readonly text: string;
  readonly reasoning: string;
  readonly signatures: readonly string[];
  readonly calls: readonly (readonly [unknown, unknown, unknown])[];
  readonly stop: unknown;
  readonly usage: unknown;
}

function essence(reply: Reply): Essence {
  const joined = (kind: string): string =>
    reply.blocks.flatMap((block) => block.kind === kind ? [block.text] : [])
      .join("");
  return {
    text: joined("text"),
    reasoning: joined("reasoning"),
    signatures: reply.blocks.flatMap((block) => block.signature?.value ?? []),
    calls: reply.blocks.flatMap((block) =>
      block.kind === "tool"
        ? [[block.id, block.name, JSON.parse(block.text || "{}")] as const]
        : []
    ),
    stop: WIRE_STOP_REASONS[reply.stop?.reason ?? "other"],
    usage: reply.usage,
  };
}

/** The same facts of a whole message, without the decoder. */
function essenceOfMessage(message: JsonObject): Essence {
  const content = message["content"];
  assert.ok(Array.isArray(content));
  const of = (type: string): readonly JsonObject[] =>
    content.filter((block) => block.type === type);
  const joined = (type: string, field: string): string =>
    of(type).map((block) => block[field]).join("");
  const usage = objectOr(message["usage"]);
  const thinking = objectOr(usage["output_tokens_details"])["thinking_tokens"];
  const figures: Record<string, unknown> = {
    input: usage["input_tokens"],
    cacheRead: usage["cache_read_input_tokens"],
    cacheWrite: usage["cache_creation_input_tokens"],
    output: usage["output_tokens"],
    reasoning: thinking,
  };
  for (const [name, figure] of Object.entries(figures)) {
    if (typeof figure !== "number") delete figures[name];
  }
  const searches = objectOr(usage["server_tool_use"])["web_search_requests"];
  if (typeof searches === "number" && searches > 0) {
    figures["uses"] = { web_search: searches };
  }
  return {
    text: joined("text", "text"),
    reasoning: joined("thinking", "thinking"),
    signatures: content.flatMap((block) =>
      (block.type === "thinking" ? block.signature : undefined) ??
        (block.type === "redacted_thinking" ? block.data : undefined) ?? []
    ),
    calls: of("tool_use").map((block) =>
      [block["id"], block["name"], block["input"]] as const
    ),
    stop: message["stop_reason"],
    usage: figures,
  };
}

/** The message that a recorded stream adds up to, without the decoder. */
function messageOfStream(sse: string): JsonObject {
  let message: Record<string, unknown> = {};
  const blocks: Record<string, string | unknown>[] = [];
  const json: string[] = [];
  for (const line of sse.split("\n")) {
    if (!line.startsWith("data: ")) continue;
    const data = JSON.parse(line.slice(6));
    if (data.type === "message_start") message = { ...data.message };
    if (data.type === "content_block_start") {
      blocks[data.index] = { ...data.content_block };
      json[data.index] = "";
    }
    if (data.type === "content_block_delta") {
      const block = blocks[data.index] ?? {};
      for (const field of ["text", "thinking", "signature"]) {
        if (typeof data.delta[field] === "string") {
          block[field] = `${block[field]}${data.delta[field]}`;
        }
      }
      json[data.index] += data.delta.partial_json ?? "";
    }
    if (data.type === "message_delta") {
      message["stop_reason"] = data.delta.stop_reason;
      message["usage"] = { ...objectOr(message["usage"]), ...data.usage };
    }
  }
  blocks.forEach((block, at) => {
    if (block["type"] === "tool_use") {
      block["input"] = JSON.parse(json[at] || "{}");
    }
  });
  return { ...message, content: blocks };
}

Deno.test("the recordings hold streams, whole replies, errors and requests of this dialect", () => {
  if (RECORDINGS.length === 0) return;
  assert.ok(STREAMS.length >= 8, String(STREAMS.length));
  assert.ok(WHOLES.length >= 8, String(WHOLES.length));
});

Deno.test(
  "streamDecoder() reads each recorded stream",
  each(STREAMS, ({ sse }) => {
    const events = decoded(sse);
    assert.deepEqual(
      essence(foldReply(events)),
      essenceOfMessage(messageOfStream(sse)),
    );
    assert.equal(events[0]?.type, "start");
    assert.equal(events.at(-1)?.type, "end");
  }),
);

Deno.test(
  "decodeReply() reads each recorded reply",
  each(WHOLES, ({ response }) => {
    const events = messages.decodeReply(response.body, PLAIN_CONTEXT);
    assert.deepEqual(
      essence(foldReply(events)),
      essenceOfMessage(objectOr(response.body)),
    );
    assert.equal(events.at(-1)?.type, "end");
  }),
);

Deno.test(
  "streamDecoder() keeps one block open at a time",
  each(STREAMS, ({ sse }) => {
    let open = false;
    for (const event of decoded(sse)) {
      if (event.type === "open") {
        assert.equal(open, false);
        open = true;
      } else if (event.type === "close") {
        assert.equal(open, true);
        open = false;
      } else if (["delta", "sign", "cite"].includes(event.type)) {
        assert.equal(open, true);
      } else assert.equal(open, false, event.type);
    }
  }),
);

Deno.test(
  "streamDecoder() gives the same events however a recorded stream is cut",
  each(STREAMS, ({ sse }) => {
    const whole = decoded(sse);
    const { length } = new TextEncoder().encode(sse);
    const single = Array.from({ length }, (_, at) => at);
    assert.deepEqual(decoded(sse, single), whole);
    // Cuts that look random but are the same in every run.
    let seed = 1;
    for (let round = 0; round < 40; round++) {
      const cuts: number[] = [];
      let at = 0;
      while (at < length) {
        seed = (seed * 48271) % 2147483647;
        at += seed % 97;
        cuts.push(Math.min(at, length));
      }
      assert.deepEqual(decoded(sse, cuts), whole);
    }
  }),
);

Deno.test(
  "streamDecoder() reports a recorded stream that was cut as an error, unless it had a stop reason",
  each(STREAMS, ({ sse }) => {
    const frames = framesOf(new TextEncoder().encode(sse), []);
    for (let kept = 0; kept < frames.length; kept++) {
      const events = eventsOf(frames.slice(0, kept));
      const finished = frames.slice(0, kept).some((frame) =>
        frame.event === "message_delta"
      );
      assert.equal(events.at(-1)?.type, finished ? "end" : "error", `${kept}`);
      const ends = events.filter((event) =>
        event.type === "end" || event.type === "error"
      );
      assert.equal(ends.length, 1);
    }
  }),
);

function withoutEstimate(reply: Reply): Essence {
  const { stop, ...rest } = essence(reply);
  const usage = { cacheRead: 0, cacheWrite: 0, ...reply.usage };
  return { ...rest, stop, usage };
}

function roundTrips(events: readonly ReplyEvent[]): void {
  const source = withoutEstimate(foldReply(events));
  const body = messages.encodeReply(events, ENCODE_CONTEXT);
  const whole = messages.decodeReply(body, PLAIN_CONTEXT);
  assert.deepEqual(withoutEstimate(foldReply(whole)), source);
  const encoder = messages.streamEncoder(ENCODE_CONTEXT);
  const sse = events.map((event) => encoder.push(event)).join("");
  assert.deepEqual(withoutEstimate(foldReply(decoded(sse))), source);
}

Deno.test(
  "encodeReply() and streamEncoder() write each recorded stream so that it reads the same",
  each(STREAMS, ({ sse }) => roundTrips(decoded(sse))),
);

Deno.test(
  "encodeReply() and streamEncoder() write each recorded reply so that it reads the same",
  each(
    WHOLES,
    ({ response }) =>
      roundTrips(messages.decodeReply(response.body, PLAIN_CONTEXT)),
  ),
);

Deno.test(
  "decodeRequest() reads each recorded request, and encodeRequest() writes it so that it reads the same",
  each(
    RECORDINGS.filter((one) => isObject(one.request?.body)),
    ({ request }: Recording) => {
      if (request?.url.includes("count_tokens")) {
        assert.equal(
          atOnce(decodeCountTokens(request.body)).maxTokens,
          undefined,
        );
        return;
      }
      const neutral = atOnce(messages.decodeRequest(request?.body));
      const { body } = atOnce(messages.encodeRequest(neutral, {
        ...DEFAULT_CAPABILITIES.messages,
        sampling: "all",
        maxReasoningBudget: 1_000_000,
        reasoning: neutral.reasoning?.mode === "auto" ? "adaptive" : "budget",
        schema: "json_schema",
      }));
      const again = atOnce(messages.decodeRequest(body));
      assert.deepEqual(
        { ...again, unknownFields: [], turns: again.turns.length },
        { ...neutral, unknownFields: [], turns: neutral.turns.length },
      );
      assert.equal(
        messages.cleanRequest(
          objectOr(request?.body),
          DEFAULT_CAPABILITIES.messages,
        ),
        undefined,
      );
    },
  ),
);

Deno.test(
  "decodeError() reads each recorded error",
  each(
    RECORDINGS.filter((one) => one.response.status >= 400),
    ({ response }) => {
      const error = messages.decodeError(
        response.status,
        new Headers(),
        JSON.stringify(response.body),
      );
      const detail = objectOr(objectOr(response.body)["error"]);
      assert.equal(error.message, detail["message"]);
      const { body, status } = messages.encodeError(error, "req_1");
      assert.equal(status, response.status);
      const encoded = objectOr(body["error"]);
      assert.equal(encoded["type"], detail["type"]);
      assert.equal(encoded["message"], detail["message"]);
    },
  ),
);
