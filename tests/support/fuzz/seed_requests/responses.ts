import type { JsonObject } from "../../../../translate/bytes/json.ts";
import { SCHEMA } from "./schema.ts";

/** Every item, every field of the Responses format. */
export const RESPONSES_REQUESTS: readonly JsonObject[] = [
  {
    instructions: "A.",
    max_output_tokens: 50,
    input: [
      { role: "developer", content: "B." },
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "Hi" },
          {
            type: "input_image",
            image_url: "data:image/png;base64,AAAA",
            detail: "low",
          },
          { type: "input_image", image_url: "https://127.0.0.1/a.png" },
          {
            type: "input_file",
            filename: "a.pdf",
            file_data: "data:application/pdf;base64,AAAA",
          },
          { type: "input_file", file_data: "data:text/plain,a%20b" },
          { type: "input_file", file_id: "file_1" },
          { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
        ],
      },
      {
        type: "reasoning",
        id: "rs_1",
        summary: [{ type: "summary_text", text: "hm" }],
        encrypted_content: "c2ln",
      },
      {
        type: "reasoning",
        id: "rs_2",
        summary: [],
        encrypted_content: "gw1:messages:c2ln",
      },
      {
        type: "function_call",
        id: "fc_1",
        call_id: "a",
        name: "f",
        arguments: '{"x":1}',
        status: "completed",
      },
      {
        type: "reasoning",
        summary: [],
        encrypted_content: "gw1:before:gw1:generate_content:c2ln",
      },
      {
        type: "function_call",
        call_id: "b",
        name: "g",
        namespace: "n",
        arguments: "",
      },
      {
        type: "custom_tool_call",
        call_id: "c",
        name: "patch",
        input: "*** Begin",
      },
      {
        type: "function_call_output",
        call_id: "a",
        output: [
          { type: "input_text", text: '{"x":1}' },
          { type: "input_image", image_url: "data:image/png;base64,AAAA" },
        ],
      },
      { type: "function_call_output", call_id: "b", output: "none" },
      { type: "custom_tool_call_output", call_id: "c", output: "done" },
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        phase: "commentary",
        content: [
          {
            type: "output_text",
            text: "So.",
            annotations: [],
            logprobs: [],
          },
          { type: "refusal", refusal: "No." },
        ],
      },
      { type: "web_search_call", id: "ws_1", status: "completed" },
      {
        type: "additional_tools",
        tools: [{ type: "function", name: "later", parameters: SCHEMA }],
      },
      { role: "user", content: "Go on." },
    ],
    tools: [
      {
        type: "function",
        name: "f",
        description: "d",
        parameters: SCHEMA,
        strict: true,
      },
      {
        type: "namespace",
        name: "n",
        description: "d",
        tools: [{ type: "function", name: "g", parameters: null }],
      },
      {
        type: "custom",
        name: "patch",
        format: { type: "grammar", syntax: "lark", definition: "start: x" },
      },
      { type: "web_search" },
    ],
    tool_choice: {
      type: "allowed_tools",
      mode: "auto",
      tools: [{ type: "function", name: "f" }],
    },
    parallel_tool_calls: false,
    text: {
      format: {
        type: "json_schema",
        name: "n",
        description: "d",
        schema: SCHEMA,
        strict: true,
      },
      verbosity: "low",
    },
    reasoning: { effort: "low", summary: "auto" },
    temperature: 1,
    top_p: 0.5,
    top_logprobs: 2,
    truncation: "auto",
    include: ["reasoning.encrypted_content"],
    store: false,
    stream: true,
    prompt_cache_key: "k",
    safety_identifier: "s",
    service_tier: "flex",
    metadata: { a: "b" },
  },
  { input: "Hi", stream: false, text: { format: { type: "json_object" } } },
  {
    input: [{ role: "user", content: "Hi" }],
    tools: [{ type: "function", name: "f", parameters: SCHEMA }],
    tool_choice: { type: "function", name: "f" },
    max_output_tokens: 16,
  },
];
