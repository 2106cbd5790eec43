/** Requests with the members that those of `full_requests.ts` exclude, and with short forms. */
import type { JsonObject } from "@model-gateway/replay/json";

const SCHEMA: JsonObject = {
  type: "object",
  properties: { a: { type: "integer" } },
  required: ["a"],
  additionalProperties: false,
};
const TEXTS = [{ type: "text", text: "Be brief." }];
const FUNCTION: JsonObject = {
  type: "function",
  name: "add",
  description: "Adds.",
  parameters: SCHEMA,
  strict: true,
};
const NAMED: JsonObject = { type: "function", name: "add" };

function messages(prompt: string): JsonObject {
  return {
    temperature: 0.5,
    system: "Be brief.",
    messages: [
      { role: "user", content: "Add." },
      { role: "assistant", content: "I add." },
      { role: "user", content: prompt },
    ],
    tools: [{ name: "add", description: "Adds.", input_schema: SCHEMA }],
    tool_choice: { type: "tool", name: "add" },
    thinking: { type: "disabled" },
  };
}

function chat(prompt: string): JsonObject {
  const called = { type: "function", function: { name: "add" } };
  const add = { name: "add", description: "Adds.", parameters: SCHEMA };
  return {
    max_tokens: undefined,
    max_completion_tokens: 64,
    messages: [
      { role: "developer", content: TEXTS },
      { role: "user", content: "Add." },
      {
        role: "assistant",
        content: null,
        tool_calls: [{
          id: "call_1",
          type: "function",
          function: { name: "add", arguments: '{"a":1}' },
        }],
      },
      { role: "tool", tool_call_id: "call_1", content: TEXTS },
      { role: "user", content: [{ type: "text", text: prompt }] },
    ],
    tools: [{ type: "function", function: add }],
    tool_choice: {
      type: "allowed_tools",
      allowed_tools: { mode: "required", tools: [called] },
    },
    response_format: { type: "json_object" },
    stop: "END",
    stream: true,
    stream_options: { include_usage: true },
  };
}

function generateContent(prompt: string): JsonObject {
  return {
    contents: [{ parts: [{ text: prompt }] }],
    systemInstruction: { role: "user", parts: [{ text: "Be brief." }] },
    generationConfig: {
      maxOutputTokens: 64,
      responseMimeType: "application/json",
      responseSchema: {
        type: "OBJECT",
        properties: { a: { type: "INTEGER", nullable: true } },
        required: ["a"],
      },
      thinkingConfig: { thinkingLevel: "LOW" },
    },
  };
}

function responses(prompt: string): JsonObject {
  return {
    input: [
      { role: "developer", content: "Be kind." },
      { role: "user", content: "Add." },
      { role: "assistant", content: "I add." },
      {
        type: "additional_tools",
        role: "developer",
        tools: [{ ...FUNCTION, name: "sum" }],
      },
      { role: "user", content: [{ type: "input_text", text: prompt }] },
    ],
    tools: [
      FUNCTION,
      {
        type: "namespace",
        name: "south",
        description: "Tools of the south.",
        tools: [FUNCTION],
      },
      { type: "web_search", search_context_size: "low" },
    ],
    tool_choice: { type: "allowed_tools", mode: "auto", tools: [NAMED] },
    text: { format: { type: "text" } },
    top_p: 0.9,
    top_logprobs: 2,
    metadata: { run: "7", tenant: "b" },
    client_metadata: { originator: "cli" },
    store: false,
    stream: true,
  };
}

export const OTHER_REQUESTS = {
  messages,
  chat,
  generateContent,
  responses,
} as const;
