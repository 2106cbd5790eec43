import assert from "node:assert/strict";
import { compact } from "../../bytes/compact.ts";
import { type EncodeContext, PLAIN_CONTEXT } from "../../dialect.ts";
import { ApiError } from "../../model/error.ts";
import type {
  Reply,
  ReplyEvent,
  StopReason,
  Usage,
} from "../../model/reply.ts";
import { foldReply } from "../../model/reply.ts";
import type { Signature } from "../../model/request.ts";
import { decodeReply } from "./decode_reply.ts";
import { encodeReply } from "./encode_reply.ts";
import { ENCODE_CONTEXT } from "../../testing/encode_context.ts";
import { chatCall, text } from "../../testing/request_samples.ts";

const CONTEXT: EncodeContext = {
  ...ENCODE_CONTEXT,
  model: "asked",
  inputEstimate: 11,
};

function block(
  kind: "text" | "reasoning" | "refusal",
  text: string,
  signature?: Signature,
): ReplyEvent[] {
  return [
    { type: "open", kind },
    ...(text === "" ? [] : [{ type: "delta", text } as const]),
    ...(signature === undefined ? [] : [{ type: "sign", signature } as const]),
    { type: "close" },
  ];
}

function tool(name: string, text: string, id?: string): ReplyEvent[] {
  return [
    { type: "open", kind: "tool", name, ...compact({ id }) },
    ...(text === "" ? [] : [{ type: "delta", text } as const]),
    { type: "close" },
  ];
}

function whole(
  blocks: ReplyEvent[],
  reason: StopReason = "end",
  usage: Usage = { input: 1, output: 2 },
): ReplyEvent[] {
  return [
    { type: "start", id: "msg_01", model: "up" },
    ...blocks,
    { type: "usage", usage },
    { type: "stop", reason, raw: "raw" },
    { type: "end" },
  ];
}

function encode(
  events: ReplyEvent[],
  context: Partial<EncodeContext> = {},
): Record<string, unknown> {
  return encodeReply(events, { ...CONTEXT, ...context });
}

function choiceOf(
  events: ReplyEvent[],
  context: Partial<EncodeContext> = {},
): { message: Record<string, unknown>; finish_reason: unknown } {
  const choices = encode(events, context)["choices"];
  assert.ok(Array.isArray(choices) && choices.length === 1);
  return choices[0];
}

function decode(body: unknown): Reply {
  return foldReply(decodeReply(body, PLAIN_CONTEXT));
}

function replyWith(message: unknown, more: Record<string, unknown> = {}) {
  return {
    id: "c1",
    model: "um",
    choices: [{ index: 0, message, finish_reason: "stop", ...more }],
  };
}

Deno.test("encodeReply() encodes a plain reply", () => {
  assert.deepEqual(encode(whole([...block("text", "Hello")])), {
    id: "chatcmpl-01",
    object: "chat.completion",
    created: 1_780_000_000,
    model: "asked",
    choices: [{
      index: 0,
      message: { role: "assistant", content: "Hello", refusal: null },
      logprobs: null,
      finish_reason: "stop",
    }],
    usage: {
      prompt_tokens: 1,
      completion_tokens: 2,
      total_tokens: 3,
      prompt_tokens_details: { cached_tokens: 0 },
    },
    system_fingerprint: "",
  });
});

Deno.test("encodeReply() prefixes the upstream's id, and makes one if it is absent", async (t) => {
  const rows: [string | undefined, string][] = [
    ["msg_abc", "chatcmpl-abc"],
    ["chatcmpl-abc", "chatcmpl-abc"],
    ["gen-1", "chatcmpl-gen-1"],
    ["", `chatcmpl-${CONTEXT.idSeed}`],
    [undefined, `chatcmpl-${CONTEXT.idSeed}`],
  ];
  for (const [id, expected] of rows) {
    await t.step(String(id), () => {
      const events: ReplyEvent[] = [
        { type: "start", ...compact({ id }) },
        { type: "end" },
      ];
      assert.equal(encode(events)["id"], expected);
    });
  }
});

Deno.test("encodeReply() sends null content beside calls, and an empty text for an empty reply", () => {
  assert.equal(
    choiceOf(whole(tool("f", "{}", "a"))).message["content"],
    null,
  );
  assert.equal(choiceOf(whole([])).message["content"], "");
  assert.equal(
    choiceOf(whole(block("refusal", "No."))).message["content"],
    null,
  );
});

Deno.test("encodeReply() encodes every call, with an id and with valid JSON arguments", () => {
  assert.deepEqual(
    choiceOf(whole([
      ...block("text", "a"),
      ...tool("f", '{"x":1}', "call_x"),
      ...block("text", "b"),
      ...tool("g", ""),
      ...tool("h", " "),
    ])).message,
    {
      role: "assistant",
      content: "ab",
      refusal: null,
      tool_calls: [
        chatCall("call_x", "f", '{"x":1}'),
        chatCall(`call_${CONTEXT.idSeed}1`, "g"),
        chatCall(`call_${CONTEXT.idSeed}2`, "h"),
      ],
    },
  );
});

Deno.test("encodeReply() replies to the deprecated form in the deprecated form", () => {
  const choice = choiceOf(
    whole([...tool("f", ""), ...tool("g", "{}")], "tool_use"),
    { legacyFunctions: true },
  );
  assert.deepEqual(choice.message, {
    role: "assistant",
    content: null,
    refusal: null,
    function_call: { name: "f", arguments: "{}" },
  });
  assert.equal(choice.finish_reason, "function_call");
});

Deno.test("encodeReply() reports why the model stopped", async (t) => {
  const call = tool("f", "{}", "a");
  const rows: [StopReason, ReplyEvent[], string][] = [
    ["end", [], "stop"],
    ["pause", [], "length"],
    ["other", [], "length"],
    ["other", call, "length"],
    ["stop_sequence", [], "stop"],
    ["max_tokens", [], "length"],
    ["max_tokens", call, "length"],
    ["context_window", [], "length"],
    ["tool_use", call, "tool_calls"],
    ["tool_use", [], "stop"],
    ["end", call, "tool_calls"],
    ["refusal", [], "content_filter"],
  ];
  for (const [reason, blocks, expected] of rows) {
    await t.step(`${reason} with ${blocks.length} block events`, () => {
      assert.equal(choiceOf(whole(blocks, reason)).finish_reason, expected);
    });
  }
});

Deno.test("encodeReply() adds cached tokens to the prompt", async (t) => {
  const rows: [Usage, unknown][] = [
    [
      { input: 5, cacheRead: 7, cacheWrite: 3, output: 4, reasoning: 2 },
      {
        prompt_tokens: 15,
        completion_tokens: 4,
        total_tokens: 19,
        prompt_tokens_details: { cached_tokens: 7, cache_write_tokens: 3 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
    ],
    [
      { input: 0, cacheWrite: 0, output: 0 },
      {
        prompt_tokens: 0,
        completion_tokens: 0,
        total_tokens: 0,
        prompt_tokens_details: { cached_tokens: 0 },
      },
    ],
    [
      {},
      {
        prompt_tokens: 11,
        completion_tokens: 0,
        total_tokens: 11,
        prompt_tokens_details: { cached_tokens: 0 },
      },
    ],
  ];
  for (const [usage, expected] of rows) {
    await t.step(JSON.stringify(usage), () => {
      assert.deepEqual(encode(whole([], "end", usage))["usage"], expected);
    });
  }
});

Deno.test("encodeReply() sends reasoning, with its signatures in reasoning_details", () => {
  const message = choiceOf(whole([
    ...block("reasoning", "a", { from: "messages", value: "S" }),
    ...block("reasoning", "", {
      from: "messages",
      value: "E",
      redacted: true,
    }),
    ...block("reasoning", "b"),
    { type: "open", kind: "tool", id: "t", name: "f" },
    { type: "sign", signature: { from: "generate_content", value: "G" } },
    { type: "close" },
  ])).message;
  assert.deepEqual(message, {
    role: "assistant",
    content: null,
    refusal: null,
    reasoning_content: "ab",
    reasoning_details: [
      {
        type: "reasoning.text",
        text: "a",
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
        type: "reasoning.text",
        text: "b",
        format: "anthropic-claude-v1",
        index: 2,
        position: { content: 0, tool_calls: 0 },
      },
    ],
    tool_calls: [{
      id: "t",
      type: "function",
      function: { name: "f", arguments: "{}" },
      extra_content: {
        google: { thought_signature: "gw1:generate_content:G" },
      },
    }],
  });
});

Deno.test("encodeReply() throws the error of an error event", () => {
  const error = new ApiError("overloaded", "busy");
  assert.throws(() => encode([{ type: "error", error }]), error);
});

Deno.test("decodeReply() accepts the deviations of vendors", async (t) => {
  const rows: [string, unknown, string[], StopReason][] = [
    [
      "azure: filtered, without a message",
      {
        id: "c1",
        choices: [{ index: 0, finish_reason: "content_filter" }],
      },
      [],
      "refusal",
    ],
    ["a refusal", replyWith({ content: null, refusal: "No." }), [
      "refusal:No.",
    ], "refusal"],
    [
      "calls that end with stop",
      replyWith({
        content: null,
        tool_calls: [{ id: "a", function: { name: "f", arguments: "{" } }, {
          id: "b",
          function: { name: "g", arguments: "" },
        }],
      }),
      ["f:{", "g:"],
      "end",
    ],
    [
      "no finish reason",
      {
        choices: [{ message: { content: "x" } }],
      },
      ["text:x"],
      "end",
    ],
    [
      "the old form",
      replyWith({
        content: null,
        function_call: { name: "f", arguments: "{}" },
      }, { finish_reason: "function_call" }),
      ["f:{}"],
      "tool_use",
    ],
    [
      "cut short by the limit while reasoning",
      replyWith({ content: "" }, {
        finish_reason: "length",
      }),
      [],
      "max_tokens",
    ],
    [
      "reasoning with details",
      replyWith({
        content: "x",
        reasoning: "ab",
        reasoning_details: [{
          type: "reasoning.text",
          text: "a",
          signature: "S",
          format: "anthropic-claude-v1",
        }, {
          type: "reasoning.text",
          text: "b",
          signature: "T",
          format: "anthropic-claude-v1",
        }],
      }),
      ["reasoning:a", "reasoning:b", "text:x"],
      "end",
    ],
    ...[{}, { content: "" }, { content: null }, { role: "assistant" }, null]
      .map((delta): [string, unknown, string[], StopReason] => [
        `a delta ${JSON.stringify(delta)} beside the message`,
        replyWith({ content: "x" }, { delta }),
        ["text:x"],
        "end",
      ]),
    ...[{}, { role: "assistant", content: null }, null].map((
      message,
    ): [string, unknown, string[], StopReason] => [
      `a message ${JSON.stringify(message)} beside the delta`,
      replyWith(message, { delta: { content: "x" } }),
      ["text:x"],
      "end",
    ]),
    [
      "a call in the message beside an empty delta",
      replyWith({
        content: null,
        tool_calls: [{ id: "a", function: { name: "f", arguments: "{}" } }],
      }, { delta: { content: "" } }),
      ["f:{}"],
      "end",
    ],
    [
      "a text of the legacy completions format",
      replyWith(undefined, { text: "x" }),
      [
        "text:x",
      ],
      "end",
    ],
    ["the same text twice", replyWith({ content: "x" }, { text: "x" }), [
      "text:x",
    ], "end"],
    [
      "content as a list",
      replyWith({
        content: [
          { type: "reasoning", text: "hm" },
          "a",
          { type: "output_text", text: "b" },
          { type: "text", text: { value: "c" } },
        ],
      }),
      ["reasoning:hm", "text:abc"],
      "end",
    ],
    [
      "content as one part",
      replyWith({
        content: text("x"),
      }),
      ["text:x"],
      "end",
    ],
    [
      "a refusal among the content",
      replyWith({
        content: [{ type: "refusal", refusal: "No." }],
      }),
      ["refusal:No."],
      "refusal",
    ],
    [
      "the only choice, with another index",
      {
        choices: [
          { index: 1, message: { content: "x" }, finish_reason: "stop" },
        ],
      },
      ["text:x"],
      "end",
    ],
    [
      "a finish reason as a number",
      replyWith({ content: "x" }, { finish_reason: 1 }),
      ["text:x"],
      "other",
    ],
    [
      "the second choice first",
      {
        choices: [
          { index: 1, message: { content: "n" }, finish_reason: "length" },
          { index: 0, message: { content: "y" }, finish_reason: "stop" },
        ],
      },
      ["text:y"],
      "end",
    ],
  ];
  for (const [name, body, expected, reason] of rows) {
    await t.step(name, () => {
      const reply = decode(body);
      assert.deepEqual(
        reply.blocks.map((one) =>
          `${one.kind === "tool" ? one.name : one.kind}:${one.text}`
        ),
        expected,
      );
      assert.equal(reply.stop?.reason, reason);
    });
  }
});

Deno.test("decodeReply() returns an error event for a body without a reply", async (t) => {
  const rows: [string, unknown, string, string][] = [
    [
      "an error",
      {
        error: { message: "no such model", type: "not_found_error" },
      },
      "not_found",
      "no such model",
    ],
    [
      "an error in the choice",
      {
        choices: [{ error: { code: 503, message: "down" } }],
      },
      "overloaded",
      "down",
    ],
    [
      "mistral's error",
      { object: "error", message: "bad", type: "server_error" },
      "internal",
      "bad",
    ],
    [
      "no choice",
      { id: "x", choices: [] },
      "upstream",
      "could not read the upstream's reply: it holds no choice",
    ],
    [
      "no object",
      "Bad gateway",
      "upstream",
      "could not read the upstream's reply: it holds no choice",
    ],
    [
      "null",
      null,
      "upstream",
      "could not read the upstream's reply: it holds no choice",
    ],
  ];
  for (const [name, body, kind, message] of rows) {
    await t.step(name, () => {
      const last = decodeReply(body, PLAIN_CONTEXT).at(-1);
      assert.ok(last?.type === "error");
      assert.equal(last.error.kind, kind);
      assert.equal(last.error.message, message);
    });
  }
});

Deno.test("decodeReply() decodes the usage fields of every vendor", async (t) => {
  const rows: [string, unknown, Usage][] = [
    ["cache read and write", {
      prompt_tokens: 10,
      completion_tokens: 1,
      prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 5 },
    }, { input: 1, cacheRead: 4, cacheWrite: 5, output: 1 }],
    ["more cached than prompt", {
      prompt_tokens: 3,
      completion_tokens: 1,
      prompt_tokens_details: { cached_tokens: 4 },
    }, { input: 0, cacheRead: 4, output: 1 }],
    ["deepseek", {
      prompt_tokens: 10,
      completion_tokens: 1,
      prompt_cache_hit_tokens: 6,
    }, { input: 4, cacheRead: 6, output: 1 }],
    ["moonshot", {
      prompt_tokens: 10,
      completion_tokens: 1,
      cached_tokens: 6,
    }, { input: 4, cacheRead: 6, output: 1 }],
    ["cache creation", {
      prompt_tokens: 10,
      completion_tokens: 1,
      cache_creation_tokens: 6,
    }, { input: 4, cacheWrite: 6, output: 1 }],
    ["xai: reasoning left out", {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 35,
      completion_tokens_details: { reasoning_tokens: 20 },
    }, { input: 10, output: 25, reasoning: 20 }],
    ["reasoning included", {
      prompt_tokens: 10,
      completion_tokens: 25,
      total_tokens: 35,
      completion_tokens_details: { reasoning_tokens: 20 },
    }, { input: 10, output: 25, reasoning: 20 }],
    ["an inexplicable total", {
      prompt_tokens: 10,
      completion_tokens: 25,
      total_tokens: 36,
      completion_tokens_details: { reasoning_tokens: 20 },
    }, { input: 10, output: 25, reasoning: 20 }],
    ["zeros", {
      prompt_tokens: 0,
      completion_tokens: 0,
      prompt_tokens_details: { cached_tokens: 0 },
    }, { input: 0, cacheRead: 0, output: 0 }],
    ["nonsense", {
      prompt_tokens: "9",
      completion_tokens: -1,
      prompt_tokens_details: null,
    }, { output: 0 }],
  ];
  for (const [name, usage, expected] of rows) {
    await t.step(name, () => {
      assert.deepEqual(
        decode({ ...replyWith({ content: "x" }), usage }).usage,
        expected,
      );
    });
  }
});
