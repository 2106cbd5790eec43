/** Requests in the messages format, as an upstream of the chat format receives them. */
import type { Capabilities } from "../mod.ts";
import {
  assistant,
  calling,
  chatCall,
  documentAt,
  HARD_SCHEMA,
  hardTool,
  LONG_NAME,
  LONG_NAME_TWO,
  messagesOf,
  objectOf,
  PDF,
  PNG,
  text,
  toolMessage,
  toolResult,
  toolUse,
  user,
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
/** The kinds of models of this format that differ in translation. */
const MODELS: RequestTable["models"] = {
  "effort or none": REASONS,
};
const BASE = {
  model: "effort or none",
  max_tokens: 500,
  messages: [user("hi")],
};
const image = {
  type: "image",
  source: { type: "base64", media_type: "image/png", data: PNG },
};
const userTurn = (...content: unknown[]) =>
  messagesOf({ role: "user", content });

const PLAIN: readonly RequestRow[] = [
  {
    name: "the smallest request",
    body: {},
    arrives: {
      model: "effort or none",
      max_completion_tokens: 500,
      max_tokens: undefined,
      messages: [user("hi")],
      stream: undefined,
      tools: undefined,
      temperature: undefined,
      reasoning_effort: undefined,
    },
  },
  {
    name: "only the billing line at the start of a system string is removed",
    body: { system: "x-anthropic-billing-header: cch=1;\nYou are A." },
    arrives: { "messages[0]": { role: "system", content: "You are A." } },
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
        content: [text("c")],
      },
    ),
    arrives: {
      "messages[0].content": [
        text("T\nC\nD"),
        text("t\ns\nc"),
      ],
    },
  },
  {
    name: "a document by URL is refused",
    body: userTurn(documentAt("https://x.test/a.pdf")),
    param: "messages[0].content[0]",
  },
  {
    name: "empty texts and turns are removed",
    body: messagesOf(user("a"), assistant(""), user(text(""), text("b"))),
    arrives: messagesOf(user("a"), user("b")),
  },
];

const EMPTY: readonly RequestRow[] = [
  {
    name: "a request with only empty content is refused",
    body: messagesOf(user("")),
    param: "messages",
  },
];

const TOOLS: readonly RequestRow[] = [
  {
    name: "tools keep order and schema, and lose fields without an equivalent",
    body: {
      tools: [
        hardTool("Zed", {
          cache_control: { type: "ephemeral", ttl: "1h" },
          defer_loading: true,
        }),
        hardTool("Abc", {
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
          function: { name: "Abc", description: "d", parameters: HARD_SCHEMA },
        },
      ],
    },
    dropped: [
      "tools[].cache_control",
      "tools[].defer_loading",
      "tools[].input_examples",
      "tools[].eager_input_streaming",
      // Its optional properties.
      "tools[].strict",
    ],
  },
  {
    name: "a placeholder of deferred tools is not offered",
    body: {
      tools: [
        hardTool("Zed"),
        hardTool("DeferredToolPlaceholder", { defer_loading: true }),
      ],
    },
    arrives: {
      tools: [{
        type: "function",
        function: { name: "Zed", description: "d", parameters: HARD_SCHEMA },
      }],
    },
    dropped: ["tools[1]:DeferredToolPlaceholder"],
  },
  {
    name: "a strict tool whose properties are all required is closed",
    body: {
      tools: [{
        name: "f",
        strict: true,
        input_schema: objectOf({ a: { type: "string" } }, "a"),
      }],
    },
    arrives: {
      "tools[0].function.strict": true,
      "tools[0].function.parameters.additionalProperties": false,
    },
  },
  {
    name: "an empty list of tools becomes no list",
    body: { tools: [] },
    arrives: { tools: undefined, tool_choice: undefined },
  },
  {
    name: "results come first, then images, then the user's text",
    body: messagesOf(
      user("a"),
      assistant(
        text("x"),
        toolUse("t1", "f", { a: 1 }),
        toolUse("t2", "g", {}),
      ),
      user(
        text("<system-reminder>r</system-reminder>"),
        toolResult("t1", [text("one"), text("two"), image]),
        toolResult("t2", "no", { is_error: true }),
        text("go on"),
      ),
    ),
    arrives: messagesOf(
      user("a"),
      calling("x", chatCall("t1", "f", '{"a":1}'), chatCall("t2", "g")),
      toolMessage("t1", "one\ntwo"),
      toolMessage("t2", "Error: no"),
      user(text("Content of tool result t1:"), {
        type: "image_url",
        image_url: { url: `data:image/png;base64,${PNG}` },
      }),
      user(text("<system-reminder>r</system-reminder>"), text("go on")),
    ),
  },
  {
    name:
      "a server tool's call and result in the history are dropped and named by path; the text around them is kept",
    body: messagesOf(
      user("a"),
      assistant({
        type: "server_tool_use",
        id: "srv_1",
        name: "web_search",
        input: {},
      }, {
        type: "web_search_tool_result",
        tool_use_id: "srv_1",
        content: [],
      }, text("found")),
      user("b"),
    ),
    arrives: { "messages[1]": assistant("found") },
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
const CLIENTS: readonly RequestRow[] = [
  {
    name: "Claude Code's own request",
    body: {
      max_tokens: 32_000,
      stream: true,
      system: [
        text("x-anthropic-billing-header: cch=1;"),
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
        hardTool("Read", { eager_input_streaming: true }),
        hardTool("Later", { defer_loading: true }),
      ],
      messages: [
        user({
          type: "text",
          text: "hi",
          cache_control: { type: "ephemeral" },
        }),
        { role: "system", content: "S", output_config: { effort: "low" } },
      ],
    },
    arrives: {
      stream: true,
      max_completion_tokens: 32_000,
      reasoning_effort: "medium",
      messages: [
        { role: "system", content: "You are Claude Code." },
        user("hi"),
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
    body: messagesOf(
      user("a"),
      assistant(text("x"), toolUse("t1", "f"), text("y")),
      user(toolResult("t1", "ok")),
    ),
    arrives: {
      "messages[1].content": "xy",
      "messages[1].tool_calls[0].id": "t1",
    },
  },
  {
    name: "documents in a result: text stays, files follow",
    body: messagesOf(
      user("a"),
      assistant(toolUse("t1", "f")),
      user(toolResult("t1", [
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
      ])),
    ),
    arrives: {
      "messages[2].content": "T",
      "messages[3].content[1].file.file_data":
        `data:application/pdf;base64,${PDF}`,
    },
  },
  {
    name: "two long names that begin alike stay distinct",
    body: { tools: [hardTool(LONG_NAME), hardTool(LONG_NAME_TWO)] },
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
    "an effort without thinking",
    { output_config: { effort: "max" } },
    "xhigh",
    ["output_config.effort"],
  ),
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
