import type { JsonObject } from "../../../../translate/bytes/json.ts";
import { SCHEMA } from "./schema.ts";

const PICTURE = { type: "base64", media_type: "image/png", data: "AAAA" };

/** Requests with every block and every field of the messages format. */
export const MESSAGES_REQUESTS: readonly JsonObject[] = [
  {
    max_tokens: 2_000,
    system: [{
      type: "text",
      text: "A.",
      cache_control: { type: "ephemeral" },
    }],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "Hi" },
          { type: "image", source: PICTURE },
          {
            type: "image",
            source: { type: "url", url: "https://127.0.0.1/a.png" },
          },
          { type: "image", source: { type: "file", file_id: "file_1" } },
          {
            type: "document",
            source: { type: "text", media_type: "text/plain", data: "x" },
            title: "T",
            context: "C",
            citations: { enabled: true },
          },
          {
            type: "document",
            source: {
              type: "base64",
              media_type: "application/pdf",
              data: "AAAA",
            },
          },
          {
            type: "document",
            source: {
              type: "content",
              content: [{ type: "text", text: "x" }, {
                type: "image",
                source: PICTURE,
              }],
            },
          },
          {
            type: "search_result",
            title: "T",
            source: "S",
            content: [{ type: "text", text: "x" }],
          },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm", signature: "c2ln" },
          { type: "redacted_thinking", data: "AAAA" },
          { type: "text", text: "So." },
          {
            type: "server_tool_use",
            id: "srvtoolu_1",
            name: "web_search",
            input: { query: "q" },
          },
          {
            type: "web_search_tool_result",
            tool_use_id: "srvtoolu_1",
            content: [{ type: "web_search_result", title: "T", url: "u" }],
          },
          {
            type: "tool_use",
            id: "a",
            name: "f",
            input: { x: 1 },
            extra_content: { google: { thought_signature: "c2ln" } },
          },
          { type: "tool_use", id: "b", name: "g", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "a",
            content: [
              { type: "text", text: '{"x":1}' },
              { type: "image", source: PICTURE },
              { type: "tool_reference", tool_name: "g" },
            ],
            is_error: false,
          },
          {
            type: "tool_result",
            tool_use_id: "b",
            content: "none",
            is_error: true,
          },
          { type: "text", text: "Go on." },
        ],
      },
      { role: "system", content: [{ type: "text", text: "Be brief." }] },
      { role: "assistant", content: "Well, " },
    ],
    tools: [
      { name: "f", description: "d", input_schema: SCHEMA, strict: true },
      { name: "g", input_schema: { type: "object" } },
      { type: "web_search_20250305", name: "web_search", max_uses: 1 },
    ],
    tool_choice: { type: "tool", name: "f", disable_parallel_tool_use: true },
    stop_sequences: ["x"],
    temperature: 0.5,
    top_k: 3,
    metadata: { user_id: "u" },
    thinking: { type: "enabled", budget_tokens: 1024, display: "omitted" },
    output_config: { effort: "high", format: null },
    service_tier: "auto",
    stream: false,
  },
  {
    max_tokens: 50,
    system: "A.",
    messages: [{ role: "user", content: "Hi" }],
    output_config: { format: { type: "json_schema", schema: SCHEMA } },
    thinking: { type: "adaptive" },
    stream: true,
  },
];
