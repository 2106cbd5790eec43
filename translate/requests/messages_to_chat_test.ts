/** Requests in the messages format, as an upstream of the chat format receives them. */
import type { Capabilities } from "../mod.ts";
import {
  HARD_SCHEMA,
  LONG_NAME,
  LONG_NAME_TWO,
  PDF,
  PNG,
} from "../testing/request_samples.ts";
import {
  checkRows,
  type RequestRow,
  type RequestTable,
} from "../testing/request_table.ts";

const REASONS: Partial<Capabilities> = {
  maxTokensField: "max_completion_tokens",
  sampling: "none",
  penalties: false,
  maxStops: 0,
  reasoning: "effort",
  reasoningOff: true,
  maxOutputTokens: 128_000,
  efforts: ["low", "medium", "high", "xhigh"],
};
/** By what sets the models of this format apart. */
const MODELS: RequestTable["models"] = {
  "effort or none": REASONS,
  "always thinks": {
    ...REASONS,
    reasoningOff: false,
    efforts: ["minimal", "low", "medium", "high"],
  },
};
const BASE = {
  model: "effort or none",
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
const userTurn = (...content: unknown[]) => ({
  messages: [{ role: "user", content }],
});

const PLAIN: readonly RequestRow[] = [
  {
    name: "the smallest request",
    body: {},
    arrives: {
      model: "effort or none",
      max_completion_tokens: 500,
      max_tokens: undefined,
      messages: [{ role: "user", content: "hi" }],
      stream: undefined,
      tools: undefined,
      temperature: undefined,
      reasoning_effort: undefined,
    },
  },
  {
    name: "a stream requests usage",
    body: { stream: true },
    arrives: { stream: true, stream_options: { include_usage: true } },
  },
  {
    name: "a limit above the model's is lowered and reported",
    body: { max_tokens: 10_000_000 },
    arrives: { max_completion_tokens: 128_000 },
    dropped: ["max_tokens"],
  },
  {
    name: "a limit of 0 is refused",
    body: { max_tokens: 0 },
    param: "max_tokens",
  },
  {
    name:
      "sampling fields that a reasoning model refuses are dropped and named",
    body: { temperature: 0, top_k: 5, stop_sequences: ["a"] },
    arrives: { temperature: undefined, top_k: undefined, stop: undefined },
    dropped: ["temperature", "top_k", "stop_sequences"],
  },
  {
    name: "system blocks are joined by a blank line, without the billing block",
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
    name: "only the billing line at the start of a system string is removed",
    body: { system: "x-anthropic-billing-header: cch=1;\nYou are A." },
    arrives: { "messages[0]": { role: "system", content: "You are A." } },
  },
  {
    name: "a system turn stays in its place",
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
    name: "text blocks stay separate",
    body: userTurn({ type: "text", text: "a" }, { type: "text", text: "b" }),
    arrives: {
      "messages[0].content": [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
    },
  },
  {
    name: "images as bytes and by URL; image/jpg becomes image/jpeg",
    body: userTurn(
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
    name: "a PDF is a file with its title as its name",
    body: userTurn({
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
    body: userTurn(
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
    name: "an image by file id is refused",
    body: userTurn({
      type: "image",
      source: { type: "file", file_id: "file_1" },
    }),
    param: "messages[0].content[0].source.file_id",
  },
  {
    name: "a document by URL is refused",
    body: userTurn({
      type: "document",
      source: { type: "url", url: "https://x.test/a.pdf" },
    }),
    param: "messages[0].content[0]",
  },
  {
    name: "an unknown block in a user turn is refused, and its path is named",
    body: userTurn({ type: "text", text: "a" }, {
      type: "container_upload",
      file_id: "f",
    }),
    param: "messages[0].content[1]",
  },
  {
    name: "empty texts and turns are removed",
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
    name: "fields without an equivalent are dropped and named",
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
    name: "Claude Code's long user id becomes a hash that every vendor accepts",
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
    name: "a short user id is kept",
    body: { metadata: { user_id: "user-1" } },
    arrives: { user: "user-1" },
  },
  {
    name:
      "a continued thread is refused because its history is stored at the vendor",
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

const EMPTY: readonly RequestRow[] = [
  {
    name: "a request with only empty content is refused",
    body: { messages: [{ role: "user", content: "" }] },
    param: "messages",
  },
];

const TOOLS: readonly RequestRow[] = [
  {
    name: "tools keep order and schema, and lose fields without an equivalent",
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
    name: "an empty list of tools becomes no list",
    body: { tools: [] },
    arrives: { tools: undefined, tool_choice: undefined },
  },
  {
    name: "any becomes required; no parallel calls becomes a top-level field",
    body: {
      tools: [tool("f")],
      tool_choice: { type: "any", disable_parallel_tool_use: true },
    },
    arrives: { tool_choice: "required", parallel_tool_calls: false },
  },
  {
    name: "none stays none, and the tools are kept",
    body: { tools: [tool("f")], tool_choice: { type: "none" } },
    arrives: {
      tool_choice: "none",
      "tools[0].function.name": "f",
      parallel_tool_calls: undefined,
    },
  },
  {
    name: "auto stays auto; parallel calls are not enabled",
    body: {
      tools: [tool("f")],
      tool_choice: { type: "auto", disable_parallel_tool_use: false },
    },
    arrives: { tool_choice: "auto", parallel_tool_calls: undefined },
  },
  {
    name: "a long name is shortened alike in tools, choice and history",
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
    name: "a server tool among others is dropped and named",
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
    name: "only a server tool is refused",
    body: { tools: [{ type: "web_search_20250305", name: "web_search" }] },
    param: "tools[0]",
  },
  {
    name: "a server tool that must be called is refused",
    body: {
      tools: [{ type: "web_search_20250305", name: "web_search" }, tool("f")],
      tool_choice: { type: "tool", name: "web_search" },
    },
    param: "tool_choice",
  },
  {
    name: "results come first, then images, then the user's text",
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
      "a call without text has null content, an empty result has empty text",
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
    name: "a tool reference becomes text",
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
    name: "a call id too long is hashed alike in call and result",
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
      "a server tool's call and result in the history are dropped and named by path; the text around them is kept",
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
): RequestRow => ({
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

const CLIENTS: readonly RequestRow[] = [
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
    name: "text after a call moves before it",
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
    name: "documents in a result: text stays, files follow",
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
    name: "an unknown block in a result is refused, and its path is named",
    body: {
      messages: [
        { role: "user", content: "a" },
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "t1", name: "f", input: {} }],
        },
        {
          role: "user",
          content: [
            result("t1", [{ type: "text", text: "a" }, { type: "future" }]),
          ],
        },
      ],
    },
    param: "messages[2].content[0].content[1]",
  },
  {
    name: "two long names that begin alike stay distinct",
    body: { tools: [tool(LONG_NAME), tool(LONG_NAME_TWO)] },
    arrives: {
      "tools[0].function.name":
        "mcp__plugin_a_very_long_server_name_indeed__and_a_very__9ca2d5a7",
      "tools[1].function.name":
        "mcp__plugin_a_very_long_server_name_indeed__and_a_very__a79a862b",
    },
  },
];

const REASONING: readonly RequestRow[] = [
  effort(
    "disabled thinking is effort none",
    { thinking: { type: "disabled" } },
    "none",
  ),
  effort(
    "disabled thinking is the lowest effort of a model that always thinks, and reported",
    {
      model: "always thinks",
      thinking: { type: "disabled" },
    },
    "minimal",
    ["thinking"],
  ),
  effort("adaptive thinking sends no effort", {
    thinking: { type: "adaptive" },
  }, undefined),
  effort("adaptive thinking with an effort", {
    thinking: { type: "adaptive", display: "omitted" },
    output_config: { effort: "low" },
  }, "low"),
  effort(
    "an effort without thinking",
    { output_config: { effort: "max" } },
    "xhigh",
  ),
  effort("an effort above the model's highest", {
    model: "always thinks",
    output_config: { effort: "xhigh" },
  }, "high"),
  effort("a small budget is effort low", enabled(1024), "low"),
  effort("a budget of 4096 is medium", enabled(4096), "medium"),
  effort("a budget of 16384 is high", enabled(16384), "high"),
  effort("a budget of 32768 is more than high", enabled(32768), "xhigh"),
  {
    name: "thoughts are not forwarded to a model that does not require them",
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
    name: "structured output becomes a response format",
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
    name: "structured output in its deprecated field",
    body: { output_format: { type: "json_schema", schema: HARD_SCHEMA } },
    arrives: { "response_format.json_schema.schema": HARD_SCHEMA },
  },
];

Deno.test("requests in the messages format are written for a chat upstream", async (t) => {
  const table = {
    from: "messages",
    to: "chat_completions",
    base: BASE,
    models: MODELS,
  } as const;
  await checkRows(t, table, [
    ...PLAIN,
    ...EMPTY,
    ...TOOLS,
    ...CLIENTS,
    ...REASONING,
  ]);
});
