import assert from "node:assert/strict";
import { parseRequest } from "../parse_request.ts";
import { answer } from "../answer.ts";
import { requestFault } from "./vendor_rules.ts";

const PATHS = {
  messages: "/v1/messages",
  chat_completions: "/v1/chat/completions",
  generate_content: "/v1beta/models/m:generateContent",
} as const;

type Dialect = keyof typeof PATHS;

const TURN = { role: "user", content: "Hi" };

const RIGHT: Readonly<Record<Dialect, object>> = {
  messages: { model: "m", max_tokens: 8, messages: [TURN] },
  chat_completions: { model: "m", messages: [TURN] },
  generate_content: { contents: [{ role: "user", parts: [{ text: "Hi" }] }] },
};

function requestOf(dialect: Dialect, more: object) {
  return {
    method: "POST",
    path: PATHS[dialect],
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...RIGHT[dialect], ...more }),
  };
}

function paramOf(dialect: Dialect, more: object): string | undefined {
  return requestFault(parseRequest(requestOf(dialect, more)))?.param;
}

for (
  const [dialect, more] of [
    ["messages", {}],
    ["messages", { temperature: 1, top_p: null, stream: false, system: [] }],
    ["messages", { x_unknown_member: 1, stop_sequences: ["END"], tools: [] }],
    ["chat_completions", { temperature: 2, max_tokens: null, stream: true }],
    ["chat_completions", {
      messages: [TURN, { role: "assistant", content: null, tool_calls: [] }, {
        role: "tool",
        content: "12",
      }],
    }],
    ["generate_content", {
      generationConfig: { temperature: 2, maxOutputTokens: 1 },
    }],
    ["generate_content", { contents: [{ parts: [] }] }],
  ] as const
) {
  Deno.test(`requestFault() accepts ${JSON.stringify(more)} in ${dialect}`, () => {
    assert.equal(paramOf(dialect, more), undefined);
  });
}

for (
  const [dialect, more, param] of [
    ["messages", { max_tokens: undefined }, "max_tokens"],
    ["messages", { max_tokens: null }, "max_tokens"],
    ["messages", { max_tokens: "16" }, "max_tokens"],
    ["messages", { temperature: 1.01 }, "temperature"],
    ["messages", { temperature: 1, top_p: 0.9 }, "top_p"],
    ["messages", { stop_sequences: [1] }, "stop_sequences"],
    ["messages", { metadata: "me" }, "metadata"],
    ["messages", { messages: ["Hi"] }, "messages.0"],
    [
      "messages",
      { messages: [TURN, { role: "robot", content: "" }] },
      "messages.1.role",
    ],
    ["messages", { messages: [{ role: "user" }] }, "messages.0.content"],
    ["chat_completions", { temperature: 2.01 }, "temperature"],
    ["chat_completions", { max_tokens: 0 }, "max_tokens"],
    ["chat_completions", { system: "" }, "system"],
    ["chat_completions", { stream: "yes" }, "stream"],
    [
      "chat_completions",
      { messages: [{ role: "user", content: null }] },
      "messages.0.content",
    ],
    [
      "generate_content",
      { contents: [{ role: "bot", parts: [] }] },
      "contents.0.role",
    ],
    [
      "generate_content",
      { generationConfig: { temperature: -1 } },
      "temperature",
    ],
  ] as const
) {
  Deno.test(`requestFault() refuses ${JSON.stringify(more)} in ${dialect}`, () => {
    assert.equal(paramOf(dialect, more), param);
    assert.equal(answer(requestOf(dialect, more)).status, 400);
  });
}

Deno.test("answer() refuses the model that the marker declares unknown, and accepts others", () => {
  const turn = { role: "user", content: "[[fx:text?no-model=a%20b#1]]" };
  const ask = (model: string) =>
    answer(requestOf("chat_completions", { model, messages: [turn] })).status;
  assert.equal(ask("a b"), 404);
  assert.equal(ask("a"), 200);
});
