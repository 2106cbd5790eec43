/** Requests in the messages format as they arrive at an upstream of the chat format. Numbers are traps of translation.md. */
import {
  HARD_SCHEMA,
  LONG_NAME,
  LONG_NAME_TWO,
  PDF,
  PNG,
} from "./request_samples.ts";
import { checkRows, type Row } from "./request_arrival.ts";

const BASE = {
  model: "vendorb-5.5",
  max_tokens: 500,
  messages: [{ role: "user", content: "hi" }],
};
const tool = (name: string, rest: object = {}) => ({
  name,
  description: "d",
  input_schema: HARD_SCHEMA,
  ...rest,
});
const image = {
  type: "image",
  source: { type: "base64", media_type: "image/png", data: PNG },
};
const call = (id: string, name: string, input: unknown = {}) => ({
  type: "tool_use",
  id,
  name,
  input,
});
const result = (id: string, content?: unknown, rest: object = {}) => ({
  type: "tool_result",
  tool_use_id: id,
  ...(content === undefined ? {} : { content }),
  ...rest,
});
const said = (...content: unknown[]) => ({
  messages: [{ role: "user", content }],
});

const PLAIN: readonly Row[] = [
  {
    name: "the smallest request",
    body: {},
    arrives: {
      model: "gpt-5.5",
      max_completion_tokens: 500,
      max_tokens: undefined,
      messages: [{ role: "user", content: "hi" }],
      stream: undefined,
      tools: undefined,
      temperature: undefined,
      reasoning_effort: undefined,
    },
    arrivesWith: {
      "x-api-key": undefined,
      "anthropic-version": undefined,
      "anthropic-beta": undefined,
    },
  },
  {
    name: "version and betas of the caller stay here",
    body: {},
    headers: {
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "claude-code-20250219,interleaved-thinking-2025-05-14",
    },
    arrivesWith: {
      "anthropic-version": undefined,
      "anthropic-beta": undefined,
    },
  },
  {
    name: "a stream asks for usage",
    body: { stream: true },
    arrives: { stream: true, stream_options: { include_usage: true } },
  },
  {
    name: "a cap above the model's is lowered and told",
    body: { max_tokens: 10_000_000 },
    arrives: { max_completion_tokens: 128_000 },
    dropped: ["max_tokens"],
  },
  {
    name: "a cap of nothing is refused",
    body: { max_tokens: 0 },
    param: "max_tokens",
  },
  {
    name: "78: sampling that a reasoning model refuses is dropped and named",
    body: { temperature: 0, top_k: 5, stop_sequences: ["a"] },
    arrives: { temperature: undefined, top_k: undefined, stop: undefined },
    dropped: ["temperature", "top_k", "stop_sequences"],
  },
  {
    name:
      "71, 72: system blocks joined by a blank line, without the billing one",
    body: {
      system: [
        {
          type: "text",
          text: "x-anthropic-billing-header: cc_version=2; cch=1;",
        },
        { type: "text", text: "A.", cache_control: { type: "ephemeral" } },
        { type: "text", text: "B." },
      ],
    },
    arrives: { "messages[0]": { role: "system", content: "A.\n\nB." } },
    dropped: ["system[].cache_control"],
  },
  {
    name:
      "72: a billing line at the head of a system string costs nothing else",
    body: { system: "x-anthropic-billing-header: cch=1;\nYou are A." },
    arrives: { "messages[0]": { role: "system", content: "You are A." } },
  },
  {
    name: "70: a system turn stays in its place",
    body: {
      messages: [
        { role: "user", content: "a" },
        { role: "assistant", content: "b" },
        { role: "system", content: "plan mode" },
        { role: "user", content: "c" },
      ],
    },
    arrives: {
      messages: [
        { role: "user", content: "a" },
        { role: "assistant", content: "b" },
        { role: "system", content: "plan mode" },
        { role: "user", content: "c" },
      ],
    },
  },
  {
    name: "86: text blocks stay apart",
    body: said({ type: "text", text: "a" }, { type: "text", text: "b" }),
    arrives: {
      "messages[0].content": [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
    },
  },
  {
    name: "pictures by bytes and by address, image/jpg put right",
    body: said(
      image,
      {
        type: "image",
        source: { type: "base64", media_type: "image/jpg", data: "AA==" },
      },
      { type: "image", source: { type: "url", url: "https://x.test/a.png" } },
      { type: "text", text: "what?" },
    ),
    arrives: {
      "messages[0].content": [
        {
          type: "image_url",
          image_url: { url: `data:image/png;base64,${PNG}` },
        },
        {
          type: "image_url",
          image_url: { url: "data:image/jpeg;base64,AA==" },
        },
        { type: "image_url", image_url: { url: "https://x.test/a.png" } },
        { type: "text", text: "what?" },
      ],
    },
  },
  {
    name: "69: a PDF is a file with its title for a name",
    body: said({
      type: "document",
      title: "Report",
      source: { type: "base64", media_type: "application/pdf", data: PDF },
      citations: { enabled: true },
    }),
    arrives: {
      "messages[0].content": [{
        type: "file",
        file: {
          filename: "Report",
          file_data: `data:application/pdf;base64,${PDF}`,
        },
      }],
    },
    dropped: ["messages[].content[].citations"],
  },
  {
    name: "documents of text and search results become text",
    body: said(
      {
        type: "document",
        title: "T",
        context: "C",
        source: { type: "text", media_type: "text/plain", data: "D" },
      },
      {
        type: "search_result",
        title: "t",
        source: "s",
        content: [{ type: "text", text: "c" }],
      },
    ),
    arrives: {
      "messages[0].content": [
        { type: "text", text: "T\nC\nD" },
        { type: "text", text: "t\ns\nc" },
      ],
    },
  },
  {
    name: "a picture by file id is refused",
    body: said({ type: "image", source: { type: "file", file_id: "file_1" } }),
    param: "messages[0].content[0].source.file_id",
  },
  {
    name: "a document by address is refused",
    body: said({
      type: "document",
      source: { type: "url", url: "https://x.test/a.pdf" },
    }),
    param: "messages",
  },
  {
    name: "an unknown block of the user is refused by its path",
    body: said({ type: "text", text: "a" }, {
      type: "container_upload",
      file_id: "f",
    }),
    param: "messages[0].content[1]",
  },
  {
    name: "empty texts and turns go",
    body: {
      messages: [
        { role: "user", content: "a" },
        { role: "assistant", content: "" },
        {
          role: "user",
          content: [{ type: "text", text: "" }, { type: "text", text: "b" }],
        },
      ],
    },
    arrives: {
      messages: [
        { role: "user", content: "a" },
        { role: "user", content: "b" },
      ],
    },
  },
  {
    name: "what only this format knows is dropped and named",
    body: {
      context_management: { edits: [{ type: "clear_thinking_20251015" }] },
      container: "c",
      speed: "fast",
      inference_geo: "eu",
      cache_control: { type: "ephemeral" },
      service_tier: "standard_only",
      safeguards: {},
    },
    arrives: { service_tier: "default", container: undefined },
    dropped: [
      "context_management",
      "container",
      "speed",
      "inference_geo",
      "cache_control",
      "safeguards",
    ],
  },
  {
    name:
      "82: Claude Code's long user id becomes a hash that every vendor takes",
    body: {
      metadata: {
        user_id: '{"device_id":"d","account_uuid":"","session_id":"s"}',
      },
    },
    arrives: {
      user: "f37602b10b126de6508e8eb70dc0ad3579c859859f4b8214742045ca790898b5",
    },
  },
  {
    name: "a short user id stays",
    body: { metadata: { user_id: "user-1" } },
    arrives: { user: "user-1" },
  },
  {
    name: "a continued thread is refused: its history lies elsewhere",
    body: { thread: { type: "continue", previous_message_id: "msg_1" } },
    param: "thread",
  },
  {
    name: "a prefilled answer is a plain assistant message",
    body: {
      messages: [...BASE.messages, {
        role: "assistant",
        content: "The answer is",
      }],
    },
    arrives: { "messages[1]": { role: "assistant", content: "The answer is" } },
  },
];

const EMPTY: readonly Row[] = [
  {
    name: "nothing but emptiness is refused",
    body: { messages: [{ role: "user", content: "" }] },
    param: "messages",
  },
];

const TOOLS: readonly Row[] = [
  {
    name:
      "73, 80: tools keep order and schema, and lose what only this format knows",
    body: {
      tools: [
        tool("Zed", {
          cache_control: { type: "ephemeral", ttl: "1h" },
          defer_loading: true,
        }),
        tool("Abc", {
          type: "custom",
          strict: true,
          input_examples: [{}],
          eager_input_streaming: true,
        }),
      ],
    },
    arrives: {
      tools: [
        {
          type: "function",
          function: { name: "Zed", description: "d", parameters: HARD_SCHEMA },
        },
        {
          type: "function",
          function: {
            name: "Abc",
            description: "d",
            parameters: HARD_SCHEMA,
            strict: true,
          },
        },
      ],
    },
    dropped: [
      "tools[].cache_control",
      "tools[].defer_loading",
      "tools[].input_examples",
      "tools[].eager_input_streaming",
    ],
  },
  {
    name: "no tools is not an empty list of tools",
    body: { tools: [] },
    arrives: { tools: undefined, tool_choice: undefined },
  },
  {
    name: "60: any is required, 62: one call at a time is said outside",
    body: {
      tools: [tool("f")],
      tool_choice: { type: "any", disable_parallel_tool_use: true },
    },
    arrives: { tool_choice: "required", parallel_tool_calls: false },
  },
  {
    name: "61: none is none, and the tools stay",
    body: { tools: [tool("f")], tool_choice: { type: "none" } },
    arrives: {
      tool_choice: "none",
      "tools[0].function.name": "f",
      parallel_tool_calls: undefined,
    },
  },
  {
    name: "auto is auto; parallel calls are not switched on",
    body: {
      tools: [tool("f")],
      tool_choice: { type: "auto", disable_parallel_tool_use: false },
    },
    arrives: { tool_choice: "auto", parallel_tool_calls: undefined },
  },
  {
    name: "79: a long name is shortened alike in tools, choice and history",
    body: {
      tools: [tool(LONG_NAME)],
      tool_choice: { type: "tool", name: LONG_NAME },
      messages: [
        { role: "user", content: "a" },
        { role: "assistant", content: [call("t1", LONG_NAME)] },
        { role: "user", content: [result("t1", "ok")] },
      ],
    },
    arrives: {
      "tools[0].function.name":
        "mcp__plugin_a_very_long_server_name_indeed__and_a_very__9ca2d5a7",
      "tool_choice.function.name":
        "mcp__plugin_a_very_long_server_name_indeed__and_a_very__9ca2d5a7",
      "messages[1].tool_calls[0].function.name":
        "mcp__plugin_a_very_long_server_name_indeed__and_a_very__9ca2d5a7",
    },
  },
  {
    name: "63: a server tool among others is dropped and named",
    body: {
      tools: [{ type: "web_search_20250305", name: "web_search" }, tool("f")],
      tool_choice: { type: "any" },
    },
    arrives: {
      "tools[0].function.name": "f",
      "tools[1]": undefined,
      tool_choice: "required",
    },
    dropped: ["tools[0]"],
  },
  {
    name: "63: a server tool alone is refused",
    body: { tools: [{ type: "web_search_20250305", name: "web_search" }] },
    param: "tools[0]",
  },
  {
    name: "63: a server tool that must be called is refused",
    body: {
      tools: [{ type: "web_search_20250305", name: "web_search" }, tool("f")],
      tool_choice: { type: "tool", name: "web_search" },
    },
    param: "tool_choice",
  },
  {
    name:
      "64 to 68: results come first, then pictures, then what the user says",
    body: {
      messages: [
        { role: "user", content: "a" },
        {
          role: "assistant",
          content: [
            { type: "text", text: "x" },
            call("t1", "f", { a: 1 }),
            call("t2", "g", {}),
          ],
        },
        {
          role: "user",
          content: [
            { type: "text", text: "<system-reminder>r</system-reminder>" },
            result("t1", [{ type: "text", text: "one" }, {
              type: "text",
              text: "two",
            }, image]),
            result("t2", "no", { is_error: true }),
            { type: "text", text: "go on" },
          ],
        },
      ],
    },
    arrives: {
      messages: [
        { role: "user", content: "a" },
        {
          role: "assistant",
          content: "x",
          tool_calls: [
            {
              id: "t1",
              type: "function",
              function: { name: "f", arguments: '{"a":1}' },
            },
            {
              id: "t2",
              type: "function",
              function: { name: "g", arguments: "{}" },
            },
          ],
        },
        { role: "tool", tool_call_id: "t1", content: "one\ntwo" },
        { role: "tool", tool_call_id: "t2", content: "Error: no" },
        {
          role: "user",
          content: [
            { type: "text", text: "Content of tool result t1:" },
            {
              type: "image_url",
              image_url: { url: `data:image/png;base64,${PNG}` },
            },
          ],
        },
        {
          role: "user",
          content: [
            { type: "text", text: "<system-reminder>r</system-reminder>" },
            { type: "text", text: "go on" },
          ],
        },
      ],
    },
  },
  {
    name:
      "a call without text has null for content, an empty result an empty text",
    body: {
      messages: [
        { role: "user", content: "a" },
        { role: "assistant", content: [call("t1", "f")] },
        { role: "user", content: [result("t1")] },
      ],
    },
    arrives: {
      "messages[1].content": null,
      "messages[2]": { role: "tool", tool_call_id: "t1", content: "" },
    },
  },
  {
    name: "74: a tool reference is told in words",
    body: {
      tools: [tool("f", { defer_loading: true })],
      messages: [
        { role: "user", content: "a" },
        { role: "assistant", content: [call("t1", "ToolSearch")] },
        {
          role: "user",
          content: [result("t1", [{ type: "tool_reference", tool_name: "f" }])],
        },
      ],
    },
    arrives: {
      "messages[2].content": "Loaded tool: f",
      "tools[0].function.parameters": HARD_SCHEMA,
    },
    dropped: ["tools[].defer_loading"],
  },
  {
    name: "a call id too long is hashed alike on both sides",
    body: {
      messages: [
        { role: "user", content: "a" },
        { role: "assistant", content: [call("t".repeat(41), "f")] },
        { role: "user", content: [result("t".repeat(41), "ok")] },
      ],
    },
    arrives: {
      "messages[1].tool_calls[0].id": "call_081c379b9db4473d24f318b3c410ba8f",
      "messages[2].tool_call_id": "call_081c379b9db4473d24f318b3c410ba8f",
    },
  },
  {
    name:
      "a server tool's run in the history is dropped by its path, the text around it stays",
    body: {
      messages: [
        { role: "user", content: "a" },
        {
          role: "assistant",
          content: [
            {
              type: "server_tool_use",
              id: "srv_1",
              name: "web_search",
              input: {},
            },
            {
              type: "web_search_tool_result",
              tool_use_id: "srv_1",
              content: [],
            },
            { type: "text", text: "found" },
          ],
        },
        { role: "user", content: "b" },
      ],
    },
    arrives: { "messages[1]": { role: "assistant", content: "found" } },
    dropped: ["messages[1].content[0]", "messages[1].content[1]"],
  },
];

const effort = (
  name: string,
  body: object,
  wanted: string | undefined,
  dropped: readonly string[] = [],
): Row => ({
  name,
  body: { max_tokens: 64_000, ...body },
  arrives: {
    reasoning_effort: wanted,
    thinking: undefined,
    output_config: undefined,
  },
  dropped,
});
const enabled = (budget_tokens: number) => ({
  thinking: { type: "enabled", budget_tokens },
});

const CLIENTS: readonly Row[] = [
  {
    name: "Claude Code's own request",
    body: {
      max_tokens: 32_000,
      stream: true,
      system: [
        { type: "text", text: "x-anthropic-billing-header: cch=1;" },
        {
          type: "text",
          text: "You are Claude Code.",
          cache_control: { type: "ephemeral" },
        },
      ],
      thinking: { type: "adaptive", display: "summarized" },
      context_management: {
        edits: [{ type: "clear_thinking_20251015", keep: "all" }],
      },
      output_config: { effort: "medium" },
      metadata: { user_id: "u" },
      tools: [
        tool("Read", { eager_input_streaming: true }),
        tool("Later", { defer_loading: true }),
      ],
      messages: [
        {
          role: "user",
          content: [{
            type: "text",
            text: "hi",
            cache_control: { type: "ephemeral" },
          }],
        },
        { role: "system", content: "S", output_config: { effort: "low" } },
      ],
    },
    headers: {
      "anthropic-beta":
        "claude-code-20250219,mid-conversation-system-2026-04-07",
    },
    arrives: {
      stream: true,
      max_completion_tokens: 32_000,
      reasoning_effort: "medium",
      messages: [
        { role: "system", content: "You are Claude Code." },
        { role: "user", content: "hi" },
        { role: "system", content: "S" },
      ],
      "tools[1].function": {
        name: "Later",
        description: "d",
        parameters: HARD_SCHEMA,
      },
    },
    dropped: [
      "context_management",
      "messages[].output_config",
      "messages[].content[].cache_control",
      "system[].cache_control",
      "tools[].eager_input_streaming",
      "tools[].defer_loading",
    ],
  },
  {
    name: "text behind a call moves before it",
    body: {
      messages: [
        { role: "user", content: "a" },
        {
          role: "assistant",
          content: [{ type: "text", text: "x" }, call("t1", "f"), {
            type: "text",
            text: "y",
          }],
        },
        { role: "user", content: [result("t1", "ok")] },
      ],
    },
    arrives: {
      "messages[1].content": "xy",
      "messages[1].tool_calls[0].id": "t1",
    },
  },
  {
    name: "documents in a result: text stays, bytes follow",
    body: {
      messages: [
        { role: "user", content: "a" },
        { role: "assistant", content: [call("t1", "f")] },
        {
          role: "user",
          content: [result("t1", [
            {
              type: "document",
              source: { type: "text", media_type: "text/plain", data: "T" },
            },
            {
              type: "document",
              source: {
                type: "base64",
                media_type: "application/pdf",
                data: PDF,
              },
            },
          ])],
        },
      ],
    },
    arrives: {
      "messages[2].content": "T",
      "messages[3].content[1].file.file_data":
        `data:application/pdf;base64,${PDF}`,
    },
  },
  {
    name: "an unknown block in a result is refused by its path",
    body: {
      messages: [{
        role: "user",
        content: [
          result("t1", [{ type: "text", text: "a" }, { type: "future" }]),
        ],
      }],
    },
    param: "messages[0].content[0].content[1]",
  },
  {
    name: "two long names that begin alike stay two",
    body: { tools: [tool(LONG_NAME), tool(LONG_NAME_TWO)] },
    arrives: {
      "tools[0].function.name":
        "mcp__plugin_a_very_long_server_name_indeed__and_a_very__9ca2d5a7",
      "tools[1].function.name":
        "mcp__plugin_a_very_long_server_name_indeed__and_a_very__a79a862b",
    },
  },
];

const REASONING: readonly Row[] = [
  effort("83: disabled is none", { thinking: { type: "disabled" } }, "none"),
  effort(
    "83: disabled is the least of a model that always thinks, and told",
    {
      model: "vendorb-5",
      thinking: { type: "disabled" },
    },
    "minimal",
    ["thinking"],
  ),
  effort("83: adaptive is the model's own choice", {
    thinking: { type: "adaptive" },
  }, undefined),
  effort("adaptive with an effort", {
    thinking: { type: "adaptive", display: "omitted" },
    output_config: { effort: "low" },
  }, "low"),
  effort("an effort alone", { output_config: { effort: "max" } }, "xhigh"),
  effort("an effort above what the model knows", {
    model: "vendorb-5",
    output_config: { effort: "xhigh" },
  }, "high"),
  effort("84: a small budget is low", enabled(1024), "low"),
  effort("84: a budget of 4096 is medium", enabled(4096), "medium"),
  effort("84: a budget of 16384 is high", enabled(16384), "high"),
  effort("84: a budget of 32768 is more than high", enabled(32768), "xhigh"),
  {
    name: "81: thoughts do not travel to a model that asks for none",
    body: {
      messages: [
        { role: "user", content: "a" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "secret", signature: "sig" },
            { type: "redacted_thinking", data: "xx" },
            { type: "text", text: "b" },
          ],
        },
        { role: "user", content: "c" },
      ],
    },
    arrives: { "messages[1]": { role: "assistant", content: "b" } },
  },
  {
    name: "structured output is a response format",
    body: {
      output_config: { format: { type: "json_schema", schema: HARD_SCHEMA } },
    },
    arrives: {
      response_format: {
        type: "json_schema",
        json_schema: { name: "response", schema: HARD_SCHEMA, strict: true },
      },
    },
  },
  {
    name: "structured output in its older place",
    body: { output_format: { type: "json_schema", schema: HARD_SCHEMA } },
    arrives: { "response_format.json_schema.schema": HARD_SCHEMA },
  },
  {
    name: "strict mode refuses what would be dropped, and names it",
    body: { top_k: 5 },
    headers: { "x-gateway-strict": "true" },
    param: "top_k",
  },
  {
    name: "strict mode passes what loses nothing",
    body: { metadata: { user_id: "u" } },
    headers: { "x-gateway-strict": "true" },
    arrives: { user: "u" },
  },
];

Deno.test("requests in the messages format arrive at a chat upstream", async (t) => {
  await checkRows(t, "/v1/messages", BASE, [
    ...PLAIN,
    ...EMPTY,
    ...TOOLS,
    ...CLIENTS,
    ...REASONING,
  ]);
});
