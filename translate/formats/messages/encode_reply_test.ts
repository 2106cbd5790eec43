import assert from "node:assert/strict";
import { type DecodeContext, PLAIN_CONTEXT } from "../../dialect.ts";
import type { ReplyEvent, StopReason } from "../../model/reply.ts";
import { decodeReply } from "./decode_reply.ts";
import { encodeReply } from "./encode_reply.ts";
import { ENCODE_CONTEXT } from "./sample_models.ts";
import { text, toolUse } from "../../testing/request_samples.ts";
import { blockOf, signedBlock, toolBlock } from "../../testing/reply_events.ts";

const START = { type: "start" } as const;
const CLOSE = { type: "close" } as const;
const END = { type: "end" } as const;

function wire(over: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude",
    content: [text("hi")],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 5 },
    ...over,
  };
}

function between(
  content: readonly unknown[],
  context: DecodeContext = PLAIN_CONTEXT,
): readonly ReplyEvent[] {
  return decodeReply(wire({ content, usage: null }), context)
    .slice(1, -2);
}

Deno.test("decodeReply() reads every kind of block", async (t) => {
  const rows: readonly [string, unknown, readonly ReplyEvent[]][] = [
    [
      "redacted reasoning",
      { type: "redacted_thinking", data: "R" },
      signedBlock("reasoning", {
        from: "messages",
        value: "R",
        redacted: true,
      }),
    ],
    [
      "a call without arguments",
      { type: "tool_use", name: "f", input: {} },
      [
        { type: "open", kind: "tool", name: "f" },
        { type: "delta", text: "{}" },
        CLOSE,
      ],
    ],
    ["a server tool's call", {
      type: "server_tool_use",
      id: "s",
      name: "w",
      input: { q: 1 },
    }, []],
    ["a server tool's result", {
      type: "web_search_tool_result",
      content: [{ text: "x" }],
    }, []],
    ["what is newer", { type: "hologram", text: "x" }, [{
      type: "lost",
      kind: "hologram",
    }]],
    ["no object", "x", []],
    [
      "cited text",
      { type: "text", text: "t", citations: [{ type: "char_location" }] },
      blockOf("text", "t"),
    ],
  ];
  for (const [name, block, expected] of rows) {
    await t.step(name, () => assert.deepEqual(between([block]), expected));
  }
});

Deno.test("decodeReply() turns the format tool's arguments back into text", () => {
  const context = { toolNames: new Map<string, string>(), formatTool: "out" };
  const form = toolUse("a", "out", { n: 1 });
  const events = decodeReply(
    wire({ content: [form], stop_reason: "tool_use" }),
    context,
  );
  assert.deepEqual(events.slice(1, 5), [
    { type: "open", kind: "text", isAnswer: true },
    { type: "delta", text: '{"n":1}' },
    CLOSE,
    { type: "stop", reason: "end", raw: "tool_use" },
  ]);
  const call = toolUse("b");
  const both = decodeReply(
    wire({ content: [form, call], stop_reason: "tool_use" }),
    context,
  );
  assert.deepEqual(both.find((event) => event.type === "stop"), {
    type: "stop",
    reason: "tool_use",
    raw: "tool_use",
  });
});

const STOPS: readonly [string, StopReason][] = [
  ["end_turn", "end"],
  ["max_tokens", "max_tokens"],
  ["stop_sequence", "stop_sequence"],
  ["tool_use", "tool_use"],
  ["pause_turn", "pause"],
  ["refusal", "refusal"],
  ["model_context_window_exceeded", "context_window"],
  ["compaction", "max_tokens"],
];

Deno.test("decodeReply() reads the chat format's stop reasons, which some proxies do not translate", async (t) => {
  const rows: readonly (readonly [string, StopReason])[] = [
    ["stop", "end"],
    ["length", "max_tokens"],
    ["tool_calls", "tool_use"],
    ["content_filter", "refusal"],
    ["MAX_TOKENS", "max_tokens"],
  ];
  for (const [raw, reason] of rows) {
    await t.step(raw, () => {
      const events = decodeReply(wire({ stop_reason: raw }), PLAIN_CONTEXT);
      assert.deepEqual(
        events.find((event) => event.type === "stop"),
        { type: "stop", reason, raw },
      );
    });
  }
});

Deno.test("decodeReply() reports a word that no table knows as a failure", () => {
  for (const raw of ["something_newer", "FINISH_REASON_UNSPECIFIED"]) {
    const events = decodeReply(wire({ stop_reason: raw }), PLAIN_CONTEXT);
    assert.deepEqual(events.find((event) => event.type === "stop"), {
      type: "stop",
      reason: "other",
      raw,
      failure: `the upstream ended its reply with an unknown word: ${raw}`,
    });
    assert.deepEqual(events.at(-1), END);
  }
});

Deno.test("decodeReply() refuses a reply without a stop reason, after its usage", () => {
  for (const stop_reason of ["", null]) {
    const events = decodeReply(wire({ stop_reason }), PLAIN_CONTEXT);
    assert.deepEqual(events.slice(-2).map(({ type }) => type), [
      "usage",
      "error",
    ]);
  }
});

Deno.test("decodeReply() reads content that is a string", () => {
  assert.deepEqual(
    decodeReply(wire({ content: "hi" }), PLAIN_CONTEXT),
    decodeReply(wire(), PLAIN_CONTEXT),
  );
});

Deno.test("decodeReply() maps stop reasons", async (t) => {
  for (const [raw, reason] of STOPS) {
    await t.step(raw, () => {
      const events = decodeReply(wire({ stop_reason: raw }), PLAIN_CONTEXT);
      assert.deepEqual(events.find((event) => event.type === "stop"), {
        type: "stop",
        reason,
        raw,
      });
      assert.deepEqual(events.at(-1), END);
    });
  }
  await t.step("the matched stop sequence", () => {
    const events = decodeReply(
      wire({ stop_reason: "stop_sequence", stop_sequence: "```" }),
      PLAIN_CONTEXT,
    );
    assert.deepEqual(events.find((event) => event.type === "stop"), {
      type: "stop",
      reason: "stop_sequence",
      raw: "stop_sequence",
      sequence: "```",
    });
  });
});

Deno.test("decodeReply() leaves unreported usage absent", async (t) => {
  const rows: readonly [string, unknown, unknown][] = [
    [
      "all",
      {
        input_tokens: 1,
        cache_read_input_tokens: 2,
        cache_creation_input_tokens: 3,
        output_tokens: 4,
        output_tokens_details: { thinking_tokens: 5 },
      },
      { input: 1, cacheRead: 2, cacheWrite: 3, output: 4, reasoning: 5 },
    ],
    [
      "nulls and nonsense",
      {
        input_tokens: null,
        cache_read_input_tokens: "2",
        output_tokens: 4,
        output_tokens_details: null,
      },
      { output: 4 },
    ],
    ["zero", { input_tokens: 0, output_tokens: 0 }, { input: 0, output: 0 }],
  ];
  for (const [name, usage, expected] of rows) {
    await t.step(name, () => {
      const events = decodeReply(wire({ usage }), PLAIN_CONTEXT);
      assert.deepEqual(events.find((event) => event.type === "usage"), {
        type: "usage",
        usage: expected,
      });
    });
  }
});

Deno.test("decodeReply() returns an error for a body that is not a message", async (t) => {
  const rows: readonly [string, unknown][] = [
    ["text", "hi"],
    ["null", null],
    ["an array", [wire()]],
    ["an object without content", { type: "message" }],
  ];
  for (const [name, body] of rows) {
    await t.step(name, () => {
      const events = decodeReply(body, PLAIN_CONTEXT);
      assert.equal(events.length, 1);
      const [event] = events;
      assert.ok(event?.type === "error");
      assert.equal(event.error.kind, "upstream");
      assert.equal(
        event.error.message,
        "could not read the upstream's reply: it is no message",
      );
    });
  }
});

Deno.test("decodeReply() returns the error in place of a message", () => {
  for (
    const body of [
      {
        type: "error",
        error: { type: "overloaded_error", message: "Overloaded" },
      },
      { error: { type: "overloaded_error", message: "Overloaded" } },
    ]
  ) {
    const [event, ...more] = decodeReply(body, PLAIN_CONTEXT);
    assert.ok(event?.type === "error");
    assert.equal(event.error.kind, "overloaded");
    assert.equal(event.error.message, "Overloaded");
    assert.deepEqual(more, []);
  }
});

/** What no other format reports. */
const UNREPORTED = {
  cache_creation: null,
  output_tokens_details: null,
  server_tool_use: null,
  iterations: null,
  fallback_credit: null,
  inference_geo: null,
  service_tier: null,
  speed: null,
};
const DIRECT = { type: "direct" };

Deno.test("encodeReply() writes all documented fields", () => {
  assert.deepEqual(
    encodeReply([
      { type: "start", id: "chatcmpl-9", model: "gpt" },
      ...blockOf("text", "a", "b"),
      { type: "stop", reason: "stop_sequence", raw: "stop", sequence: "x" },
      {
        type: "usage",
        usage: { input: 1, cacheRead: 2, output: 4, reasoning: 3 },
      },
      END,
    ], ENCODE_CONTEXT),
    {
      id: "msg_9",
      type: "message",
      role: "assistant",
      model: "asked-for",
      content: [{ type: "text", text: "ab", citations: [] }],
      stop_reason: "stop_sequence",
      stop_sequence: "x",
      stop_details: null,
      container: null,
      diagnostics: null,
      context_management: null,
      usage: {
        input_tokens: 1,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 2,
        output_tokens: 4,
        ...UNREPORTED,
        output_tokens_details: { thinking_tokens: 3 },
      },
    },
  );
});

Deno.test("encodeReply() writes an empty reply", () => {
  assert.deepEqual(encodeReply([START, END], ENCODE_CONTEXT), {
    id: "msg_0123456789abcdefghijABCD",
    type: "message",
    role: "assistant",
    model: "asked-for",
    content: [],
    stop_reason: "end_turn",
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    context_management: null,
    usage: {
      input_tokens: 7,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 0,
      ...UNREPORTED,
    },
  });
});

Deno.test("encodeReply() writes every kind of block", async (t) => {
  const rows: readonly [string, readonly ReplyEvent[], readonly unknown[]][] = [
    ["an empty text", blockOf("text"), []],
    [
      "a refusal",
      blockOf("refusal", "no"),
      [{ type: "text", text: "no", citations: [] }],
    ],
    [
      "reasoning that another dialect made",
      signedBlock(
        "reasoning",
        { from: "generate_content", value: "G" },
        "hm",
      ),
      [{
        type: "thinking",
        thinking: "hm",
        signature: "gw1:generate_content:G",
      }],
    ],
    [
      "reasoning without a signature",
      blockOf("reasoning", "hm"),
      [{ type: "thinking", thinking: "hm", signature: "" }],
    ],
    ["reasoning of nothing", blockOf("reasoning"), []],
    [
      "redacted reasoning",
      signedBlock("reasoning", {
        from: "messages",
        value: "R",
        redacted: true,
      }),
      [{ type: "redacted_thinking", data: "R" }],
    ],
    [
      "calls without ids and arguments",
      [
        { type: "open", kind: "tool", name: "f" },
        CLOSE,
        ...toolBlock("x", "g", '{"a":', "1}"),
        { type: "open", kind: "tool", name: "f" },
        CLOSE,
      ],
      [
        {
          type: "tool_use",
          id: "toolu_0123456789abcdefghijABCD",
          name: "f",
          input: {},
          caller: DIRECT,
        },
        {
          type: "tool_use",
          id: "x",
          name: "g",
          input: { a: 1 },
          caller: DIRECT,
        },
        {
          type: "tool_use",
          id: "toolu_0123456789abcdefghijABCD2",
          name: "f",
          input: {},
          caller: DIRECT,
        },
      ],
    ],
    [
      "a call with blank arguments",
      toolBlock("x", "g", " "),
      [{ type: "tool_use", id: "x", name: "g", input: {}, caller: DIRECT }],
    ],
    [
      "a call that another dialect signed",
      [
        { type: "open", kind: "tool", id: "x", name: "g" },
        { type: "delta", text: "{}" },
        { type: "sign", signature: { from: "generate_content", value: "G" } },
        CLOSE,
      ],
      [{
        type: "tool_use",
        id: "x",
        name: "g",
        input: {},
        caller: DIRECT,
        extra_content: { google: { thought_signature: "G" } },
      }],
    ],
  ];
  for (const [name, events, content] of rows) {
    await t.step(name, () =>
      assert.deepEqual(
        encodeReply([START, ...events, END], ENCODE_CONTEXT)["content"],
        content,
      ));
  }
});

Deno.test("encodeReply() writes the stop reason", async (t) => {
  const call: readonly ReplyEvent[] = toolBlock("x", "g");
  const refusal: readonly ReplyEvent[] = blockOf("refusal", "no");
  const rows: readonly [string, readonly ReplyEvent[], StopReason, string][] = [
    ["a call under a plain end", call, "end", "tool_use"],
    ["a phantom call", [], "tool_use", "end_turn"],
    ["a call cut short", call, "max_tokens", "max_tokens"],
    ["a refusal", refusal, "end", "refusal"],
    ["a refusal without words", [], "refusal", "refusal"],
    ["a pause", [], "pause", "pause_turn"],
    [
      "a full window",
      [],
      "context_window",
      "model_context_window_exceeded",
    ],
    ["anything else", [], "other", "max_tokens"],
    ["anything else after a call", call, "other", "max_tokens"],
  ];
  for (const [name, events, reason, word] of rows) {
    await t.step(name, () => {
      const reply = encodeReply([
        START,
        ...events,
        { type: "stop", reason, raw: "x" },
        END,
      ], ENCODE_CONTEXT);
      assert.equal(reply["stop_reason"], word);
      assert.equal(reply["stop_sequence"], null);
    });
  }
});
