import assert from "node:assert/strict";
import { compact } from "../../bytes/compact.ts";
import { PLAIN_CONTEXT } from "../../dialect.ts";
import type { JsonObject } from "../../bytes/json.ts";
import type { ReplyEvent } from "../../model/reply.ts";
import { decodeReply } from "./decode_reply.ts";
import { blockOf, signedBlock } from "../../testing/reply_events.ts";
import { functionCall } from "../../testing/request_samples.ts";

function reply(
  parts: readonly unknown[],
  more: JsonObject = { finishReason: "STOP" },
): JsonObject {
  return { candidates: [{ content: { role: "model", parts }, ...more }] };
}

function decoded(body: unknown): readonly ReplyEvent[] {
  return decodeReply(body, PLAIN_CONTEXT);
}

const END: readonly ReplyEvent[] = [
  { type: "stop", reason: "end", raw: "STOP" },
  { type: "end" },
];

const text = (...texts: string[]): readonly ReplyEvent[] => [
  { type: "open", kind: "text" },
  ...texts.map((text): ReplyEvent => ({ type: "delta", text })),
  { type: "close" },
];

const thought = (text: string): readonly ReplyEvent[] =>
  blockOf("reasoning", text);

const tool = (
  name: string,
  args: string,
  more: { id?: string; sign?: string } = {},
): readonly ReplyEvent[] => [
  {
    type: "open",
    kind: "tool",
    ...compact({ id: more.id }),
    name,
  },
  ...(more.sign === undefined ? [] : [
    {
      type: "sign",
      signature: { from: "generate_content", value: more.sign },
    } as const,
  ]),
  { type: "delta", text: args },
  { type: "close" },
];

function outcome(
  events: readonly ReplyEvent[],
): { reason?: string; raw?: string; error?: string } {
  const last = events.at(-1);
  if (last?.type === "error") return { error: last.error.message };
  assert.equal(last?.type, "end");
  const stop = events.at(-2);
  assert.equal(stop?.type, "stop");
  return stop?.type === "stop" ? { reason: stop.reason, raw: stop.raw } : {};
}

Deno.test("decodeReply() reads thoughts, text and calls in their order, with id, model and usage", () => {
  assert.deepEqual(
    decoded({
      ...reply([
        { text: "hm", thought: true },
        { text: "I look. " },
        { text: "Now." },
        {
          functionCall: { name: "f", args: { a: 1 }, id: "c1" },
          thoughtSignature: "SIG",
        },
        functionCall("f", {}),
        { text: "Done." },
        { text: "", thoughtSignature: "OF THE TEXT" },
      ]),
      responseId: "r1",
      modelVersion: "m-1",
      usageMetadata: {
        promptTokenCount: 10,
        candidatesTokenCount: 5,
        thoughtsTokenCount: 3,
        totalTokenCount: 18,
      },
    }),
    [
      {
        type: "start",
        id: "r1",
        model: "m-1",
        usage: { input: 10, output: 8, reasoning: 3 },
      },
      ...thought("hm"),
      ...text("I look. ", "Now."),
      ...tool("f", '{"a":1}', { id: "c1", sign: "SIG" }),
      ...tool("f", "{}"),
      ...text("Done.").slice(0, -1),
      {
        type: "sign",
        signature: { from: "generate_content", value: "OF THE TEXT" },
      },
      { type: "close" },
      { type: "stop", reason: "tool_use", raw: "STOP" },
      { type: "end" },
    ],
  );
});

Deno.test("decodeReply() reads calls without arguments, and arguments as text, in their order", () => {
  assert.deepEqual(
    decoded(reply([
      functionCall("f"),
      functionCall("f"),
      { text: "a" },
      functionCall("g", '{"x": 1}'),
      functionCall("h", null),
    ])).slice(1, -2),
    [
      ...tool("f", "{}"),
      ...tool("f", "{}"),
      ...text("a"),
      ...tool("g", '{"x": 1}'),
      ...tool("h", "{}"),
    ],
  );
});

Deno.test("decodeReply() emits the signature of a thought", () => {
  assert.deepEqual(
    decoded(reply([{ text: "hm", thought: true, thoughtSignature: "S" }])),
    [
      { type: "start" },
      ...signedBlock(
        "reasoning",
        { from: "generate_content", value: "S" },
        "hm",
      ),
      ...END,
    ],
  );
});

Deno.test("decodeReply() turns the format tool's arguments into text, once, with a plain end", () => {
  const events = decodeReply(
    reply([
      {
        functionCall: { name: "final_answer", args: { a: 1 } },
        thoughtSignature: "S",
      },
      functionCall("final_answer", { a: 2 }),
    ]),
    { toolNames: new Map(), formatTool: "final_answer" },
  );
  assert.deepEqual(events, [
    { type: "start" },
    { type: "open", kind: "text", isAnswer: true },
    ...text('{"a":1}').slice(1),
    ...END,
  ]);
});

Deno.test("decodeReply() passes over parts without a neutral counterpart, and names unknown ones", () => {
  assert.deepEqual(
    decoded(
      reply([
        null,
        7,
        {},
        { toolCall: { toolType: "X" }, thoughtSignature: "S" },
        { toolResponse: { toolType: "X" }, thoughtSignature: "S" },
        {
          inlineData: { mimeType: "image/png", data: "AA" },
          thought: true,
        },
        { functionCall: {} },
        { futurePart: true },
        { text: "a" },
      ], { finishReason: "STOP", groundingMetadata: { webSearchQueries: [] } }),
    ),
    [
      { type: "start" },
      { type: "lost", kind: "futurePart" },
      ...text("a"),
      ...END,
    ],
  );
});

Deno.test("decodeReply() decodes only the first candidate", () => {
  const candidate = (index: number | undefined, text: string): JsonObject => ({
    ...compact({ index }),
    content: { parts: [{ text: text }] },
    finishReason: "STOP",
  });
  for (
    const candidates of [
      [candidate(1, "no"), candidate(0, "yes")],
      [candidate(undefined, "yes"), candidate(undefined, "no")],
      [null, candidate(0, "yes")],
    ]
  ) {
    assert.deepEqual(decoded({ candidates }), [
      { type: "start" },
      ...text("yes"),
      ...END,
    ]);
  }
});

Deno.test("decodeReply() maps every finish reason", async (t) => {
  const cases: readonly (readonly [unknown, string, string])[] = [
    ["STOP", "end", "STOP"],
    ["stop", "end", "stop"],
    ["MAX_TOKENS", "max_tokens", "MAX_TOKENS"],
    ["max_tokens", "max_tokens", "max_tokens"],
    ["SAFETY", "refusal", "SAFETY"],
    ["RECITATION", "refusal", "RECITATION"],
    ["BLOCKLIST", "refusal", "BLOCKLIST"],
    ["PROHIBITED_CONTENT", "refusal", "PROHIBITED_CONTENT"],
    ["SPII", "refusal", "SPII"],
    ["MODEL_ARMOR", "refusal", "MODEL_ARMOR"],
    ["IMAGE_SAFETY", "refusal", "IMAGE_SAFETY"],
    ["LANGUAGE", "other", "LANGUAGE"],
    ["OTHER", "other", "OTHER"],
    ["FUTURE_REASON", "other", "FUTURE_REASON"],
    [1, "end", "STOP"],
    [2, "max_tokens", "MAX_TOKENS"],
    [3, "refusal", "SAFETY"],
    [4, "refusal", "RECITATION"],
    [5, "other", "OTHER"],
    [9, "other", "MALFORMED_FUNCTION_CALL"],
    [99, "other", "99"],
    ["CONTINUATION", "max_tokens", "CONTINUATION"],
    ["MALFORMED_FUNCTION_CALL", "other", "MALFORMED_FUNCTION_CALL"],
    ["MALFORMED_RESPONSE", "other", "MALFORMED_RESPONSE"],
    ["NO_IMAGE", "other", "NO_IMAGE"],
    ["IMAGE_OTHER", "other", "IMAGE_OTHER"],
    ["ESCALATION", "refusal", "ESCALATION"],
    ["PUP_LIMITED_DISABLED", "other", "PUP_LIMITED_DISABLED"],
    ["UNEXPECTED_TOOL_CALL", "other", "UNEXPECTED_TOOL_CALL"],
    ["TOO_MANY_TOOL_CALLS", "other", "TOO_MANY_TOOL_CALLS"],
    ["MISSING_THOUGHT_SIGNATURE", "other", "MISSING_THOUGHT_SIGNATURE"],
    ["FINISH_REASON_UNSPECIFIED", "end", ""],
  ];
  for (const [finishReason, reason, raw] of cases) {
    await t.step(String(finishReason), () => {
      assert.deepEqual(
        outcome(decoded(reply([{ text: "a" }], { finishReason }))),
        { reason, raw },
      );
    });
  }
});

Deno.test("decodeReply() returns an error for an unusable call without other content", async (t) => {
  for (
    const finishReason of [
      "MALFORMED_FUNCTION_CALL",
      "MALFORMED_RESPONSE",
      "NO_IMAGE",
      "IMAGE_OTHER",
      "PUP_LIMITED_DISABLED",
      "UNEXPECTED_TOOL_CALL",
      "TOO_MANY_TOOL_CALLS",
      "MISSING_THOUGHT_SIGNATURE",
    ]
  ) {
    await t.step(finishReason, () => {
      for (const parts of [[], [{ text: "hm", thought: true }]]) {
        assert.deepEqual(
          outcome(
            decoded(reply(parts, { finishReason, finishMessage: "bad call" })),
          ),
          { error: `the model's answer was lost: ${finishReason} (bad call)` },
        );
      }
    });
  }
  for (
    const [raw, reason] of [
      ["UNEXPECTED_TOOL_CALL", "tool_use"],
      ["TOO_MANY_TOOL_CALLS", "tool_use"],
      ["MALFORMED_FUNCTION_CALL", "other"],
      ["MALFORMED_RESPONSE", "other"],
    ]
  ) {
    await t.step(`no error where a call was made: ${raw}`, () => {
      assert.deepEqual(
        outcome(
          decoded(
            reply([functionCall("f", {})], {
              finishReason: raw,
            }),
          ),
        ),
        { reason, raw },
      );
    });
  }
});

Deno.test("decodeReply() keeps max_tokens and refusal where calls were made", () => {
  const call = [functionCall("f", {})];
  assert.deepEqual(
    outcome(decoded(reply(call, { finishReason: "CONTINUATION" }))),
    { reason: "max_tokens", raw: "CONTINUATION" },
  );
  assert.deepEqual(
    outcome(decoded(reply(call, { finishReason: "MAX_TOKENS" }))),
    { reason: "max_tokens", raw: "MAX_TOKENS" },
  );
});

Deno.test("decodeReply() reads content without parts", () => {
  for (const content of [{}, { role: "model" }, null, undefined]) {
    assert.deepEqual(
      decoded({ candidates: [{ content, finishReason: "SAFETY" }] }),
      [
        { type: "start" },
        { type: "stop", reason: "refusal", raw: "SAFETY" },
        { type: "end" },
      ],
    );
  }
});

Deno.test("decodeReply() maps a blocked prompt to a refusal", () => {
  for (
    const [blockReason, raw] of [
      ["SAFETY", "SAFETY"],
      ["FUTURE", "FUTURE"],
      [4, "PROHIBITED_CONTENT"],
      ["BLOCK_REASON_UNSPECIFIED", ""],
    ]
  ) {
    assert.deepEqual(
      decoded({
        promptFeedback: { blockReason },
        usageMetadata: { promptTokenCount: 4, totalTokenCount: 4 },
      }),
      [
        { type: "start", usage: { input: 4, output: 0 } },
        { type: "stop", reason: "refusal", raw },
        { type: "end" },
      ],
    );
  }
});

Deno.test("decodeReply() decodes usage", async (t) => {
  const cases: readonly (readonly [string, unknown, unknown])[] = [
    ["cached tokens are part of the prompt", {
      promptTokenCount: 100,
      cachedContentTokenCount: 60,
      candidatesTokenCount: 5,
      totalTokenCount: 105,
    }, { input: 40, cacheRead: 60, output: 5 }],
    ["the vendor's tools add to the prompt", {
      promptTokenCount: 32,
      toolUsePromptTokenCount: 764,
      candidatesTokenCount: 477,
      thoughtsTokenCount: 240,
      totalTokenCount: 1513,
    }, { input: 796, output: 717, reasoning: 240 }],
    ["thoughts alone", {
      promptTokenCount: 5,
      thoughtsTokenCount: 9,
      totalTokenCount: 14,
    }, { input: 5, output: 9, reasoning: 9 }],
    ["no answer", { promptTokenCount: 14, totalTokenCount: 14 }, {
      input: 14,
      output: 0,
    }],
    ["more cached than reported", {
      promptTokenCount: 1,
      cachedContentTokenCount: 2,
      candidatesTokenCount: 0,
    }, { input: 0, cacheRead: 2, output: 0 }],
    ["nothing counted", { trafficType: "ON_DEMAND" }, undefined],
    ["nothing at all", null, undefined],
    ["no numbers", { promptTokenCount: "7", totalTokenCount: -1 }, undefined],
  ];
  for (const [name, usageMetadata, usage] of cases) {
    await t.step(name, () => {
      const [start] = decoded({ ...reply([]), usageMetadata });
      assert.deepEqual(
        start,
        usage === undefined ? { type: "start" } : { type: "start", usage },
      );
    });
  }
});

Deno.test("decodeReply() reads the array of a stream without alt=sse", () => {
  const frames = [
    reply([{ text: "a" }], { finishReason: "STOP" }),
    reply([{ text: "b" }], { finishReason: "STOP" }),
  ];
  assert.deepEqual(decoded(frames), [
    { type: "start" },
    ...text("a", "b"),
    ...END,
  ]);
  assert.deepEqual(
    outcome(decoded([reply([{ text: "a" }], {})])),
    { error: "the upstream's stream ended before its reply was finished" },
  );
});

Deno.test("decodeReply() returns an error for an error body, also in an array, and for other values", async (t) => {
  const error = { code: 503, message: "overloaded", status: "UNAVAILABLE" };
  for (const body of [{ error }, [{ error }], [{ error }, reply([])]]) {
    await t.step(JSON.stringify(body), () => {
      const events = decoded(body);
      assert.equal(events.length, 1);
      const [only] = events;
      assert.ok(only?.type === "error");
      assert.equal(only.error.kind, "unavailable");
      assert.equal(only.error.message, "overloaded");
    });
  }
  for (const body of [null, undefined, "x", 7]) {
    await t.step(String(body), () => {
      assert.deepEqual(outcome(decoded(body)), {
        error: "the upstream's reply is not a JSON object",
      });
    });
  }
  for (const body of [{}, { candidates: [] }, { candidates: null }]) {
    await t.step(JSON.stringify(body), () => {
      assert.deepEqual(outcome(decoded(body)), {
        error: "the upstream's reply holds no answer",
      });
    });
  }
});
