import assert from "node:assert/strict";
import fc from "fast-check";
import { compact } from "../../bytes/compact.ts";
import { type EncodeContext, PLAIN_CONTEXT } from "../../dialect.ts";
import { ApiError } from "../../model/error.ts";
import { objectOr } from "../../bytes/json.ts";
import { foldReply, type ReplyEvent } from "../../model/reply.ts";
import type { Signature } from "../../model/request.ts";
import { sseParser } from "../../stream/sse.ts";
import { decodeReply } from "./decode_reply.ts";
import { encodeReply } from "./encode_reply.ts";
import { streamDecoder } from "./decode_stream.ts";
import { streamEncoder } from "./encode_stream.ts";
import { ENCODE_CONTEXT } from "../../testing/encode_context.ts";
import { assistant } from "../../testing/request_samples.ts";
import { blockOf, signedBlock, toolBlock } from "../../testing/reply_events.ts";

const CONTEXT: EncodeContext = {
  ...ENCODE_CONTEXT,
  model: "asked",
  inputEstimate: 11,
};
const HEAD = {
  id: "chatcmpl-01",
  object: "chat.completion.chunk",
  created: 1_780_000_000,
  model: "asked",
};
const START: ReplyEvent = { type: "start", id: "msg_01", model: "up" };
const STOP: ReplyEvent = { type: "stop", reason: "end", raw: "end_turn" };
const END: ReplyEvent = { type: "end" };

function encode(
  events: readonly ReplyEvent[],
  context: Partial<EncodeContext> = {},
): string {
  const encoder = streamEncoder({ ...CONTEXT, ...context });
  return events.map((event) => encoder.push(event)).join("");
}

/** The data of each frame, parsed except for `[DONE]`. */
function framesOf(text: string): unknown[] {
  assert.ok(text === "" || text.endsWith("\n\n"));
  return text.split("\n\n").slice(0, -1).map((frame) => {
    assert.ok(frame.startsWith("data: "), frame);
    assert.equal(frame.includes("\n"), false);
    const data = frame.slice(6);
    return data === "[DONE]" ? data : JSON.parse(data);
  });
}

/** The deltas of all chunks with a choice. */
function deltasOf(text: string): unknown[] {
  return framesOf(text).flatMap((frame) => {
    const choices = objectOr(frame)["choices"];
    return Array.isArray(choices) ? choices.map((choice) => choice.delta) : [];
  });
}

function chunk(delta: unknown, finish: string | null = null, more = {}) {
  return {
    ...HEAD,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    ...more,
  };
}

Deno.test("streamEncoder() encodes a plain reply", () => {
  const text = encode([
    START,
    { type: "open", kind: "text" },
    { type: "delta", text: 'He"\n' },
    { type: "delta", text: "" },
    { type: "delta", text: "llo ☃" },
    STOP,
    { type: "close" },
    { type: "usage", usage: { input: 1, output: 2 } },
    END,
  ]);
  assert.deepEqual(framesOf(text), [
    chunk(assistant("")),
    chunk({ content: 'He"\n' }),
    chunk({ content: "llo ☃" }),
    chunk({}, "stop"),
    "[DONE]",
  ]);
});

Deno.test("streamEncoder() sends usage in a separate chunk, and only if requested", () => {
  const events: ReplyEvent[] = [
    { ...START, usage: { input: 3, cacheRead: 4, output: 1 } },
    ...blockOf("text", "x"),
    { type: "usage", usage: { output: 9 } },
    STOP,
    END,
  ];
  const usage = {
    prompt_tokens: 7,
    completion_tokens: 9,
    total_tokens: 16,
    prompt_tokens_details: { cached_tokens: 4 },
  };
  assert.deepEqual(framesOf(encode(events, { wantUsage: true })), [
    chunk(assistant(""), null, { usage: null }),
    chunk({ content: "x" }, null, { usage: null }),
    chunk({}, "stop", { usage: null }),
    { ...HEAD, choices: [], usage },
    "[DONE]",
  ]);
  assert.ok(!encode(events).includes("usage"));
});

Deno.test("streamEncoder() numbers calls independently of other blocks and starts each one separately", () => {
  const text = encode([
    START,
    ...blockOf("reasoning", "hm"),
    ...toolBlock("a", "f", '{"x"', ":1}"),
    ...blockOf("text", "t"),
    { type: "open", kind: "tool", name: "g" },
    { type: "close" },
    { type: "stop", reason: "tool_use", raw: "tool_use" },
    END,
  ]);
  assert.deepEqual(deltasOf(text), [
    assistant(""),
    { reasoning_content: "hm" },
    {
      tool_calls: [{
        index: 0,
        id: "a",
        type: "function",
        function: { name: "f", arguments: "" },
      }],
    },
    { tool_calls: [{ index: 0, function: { arguments: '{"x"' } }] },
    { tool_calls: [{ index: 0, function: { arguments: ":1}" } }] },
    { content: "t" },
    {
      tool_calls: [{
        index: 1,
        id: `call_${CONTEXT.idSeed}1`,
        type: "function",
        function: { name: "g", arguments: "" },
      }],
    },
    { tool_calls: [{ index: 1, function: { arguments: "{}" } }] },
    {},
  ]);
  assert.deepEqual(framesOf(text).at(-2), chunk({}, "tool_calls"));
});

Deno.test("streamEncoder() sends an empty object for blank arguments", () => {
  assert.deepEqual(
    deltasOf(encode([
      START,
      ...toolBlock("a", "f", " "),
    ])).slice(2),
    [
      { tool_calls: [{ index: 0, function: { arguments: " " } }] },
      { tool_calls: [{ index: 0, function: { arguments: "{}" } }] },
    ],
  );
});

Deno.test("streamEncoder() replies to the deprecated form in the deprecated form", () => {
  const text = encode([
    START,
    ...toolBlock("a", "f", "{}"),
    ...toolBlock("b", "g", "{}"),
    { type: "stop", reason: "tool_use", raw: "" },
    END,
  ], { legacyFunctions: true });
  assert.deepEqual(deltasOf(text), [
    assistant(""),
    { function_call: { name: "f", arguments: "" } },
    { function_call: { arguments: "{}" } },
    {},
  ]);
  assert.deepEqual(framesOf(text).at(-2), chunk({}, "function_call"));
});

Deno.test("streamEncoder() sends signatures in reasoning_details, with the text of the whole block", () => {
  const claude = (value: string, redacted?: boolean): ReplyEvent => ({
    type: "sign",
    signature: {
      from: "messages",
      value,
      ...compact({ redacted }),
    },
  });
  const entries = [
    {
      type: "reasoning.text",
      text: "ab",
      signature: "S",
      format: "anthropic-claude-v1",
      index: 0,
      position: { content: 0, tool_calls: 0 },
    },
    {
      type: "reasoning.encrypted",
      data: "E",
      format: "anthropic-claude-v1",
      index: 1,
      position: { content: 0, tool_calls: 0 },
    },
    {
      type: "reasoning.encrypted",
      data: "gw1:generate_content:G",
      format: "openai-responses-v1",
      index: 2,
      position: { content: 0, tool_calls: 0 },
    },
  ];
  assert.deepEqual(
    deltasOf(encode([
      START,
      { type: "open", kind: "reasoning" },
      { type: "delta", text: "a" },
      { type: "delta", text: "b" },
      claude("S"),
      { type: "close" },
      { type: "open", kind: "reasoning" },
      claude("E", true),
      { type: "close" },
      ...signedBlock("reasoning", { from: "generate_content", value: "G" }),
      END,
    ])),
    [
      assistant(""),
      { reasoning_content: "a" },
      { reasoning_content: "b" },
      ...entries.map((entry) => ({ reasoning_details: [entry] })),
      { extra_content: { gateway: { reasoning_details: entries } } },
      {},
    ],
  );
});

Deno.test("streamEncoder() sends a call's signature with its first chunk, or after it if it arrives late", () => {
  const sign: ReplyEvent = {
    type: "sign",
    signature: { from: "generate_content", value: "G" },
  };
  const open: ReplyEvent = { type: "open", kind: "tool", id: "a", name: "f" };
  const extra = {
    extra_content: {
      google: { thought_signature: "gw1:generate_content:G" },
    },
  };
  assert.deepEqual(
    deltasOf(encode([START, open, sign, { type: "delta", text: "{}" }])),
    [
      assistant(""),
      {
        tool_calls: [{
          index: 0,
          id: "a",
          type: "function",
          function: { name: "f", arguments: "" },
          ...extra,
        }],
      },
      { tool_calls: [{ index: 0, function: { arguments: "{}" } }] },
    ],
  );
  assert.deepEqual(
    deltasOf(encode([START, open, { type: "delta", text: "{}" }, sign])).at(-1),
    { tool_calls: [{ index: 0, function: { arguments: "" }, ...extra }] },
  );
});

Deno.test("streamEncoder() ends with the error and sends nothing after it", () => {
  const encoder = streamEncoder(CONTEXT);
  encoder.push(START);
  const error = new ApiError("overloaded", "busy", { param: "p" });
  assert.deepEqual(framesOf(encoder.push({ type: "error", error })), [{
    error: { type: "server_error", message: "busy", code: null, param: "p" },
  }]);
  assert.equal(encoder.push(END), "");
  assert.equal(encoder.push({ type: "open", kind: "text" }), "");
  assert.equal(encoder.ping(), "");
});

// A reply is complete even if its decoder emitted few events.
Deno.test("streamEncoder() encodes an empty reply completely", () => {
  assert.deepEqual(framesOf(encode([END], { wantUsage: true })), [
    {
      ...chunk(assistant(""), null, { usage: null }),
      id: `chatcmpl-${CONTEXT.idSeed}`,
    },
    {
      ...chunk({}, "stop", { usage: null }),
      id: `chatcmpl-${CONTEXT.idSeed}`,
    },
    {
      ...HEAD,
      id: `chatcmpl-${CONTEXT.idSeed}`,
      choices: [],
      usage: {
        prompt_tokens: 11,
        completion_tokens: 0,
        total_tokens: 11,
        prompt_tokens_details: { cached_tokens: 0 },
      },
    },
    "[DONE]",
  ]);
});

Deno.test("ping() sends only between the first chunk and the end, and releases a start that was held back", () => {
  const encoder = streamEncoder(CONTEXT);
  assert.equal(encoder.ping(), "");
  encoder.push(START);
  assert.equal(encoder.ping(), ": keep-alive\n\n");
  encoder.push({ type: "open", kind: "tool", id: "a", name: "f" });
  const first = encoder.ping();
  assert.ok(first.startsWith("data: ") && first.includes('"name":"f"'));
  assert.ok(first.endsWith("\n\n: keep-alive\n\n"));
  assert.equal(encoder.ping(), ": keep-alive\n\n");
  encoder.push(END);
  assert.equal(encoder.ping(), "");
});

const prose = fc.string({ unit: "binary", minLength: 1, maxLength: 8 });
const pieces = fc.array(prose, { maxLength: 3 });
const anyBlock: fc.Arbitrary<ReplyEvent[]> = fc.oneof(
  fc.tuple(
    fc.constantFrom("text", "refusal"),
    fc.array(prose, { minLength: 1, maxLength: 3 }),
  ).map(([kind, texts]): ReplyEvent[] => [
    { type: "open", kind },
    ...texts.map((text): ReplyEvent => ({ type: "delta", text })),
    { type: "close" },
  ]),
  fc.tuple(pieces, prose, fc.boolean()).map(
    ([texts, value, redacted]): ReplyEvent[] => [
      { type: "open", kind: "reasoning" },
      ...(redacted ? [] : texts).map((text): ReplyEvent => ({
        type: "delta",
        text,
      })),
      { type: "sign", signature: proof(value, redacted) },
      { type: "close" },
    ],
  ),
  fc.tuple(fc.jsonValue(), fc.nat(5), fc.boolean(), fc.boolean()).map(
    ([value, cut, empty, signed]): ReplyEvent[] => {
      const json = empty ? "" : JSON.stringify({ value });
      return [
        { type: "open", kind: "tool", id: "", name: "f" },
        ...(signed
          ? [
            {
              type: "sign",
              signature: { from: "generate_content", value: "G" },
            } as const,
          ]
          : []),
        ...[json.slice(0, cut), json.slice(cut)].filter((text) => text !== "")
          .map((text): ReplyEvent => ({ type: "delta", text })),
        { type: "close" },
      ];
    },
  ),
);

function proof(value: string, redacted: boolean): Signature {
  return { from: "messages", value, ...(redacted ? { redacted } : {}) };
}

/**
 * Blocks of a random reply: ids by position, and no adjacent blocks that the format would merge.
 */
const anyReply = fc.array(anyBlock, { maxLength: 6 }).map((blocks) =>
  blocks.filter((block, n) => {
    const kind = kindOf(block);
    return kind === "tool" || kind === "reasoning" ||
      n === 0 || kindOf(blocks[n - 1]) !== kind;
  }).map((block, n) =>
    block.map((event): ReplyEvent =>
      event.type === "open" && event.kind === "tool"
        ? { ...event, id: `call_${n}` }
        : event
    )
  ).flat()
);

function kindOf(block: readonly ReplyEvent[] | undefined): string {
  const first = block?.[0];
  return first?.type === "open" ? first.kind : "";
}

function sums(events: readonly ReplyEvent[]) {
  const reply = foldReply(events);
  const blocks = reply.blocks.map((block) =>
    block.kind === "tool" && block.text === ""
      ? { ...block, text: "{}" }
      : block
  );
  return { blocks, usage: reply.usage };
}

Deno.test("streamDecoder() reverses streamEncoder(), wherever the stream is split", () => {
  fc.assert(fc.property(
    anyReply,
    fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
    (blocks, sizes) => {
      const usage = { input: 5, cacheRead: 2, output: 3, reasoning: 1 };
      const events: ReplyEvent[] = [
        START,
        ...blocks,
        { type: "usage", usage },
        STOP,
        END,
      ];
      const bytes = new TextEncoder().encode(
        encode(events, { wantUsage: true }),
      );
      const reader = sseParser();
      const decoder = streamDecoder(PLAIN_CONTEXT);
      const read: ReplyEvent[] = [];
      for (let at = 0, n = 0; at < bytes.length; n++) {
        const size = sizes[n % sizes.length] ?? 1;
        for (const frame of reader.push(bytes.subarray(at, at + size))) {
          read.push(...decoder.push(frame));
        }
        at += size;
      }
      for (const frame of reader.end()) read.push(...decoder.push(frame));
      read.push(...decoder.end());
      assert.deepEqual(sums(read), sums(events));
      assert.equal(read.at(-1)?.type, "end");
    },
  ));
});

Deno.test("decodeReply() reverses encodeReply()", () => {
  fc.assert(fc.property(anyReply, (blocks) => {
    const events = [START, ...blocks, STOP, END];
    const read = foldReply(
      decodeReply(encodeReply(events, CONTEXT), PLAIN_CONTEXT),
    );
    const wrote = sums(events).blocks;
    for (const kind of ["text", "refusal"] as const) {
      const join = (all: typeof read.blocks) =>
        all.filter((block) => block.kind === kind).map((block) => block.text)
          .join("");
      assert.equal(join(read.blocks), join(wrote));
    }
    for (const kind of ["reasoning", "tool"] as const) {
      assert.deepEqual(
        read.blocks.filter((block) => block.kind === kind),
        wrote.filter((block) => block.kind === kind),
      );
    }
  }));
});
