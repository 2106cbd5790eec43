import assert from "node:assert/strict";
import { chatCompletions } from "../formats/chat_completions/mod.ts";
import { DEFAULT_CAPABILITIES } from "../model/capabilities.ts";
import type { Dialect } from "../dialect.ts";
import { ApiError } from "../model/error.ts";
import { type JsonObject, objectOr } from "../bytes/json.ts";
import { topLevelOf } from "../bytes/json_splice.ts";
import {
  checkCountable,
  decodeCountTokens,
  messages,
} from "../formats/messages/mod.ts";
import { generateContent } from "../formats/generate_content/mod.ts";
import { readRequest } from "./read_request.ts";
import { upstreamRequest } from "../upstream_request.ts";
import type { GenerationRequest } from "../model/request.ts";
import { responses } from "../formats/responses/mod.ts";
import {
  chatCall,
  contentsOf,
  inputOf,
  messagesOf,
  user,
} from "../testing/request_samples.ts";
import { refusalOf } from "../testing/refusal_of.ts";
import { atOnce } from "../steps.ts";

const USER = user("hi");
const CHAT = { model: "m", messages: [USER] };
const MESSAGES = { ...CHAT, max_tokens: 5 };
/** Has every field that passing through would otherwise add. */
const CONTENT = contentsOf({ parts: [{ text: "hi" }] });
const RESPONSES = {
  model: "m",
  input: "hi",
  store: false,
  include: ["reasoning.encrypted_content"],
};

function read(dialect: Dialect, body: JsonObject): GenerationRequest {
  return atOnce(
    readRequest(body, dialect.decodeRequest, dialect.checkPassable),
  );
}

function sentTo(upstream: Dialect, client: Dialect, body: JsonObject): string {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const request = read(client, body);
  const sent = upstreamRequest(
    { dialect: client, bytes, body, top: topLevelOf(bytes), request },
    upstream,
    "up",
    DEFAULT_CAPABILITIES[upstream.name],
  );
  return new TextDecoder().decode(sent.bytes);
}

function refusal(work: () => unknown): string | undefined {
  return refusalOf(work).details.param;
}

const CHAT_ROWS: readonly (readonly [JsonObject, string])[] = [
  [{ reasoning_effort: "huge" }, "reasoning_effort"],
  [{ tool_choice: "sometimes" }, "tool_choice"],
  [{ tool_choice: { type: "function", name: "f" } }, "tool_choice.function"],
  [{ tools: [{ name: "f" }] }, "tools[0].function"],
  [{ tools: ["f"] }, "tools[0]"],
  [{ response_format: {} }, "response_format.type"],
  [{ response_format: "json" }, "response_format"],
  [{ top_p: 1.5 }, "top_p"],
  [{ seed: 1.5 }, "seed"],
  [{ stop: 5 }, "stop"],
  [{ top_logprobs: 50 }, "top_logprobs"],
  [{ logit_bias: [] }, "logit_bias"],
  [{ functions: [{ name: "f" }], tools: [] }, "functions"],
  [{ modalities: "text" }, "modalities"],
  [
    messagesOf({ role: "user", content: null }),
    "messages[0].content",
  ],
  [
    messagesOf(user({ text: "hi" })),
    "messages[0].content[0].type",
  ],
  [
    messagesOf({ role: "user", content: ["hi"] }),
    "messages[0].content[0]",
  ],
  [
    messagesOf(user({ type: "image_url", image_url: "https://a.test/b.png" })),
    "messages[0].content[0].image_url",
  ],
  [
    messagesOf(USER, {
      role: "assistant",
      tool_calls: [chatCall("a", "f", { a: 1 })],
    }),
    "messages[1].tool_calls[0].function.arguments",
  ],
  [
    {
      reasoning_effort: "huge",
      seed: "x",
      messages: [{ role: "tool", content: "x" }],
    },
    "messages[0].tool_call_id",
  ],
];

const MESSAGES_ROWS: readonly (readonly [JsonObject, string])[] = [
  [{ thinking: { type: "newer" } }, "thinking.type"],
  [
    { thinking: { type: "enabled", budget_tokens: 5 } },
    "thinking.budget_tokens",
  ],
  [{ output_config: { effort: "minimal" } }, "output_config.effort"],
  [{ tool_choice: { type: "some" } }, "tool_choice.type"],
  [{ tools: [{ name: "f" }] }, "tools[0].input_schema"],
  [{ service_tier: "flex" }, "service_tier"],
  [{ temperature: null }, "temperature"],
  [
    messagesOf(user({ type: "image", source: { type: "newer" } })),
    "messages[0].content[0].source.type",
  ],
  [
    messagesOf(user({ type: "tool_result" })),
    "messages[0].content[0].tool_use_id",
  ],
];

const RESPONSES_ROWS: readonly (readonly [JsonObject, string])[] = [
  [{ reasoning: { effort: "huge" } }, "reasoning.effort"],
  [{ reasoning: "high" }, "reasoning"],
  [{ tool_choice: "sometimes" }, "tool_choice"],
  [{ tool_choice: { type: "function" } }, "tool_choice.name"],
  [{ tools: [{ type: "function" }] }, "tools[0].name"],
  [{ tools: ["f"] }, "tools[0]"],
  [{ text: { format: {} } }, "text.format.type"],
  [{ top_p: 1.5 }, "top_p"],
  [{ top_logprobs: 50 }, "top_logprobs"],
  [{ metadata: "x" }, "metadata"],
  [{ max_tool_calls: 0 }, "max_tool_calls"],
  [{ include: [5, "reasoning.encrypted_content"] }, "include[0]"],
  [inputOf({ role: "user", content: ["hi"] }), "input[0].content[0]"],
  [
    inputOf(user({ text: "hi" })),
    "input[0].content[0].type",
  ],
  [
    inputOf({ type: "function_call", call_id: "a", name: "f" }),
    "input[0].arguments",
  ],
  [inputOf({ type: "function_call_output" }), "input[0].call_id"],
];

for (
  const [client, other, base, rows] of [
    [chatCompletions, messages, CHAT, CHAT_ROWS],
    [messages, chatCompletions, MESSAGES, MESSAGES_ROWS],
    [responses, messages, RESPONSES, RESPONSES_ROWS],
  ] as const
) {
  Deno.test(`a ${client.name} body with unknown values passes to its own dialect and is refused by another`, async (t) => {
    for (const [fields, param] of rows) {
      const body = { ...base, ...fields };
      await t.step(JSON.stringify(fields), () => {
        assert.equal(
          sentTo(client, client, body),
          JSON.stringify({ ...body, model: "up" }),
        );
        assert.equal(refusal(() => sentTo(other, client, body)), param);
      });
    }
  });
}

Deno.test("fields that the gateway relies on are refused for every dialect", async (t) => {
  const both: readonly (readonly [JsonObject, string])[] = [
    [{ model: 5 }, "model"],
    [messagesOf(), "messages"],
    [messagesOf({ role: "robot", content: "x" }), "messages[0].role"],
    [messagesOf({ role: "user", content: 7 }), "messages[0].content"],
    [messagesOf({ role: "user" }), "messages[0].content"],
    [messagesOf(USER, "x"), "messages[1]"],
    [{ max_tokens: "5" }, "max_tokens"],
    [{ max_tokens: -1 }, "max_tokens"],
    [{ max_tokens: 1.5 }, "max_tokens"],
    [{ temperature: "hot" }, "temperature"],
    [{ stream: "yes" }, "stream"],
    [{ tools: "none" }, "tools"],
    [{ tool_choice: 5, stream: "yes" }, "stream"],
  ];
  const rows: readonly (readonly [Dialect, JsonObject, JsonObject, string])[] =
    [
      ...both.flatMap(([fields, param]) =>
        [
          [chatCompletions, CHAT, fields, param],
          [messages, MESSAGES, fields, param],
        ] as const
      ),
      [chatCompletions, CHAT, { temperature: 2.1 }, "temperature"],
      [chatCompletions, CHAT, { n: 0 }, "n"],
      [chatCompletions, CHAT, { user: 5 }, "user"],
      [chatCompletions, CHAT, { system: "x", seed: "x" }, "system"],
      [
        chatCompletions,
        CHAT,
        { max_completion_tokens: 0 },
        "max_completion_tokens",
      ],
      [chatCompletions, CHAT, { stream_options: 5 }, "stream_options"],
      [messages, MESSAGES, { temperature: 1.1 }, "temperature"],
      [messages, MESSAGES, { max_tokens: undefined }, "max_tokens"],
      [messages, MESSAGES, { stop_sequences: "x" }, "stop_sequences"],
      [messages, MESSAGES, { top_p: 0.5, temperature: 0.5 }, "top_p"],
      [messages, MESSAGES, { system: 5 }, "system"],
      [messages, MESSAGES, { metadata: "x" }, "metadata"],
      ...[
        [{ model: 5 }, "model"],
        [{ input: 5 }, "input"],
        [inputOf("x"), "input[0]"],
        [inputOf({ role: "robot", content: "x" }), "input[0].role"],
        [inputOf({ role: "user", content: 7 }), "input[0].content"],
        [inputOf({ type: 5 }), "input[0].type"],
        [{ max_output_tokens: 0 }, "max_output_tokens"],
        [{ temperature: 2.1 }, "temperature"],
        [{ stream: "yes" }, "stream"],
        [{ tools: "none" }, "tools"],
        [{ include: "all" }, "include"],
        [{ user: 5 }, "user"],
        [{ safety_identifier: 5 }, "safety_identifier"],
        [{ previous_response_id: "r", top_p: 5 }, "previous_response_id"],
        [{ background: true }, "background"],
        [{ conversation: "c" }, "conversation"],
        [{ prompt: { id: "p" } }, "prompt"],
        [inputOf(USER, { type: "item_reference", id: "i" }), "input[1]"],
        [{ input: undefined, messages: [USER] }, "messages"],
      ].map(([fields, param]) =>
        [responses, RESPONSES, objectOr(fields), String(param)] as const
      ),
    ];
  for (const [dialect, base, fields, param] of rows) {
    await t.step(`${dialect.name} ${JSON.stringify(fields)}`, () => {
      const body = { ...base, ...fields };
      assert.equal(refusal(() => sentTo(dialect, dialect, body)), param);
    });
  }
});

Deno.test("readRequest() keeps the fields for limits and estimates beside a refusal", () => {
  const request = read(chatCompletions, {
    model: "m",
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: 7,
    user: "u",
    reasoning_effort: "huge",
    tools: [{ oddly: "shaped tool" }],
    messages: [user("some odd text", {
      type: "image_url",
      image_url: `data:image/png;base64,${"A".repeat(90_000)}`,
    }, { type: "bytes", of: "A".repeat(13_000) })],
  });
  assert.equal(request.model, "m");
  assert.equal(request.stream, true);
  assert.equal(request.wantUsage, true);
  assert.equal(request.maxTokens, 7);
  assert.equal(request.user, "u");
  assert.ok(request.refusal instanceof ApiError);
  const text = JSON.stringify(request.turns);
  assert.ok(text.includes("some odd text") && text.includes("shaped tool"));
  assert.ok(text.length > 10_000 && text.length < 12_000, `${text.length}`);
});

Deno.test("readRequest() reads what is beside an input that cannot be read", () => {
  const request = read(responses, {
    ...RESPONSES,
    max_output_tokens: 7,
    input: [{ role: "user", content: ["some odd text"] }],
  });
  assert.equal(request.maxTokens, 7);
  assert.ok(JSON.stringify(request.turns).includes("some odd text"));
  assert.equal(request.refusal?.details.param, "input[0].content[0]");
});

Deno.test("readRequest() gives no refusal where there is none", () => {
  assert.deepEqual(
    read(chatCompletions, CHAT),
    atOnce(chatCompletions.decodeRequest(CHAT)),
  );
});

Deno.test("readRequest() rethrows internal errors", () => {
  const fault = new TypeError("a bug");
  assert.throws(() =>
    atOnce(readRequest(CHAT, () => {
      throw fault;
    }, chatCompletions.checkPassable)), fault);
});

Deno.test("readRequest() accepts deep nesting", () => {
  let deep: unknown = "x";
  for (let n = 0; n < 100_000; n++) deep = [deep];
  const request = read(chatCompletions, { ...CHAT, tools: [deep] });
  assert.equal(request.refusal?.details.param, "tools[0]");
});

Deno.test("readRequest() reads a count_tokens body without max_tokens", () => {
  const body = { ...CHAT, thinking: { type: "newer" } };
  assert.equal(
    atOnce(readRequest(body, decodeCountTokens, checkCountable)).refusal
      ?.details.param,
    "thinking.type",
  );
  assert.equal(
    refusal(() =>
      atOnce(
        readRequest(
          { ...body, messages: 5 },
          decodeCountTokens,
          checkCountable,
        ),
      )
    ),
    "messages",
  );
});

Deno.test("readRequest() collects no more than 1,000 unknown fields", () => {
  const many = Object.fromEntries(
    Array.from({ length: 5_000 }, (_, n) => [`x${n}`, 1]),
  );
  const bodies = [
    [chatCompletions, { ...CHAT, ...many }],
    [chatCompletions, { ...CHAT, messages: [{ ...USER, ...many }] }],
    [messages, { ...MESSAGES, ...many }],
    [messages, { ...MESSAGES, messages: [{ ...USER, ...many }] }],
    [responses, { ...RESPONSES, ...many }],
    [responses, { ...RESPONSES, input: [{ ...USER, ...many }] }],
    [generateContent, { ...CONTENT, ...many }],
    [generateContent, contentsOf({ parts: [{ text: "hi" }], ...many })],
  ] as const;
  for (const [dialect, body] of bodies) {
    const { unknownFields } = read(dialect, body);
    assert.equal(unknownFields.length, 1_000, dialect.name);
    assert.match(unknownFields[0] ?? "", /x0$/);
  }
});

Deno.test("model and stream of the path stand for those of the body", () => {
  const dialect: Dialect = { ...chatCompletions, hasTargetInPath: true };
  const kept = { messages: [USER], top_p: 1.5 };
  const body = { model: "of-the-path", ...kept };
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const request = atOnce(readRequest(
    body,
    dialect.decodeRequest,
    dialect.checkPassable,
    { model: "of-the-path", stream: true },
  ));
  assert.throws(
    () =>
      atOnce(readRequest(
        { ...body, model: "other" },
        dialect.decodeRequest,
        dialect.checkPassable,
        { model: "of-the-path", stream: true },
      )),
    /^ApiError: model: /,
  );
  assert.equal(request.model, "of-the-path");
  assert.equal(request.stream, true);
  assert.equal(request.refusal?.details.param, "top_p");
  const sent = upstreamRequest(
    { dialect, bytes, body, top: topLevelOf(bytes), request },
    dialect,
    "up",
    DEFAULT_CAPABILITIES.chat_completions,
  );
  assert.deepEqual(JSON.parse(new TextDecoder().decode(sent.bytes)), kept);
});
