import type { JsonObject } from "../../../../translate/bytes/json.ts";
import { SCHEMA } from "./schema.ts";

/** Requests with every part and every field of the chat format. */
export const CHAT_REQUESTS: readonly JsonObject[] = [
  {
    max_completion_tokens: 50,
    messages: [
      { role: "system", content: "A." },
      { role: "developer", content: [{ type: "text", text: "B." }] },
      {
        role: "user",
        name: "n",
        content: [
          { type: "text", text: "Hi" },
          {
            type: "image_url",
            image_url: { url: "data:image/png;base64,AAAA", detail: "low" },
          },
          {
            type: "image_url",
            image_url: { url: "https://127.0.0.1/a.png" },
          },
          {
            type: "file",
            file: {
              file_data: "data:application/pdf;base64,AAAA",
              filename: "a.pdf",
            },
          },
          {
            type: "file",
            file: { file_data: "data:text/plain,a%20b" },
          },
          { type: "file", file: { file_id: "file_1" } },
          {
            type: "input_audio",
            input_audio: { data: "AAAA", format: "wav" },
          },
        ],
      },
      {
        role: "assistant",
        content: [{ type: "text", text: "So." }, {
          type: "refusal",
          refusal: "No.",
        }, { type: "thinking", thinking: [{ type: "text", text: "hm" }] }],
        reasoning_content: "hm",
        reasoning_details: [
          {
            type: "reasoning.text",
            text: "hm",
            signature: "c2ln",
            format: "anthropic-claude-v1",
            index: 0,
          },
          {
            type: "reasoning.encrypted",
            data: "AAAA",
            format: "anthropic-claude-v1",
            index: 1,
          },
        ],
        tool_calls: [
          {
            id: "a",
            type: "function",
            index: 0,
            function: { name: "f", arguments: '{"x":1}' },
            extra_content: { google: { thought_signature: "c2ln" } },
          },
          {
            id: "b",
            type: "function",
            function: { name: "g", arguments: "" },
          },
        ],
      },
      { role: "tool", tool_call_id: "b", content: "none" },
      {
        role: "tool",
        tool_call_id: "a",
        content: [{ type: "text", text: "1" }],
      },
      { role: "user", content: "Go on." },
      { role: "assistant", content: null, refusal: "No." },
    ],
    tools: [
      {
        type: "function",
        function: {
          name: "f",
          description: "d",
          strict: true,
          parameters: SCHEMA,
        },
      },
      { type: "function", function: { name: "g" } },
      { type: "custom", custom: { name: "h", format: { type: "text" } } },
    ],
    tool_choice: { type: "function", function: { name: "f" } },
    parallel_tool_calls: false,
    response_format: {
      type: "json_schema",
      json_schema: {
        name: "n",
        description: "d",
        schema: SCHEMA,
        strict: true,
      },
    },
    stop: ["x"],
    temperature: 1,
    top_p: 0.5,
    seed: 1,
    presence_penalty: 1,
    frequency_penalty: -1,
    logprobs: true,
    top_logprobs: 2,
    logit_bias: { "5": 1 },
    stream: true,
    stream_options: { include_usage: true },
    user: "u",
    safety_identifier: "s",
    reasoning_effort: "low",
    service_tier: "flex",
    metadata: { a: "b" },
    modalities: ["text"],
  },
  {
    max_tokens: 50,
    messages: [
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: null,
        function_call: { name: "f", arguments: "{}" },
      },
      { role: "function", name: "f", content: "1" },
    ],
    functions: [{ name: "f", parameters: SCHEMA }],
    function_call: { name: "f" },
    response_format: { type: "json_object" },
    stop: "x",
  },
  {
    messages: [{ role: "user", content: "Hi" }],
    tools: [
      { type: "function", function: { name: "f", parameters: SCHEMA } },
    ],
    tool_choice: {
      type: "allowed_tools",
      allowed_tools: {
        mode: "required",
        tools: [{ type: "function", function: { name: "f" } }],
      },
    },
    stream: false,
  },
];
