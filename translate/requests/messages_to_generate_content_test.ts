/**
 * Requests in the messages format, as an upstream of the generate-content format receives them.
 */
import {
  HARD_SCHEMA,
  LONG_NAME,
  PDF,
  PNG,
} from "../testing/request_samples.ts";
import {
  checkRows,
  type RequestRow,
  type RequestTable,
} from "../testing/request_table.ts";

const user = (...parts: unknown[]) => ({ role: "user", parts });
const model = (...parts: unknown[]) => ({ role: "model", parts });
/** By what sets the models of this format apart. */
const MODELS: RequestTable["models"] = {
  "two levels": {
    efforts: ["low", "high"],
    imagesInToolResult: true,
    maxOutputTokens: 65_536,
  },
  "four levels": {
    efforts: ["minimal", "low", "medium", "high"],
    imagesInToolResult: true,
    maxOutputTokens: 65_536,
  },
};
const SENTINEL = "skip_thought_signature_validator";
const HI = user({ text: "hi" });
const png = { inlineData: { mimeType: "image/png", data: PNG } };

const FROM_MESSAGES = {
  model: "two levels",
  max_tokens: 500,
  messages: [{ role: "user", content: "hi" }],
};
const image = {
  type: "image",
  source: { type: "base64", media_type: "image/png", data: PNG },
};
const tool = (name: string, rest: object = {}) => ({
  name,
  description: "d",
  input_schema: HARD_SCHEMA,
  ...rest,
});
const use = (
  id: string,
  name: string,
  input: unknown = {},
  rest: object = {},
) => ({ type: "tool_use", id, name, input, ...rest });
const result = (id: string, content?: unknown, rest: object = {}) => ({
  type: "tool_result",
  tool_use_id: id,
  ...(content === undefined ? {} : { content }),
  ...rest,
});
const turn = (role: string, ...content: unknown[]) => ({ role, content });
const level = (
  name: string,
  body: object,
  wanted: unknown,
  dropped: readonly string[] = [],
): RequestRow => ({
  name,
  body: { max_tokens: 64_000, ...body },
  arrives: { "generationConfig.thinkingConfig": wanted },
  dropped,
});

const MESSAGES_ROWS: readonly RequestRow[] = [
  {
    name: "the smallest request",
    body: {},
    arrives: {
      contents: [HI],
      generationConfig: { maxOutputTokens: 500 },
      systemInstruction: undefined,
      tools: undefined,
      toolConfig: undefined,
      model: undefined,
      stream: undefined,
      safetySettings: undefined,
    },
  },
  {
    name: "the generation config, with its zeros",
    body: {
      temperature: 0,
      top_k: 4,
      stop_sequences: ["a", "b"],
      max_tokens: 99_999_999,
    },
    arrives: {
      generationConfig: {
        maxOutputTokens: 65_536,
        temperature: 0,
        topK: 4,
        stopSequences: ["a", "b"],
      },
    },
    dropped: ["max_tokens"],
  },
  {
    name: "a limit of 0 is refused",
    body: { max_tokens: 0 },
    param: "max_tokens",
  },
  {
    name: "a top_p of zero stays",
    body: { top_p: 0 },
    arrives: { "generationConfig.topP": 0 },
  },
  {
    name: "stop sequences beyond the fifth are dropped and reported",
    body: { stop_sequences: ["1", "2", "3", "4", "5", "6"] },
    arrives: { "generationConfig.stopSequences": ["1", "2", "3", "4", "5"] },
    dropped: ["stop_sequences"],
  },
  {
    name: "every block of the system prompt except the billing line",
    body: {
      system: [{ type: "text", text: "x-anthropic-billing-header: cch=1;" }, {
        type: "text",
        text: "A.",
      }, { type: "text", text: "B." }],
    },
    arrives: { systemInstruction: { parts: [{ text: "A." }, { text: "B." }] } },
  },
  {
    name: "a system turn becomes marked user text at its position",
    body: {
      messages: [
        turn("user", { type: "text", text: "a" }),
        turn("assistant", { type: "text", text: "b" }),
        { role: "system", content: "S" },
        { role: "user", content: "c" },
      ],
    },
    arrives: {
      contents: [
        user({ text: "a" }),
        model({ text: "b" }),
        user({ text: "<system-reminder>\nS\n</system-reminder>" }, {
          text: "c",
        }),
      ],
    },
  },
  {
    name: "neighbours merge, empty texts are removed, a user turn comes first",
    body: {
      messages: [
        { role: "assistant", content: "a" },
        { role: "user", content: "" },
        { role: "assistant", content: "b" },
        { role: "user", content: "c" },
        { role: "user", content: "d" },
      ],
    },
    arrives: {
      contents: [
        user({ text: "." }),
        model({ text: "a" }, { text: "b" }),
        user({ text: "c" }, { text: "d" }),
      ],
    },
  },
  {
    name: "images and documents keep their positions, as bytes and by URL",
    body: {
      messages: [turn(
        "user",
        image,
        {
          type: "document",
          title: "T",
          source: { type: "base64", media_type: "application/pdf", data: PDF },
        },
        {
          type: "image",
          source: { type: "url", url: "https://x.test/a.png?x=1" },
        },
        {
          type: "document",
          source: { type: "url", url: "https://x.test/a.pdf" },
        },
      )],
    },
    arrives: {
      "contents[0].parts": [
        png,
        { text: "T" },
        { inlineData: { mimeType: "application/pdf", data: PDF } },
        {
          fileData: {
            mimeType: "image/png",
            fileUri: "https://x.test/a.png?x=1",
          },
        },
        {
          fileData: {
            mimeType: "application/pdf",
            fileUri: "https://x.test/a.pdf",
          },
        },
      ],
    },
  },
  {
    name: "a file id is refused",
    body: {
      messages: [
        turn("user", {
          type: "document",
          source: { type: "file", file_id: "f" },
        }),
      ],
    },
    param: "messages[0].content[0].source.file_id",
  },
  {
    name: "metadata and service tier are dropped",
    body: { metadata: { user_id: "u" }, service_tier: "auto" },
    dropped: ["metadata.user_id", "service_tier"],
  },
  {
    name: "all functions are in one element, with their schemas unchanged",
    body: {
      tools: [
        tool("f"),
        tool("g", { input_schema: { type: "object", properties: {} } }),
        tool("h", { defer_loading: true }),
      ],
    },
    arrives: {
      tools: [{
        functionDeclarations: [
          { name: "f", description: "d", parametersJsonSchema: HARD_SCHEMA },
          { name: "g", description: "d" },
          { name: "h", description: "d", parametersJsonSchema: HARD_SCHEMA },
        ],
      }],
      toolConfig: undefined,
    },
    dropped: ["tools[].defer_loading"],
  },
  {
    name: "tool choice: auto",
    body: { tools: [tool("f")], tool_choice: { type: "auto" } },
    arrives: { "toolConfig.functionCallingConfig": { mode: "AUTO" } },
  },
  {
    name: "tool choice: any, without parallel calls",
    body: {
      tools: [tool("f")],
      tool_choice: { type: "any", disable_parallel_tool_use: true },
    },
    arrives: { "toolConfig.functionCallingConfig": { mode: "ANY" } },
    dropped: ["tool_choice.disable_parallel_tool_use"],
  },
  {
    name: "tool choice: none",
    body: { tools: [tool("f")], tool_choice: { type: "none" } },
    arrives: {
      "toolConfig.functionCallingConfig": { mode: "NONE" },
      "tools[0].functionDeclarations[0].name": "f",
    },
  },
  {
    name: "tool choice: one by name",
    body: {
      tools: [tool("f"), tool("g")],
      tool_choice: { type: "tool", name: "g" },
    },
    arrives: {
      "toolConfig.functionCallingConfig": {
        mode: "ANY",
        allowedFunctionNames: ["g"],
      },
    },
  },
  {
    name: "tool choice: an unknown tool is refused",
    body: { tools: [tool("f")], tool_choice: { type: "tool", name: "x" } },
    param: "tool_choice",
  },
  {
    name: "only a server tool is refused",
    body: { tools: [{ type: "web_search_20250305", name: "web_search" }] },
    param: "tools[0]",
  },
  {
    name: "a server tool among others is dropped",
    body: {
      tools: [tool("f"), { type: "web_search_20250305", name: "web_search" }],
    },
    arrives: {
      "tools[1]": undefined,
      "tools[0].functionDeclarations[1]": undefined,
    },
    dropped: ["tools[1]"],
  },
  {
    name:
      "calls keep their positions; results are one turn in the order of the calls, separate from the user's text",
    body: {
      messages: [
        { role: "user", content: "a" },
        turn(
          "assistant",
          { type: "text", text: "x" },
          use("t1", "f", { a: 1 }),
          use("t2", LONG_NAME, {}),
        ),
        turn(
          "user",
          { type: "text", text: "r" },
          result("t2", "no", { is_error: true }),
          result("t1", [{ type: "text", text: '{"k":1}' }, image]),
          { type: "text", text: "go" },
        ),
      ],
    },
    arrives: {
      contents: [
        user({ text: "a" }),
        model(
          { text: "x" },
          {
            functionCall: { id: "t1", name: "f", args: { a: 1 } },
            thoughtSignature: SENTINEL,
          },
          {
            functionCall: {
              id: "t2",
              name:
                "mcp__plugin_a_very_long_server_name_indeed__and_a_very__9ca2d5a7",
              args: {},
            },
          },
        ),
        user(
          {
            functionResponse: {
              id: "t1",
              name: "f",
              response: { k: 1 },
              parts: [png],
            },
          },
          {
            functionResponse: {
              id: "t2",
              name:
                "mcp__plugin_a_very_long_server_name_indeed__and_a_very__9ca2d5a7",
              response: { error: "no" },
            },
          },
        ),
        user({ text: "r" }, { text: "go" }),
      ],
    },
  },
  {
    name: "this format's own signature is sent back on its call",
    body: {
      messages: [
        { role: "user", content: "a" },
        turn(
          "assistant",
          use("t1", "f", {}, {
            extra_content: { google: { thought_signature: "G" } },
          }),
          use("t2", "f"),
        ),
        turn("user", result("t1", "x"), result("t2")),
      ],
    },
    arrives: {
      "contents[1].parts": [
        {
          functionCall: { id: "t1", name: "f", args: {} },
          thoughtSignature: "G",
        },
        { functionCall: { id: "t2", name: "f", args: {} } },
      ],
      "contents[2].parts[1].functionResponse.response": { output: "" },
    },
  },
  {
    name: "another format's thoughts and signatures are not forwarded",
    body: {
      messages: [
        { role: "user", content: "a" },
        turn("assistant", { type: "thinking", thinking: "T", signature: "S" }, {
          type: "redacted_thinking",
          data: "D",
        }, { type: "text", text: "b" }),
        { role: "user", content: "c" },
      ],
    },
    arrives: { "contents[1]": model({ text: "b" }) },
  },
  {
    name: "structured output, with tools too",
    body: {
      tools: [tool("f")],
      output_config: { format: { type: "json_schema", schema: HARD_SCHEMA } },
    },
    arrives: {
      "generationConfig.responseMimeType": "application/json",
      "generationConfig.responseJsonSchema": HARD_SCHEMA,
      "generationConfig.responseSchema": undefined,
    },
  },
  level(
    "disabled thinking is the lowest level, and reported",
    { thinking: { type: "disabled" } },
    { thinkingLevel: "low" },
    ["thinking"],
  ),
  level(
    "disabled thinking is minimal on a model that supports it",
    { model: "four levels", thinking: { type: "disabled" } },
    { thinkingLevel: "minimal" },
    ["thinking"],
  ),
  level("adaptive thinking leaves the level to the model", {
    thinking: { type: "adaptive" },
  }, { includeThoughts: true }),
  level("adaptive thinking with an effort, thoughts not requested", {
    thinking: { type: "adaptive", display: "omitted" },
    output_config: { effort: "max" },
  }, { thinkingLevel: "high", includeThoughts: false }),
  level("a small budget is low", {
    thinking: { type: "enabled", budget_tokens: 1024 },
  }, { thinkingLevel: "low", includeThoughts: true }),
  level("a middle budget is the nearest level", {
    thinking: { type: "enabled", budget_tokens: 8000 },
  }, { thinkingLevel: "high", includeThoughts: true }),
  level("a middle budget is medium on a model that supports it", {
    model: "four levels",
    thinking: { type: "enabled", budget_tokens: 8000 },
  }, { thinkingLevel: "medium", includeThoughts: true }),
];

Deno.test("requests in the messages format are written for a generate-content upstream", async (t) => {
  const table = {
    from: "messages",
    to: "generate_content",
    base: FROM_MESSAGES,
    models: MODELS,
  } as const;
  await checkRows(t, table, MESSAGES_ROWS);
});
