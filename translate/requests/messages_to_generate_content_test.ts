/**
 * Requests in the messages format, as an upstream of the generate-content format receives them.
 */
import {
  assistant,
  contentsOf,
  documentAt,
  functionCall,
  functionResponse,
  hardTool,
  imageAt,
  LONG_NAME,
  messagesOf,
  PDF,
  PNG,
  text,
  toolResult,
} from "../testing/request_samples.ts";
import {
  checkRows,
  type RequestRow,
  type RequestTable,
} from "../testing/request_table.ts";

const user = (...parts: unknown[]) => ({ role: "user", parts });
const model = (...parts: unknown[]) => ({ role: "model", parts });
/** The kinds of models of this format that differ in translation. */
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
const use = (
  id: string,
  name: string,
  input: unknown = {},
  rest: object = {},
) => ({ type: "tool_use", id, name, input, ...rest });
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
    name: "stop sequences beyond the fifth are left to the gateway",
    body: { stop_sequences: ["1", "2", "3", "4", "5", "6"] },
    arrives: { "generationConfig.stopSequences": ["1", "2", "3", "4", "5"] },
  },
  {
    name: "neighbours merge, empty texts are removed, a user turn comes first",
    body: messagesOf(
      assistant("a"),
      { role: "user", content: "" },
      assistant("b"),
      { role: "user", content: "c" },
      { role: "user", content: "d" },
    ),
    arrives: contentsOf(
      user({ text: "." }),
      model({ text: "a" }, { text: "b" }),
      user({ text: "c" }, { text: "d" }),
    ),
  },
  {
    name: "images and documents keep their positions, as bytes and by URL",
    body: messagesOf(turn(
      "user",
      image,
      {
        type: "document",
        title: "T",
        source: { type: "base64", media_type: "application/pdf", data: PDF },
      },
      imageAt("https://x.test/a.png?x=1"),
      documentAt("https://x.test/a.pdf"),
    )),
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
    body: messagesOf(turn("user", {
      type: "document",
      source: { type: "file", file_id: "f" },
    })),
    param: "messages[0].content[0].source.file_id",
  },
  {
    name: "metadata and service tier are dropped",
    body: { metadata: { user_id: "u" }, service_tier: "auto" },
    dropped: ["metadata.user_id", "service_tier"],
  },
  {
    name: "tool choice: any, without parallel calls",
    body: {
      tools: [hardTool("f")],
      tool_choice: { type: "any", disable_parallel_tool_use: true },
    },
    arrives: { "toolConfig.functionCallingConfig": { mode: "ANY" } },
    dropped: ["tool_choice.disable_parallel_tool_use"],
  },
  {
    name:
      "calls keep their positions; results are one turn in the order of the calls, separate from the user's text",
    body: messagesOf(
      { role: "user", content: "a" },
      turn(
        "assistant",
        text("x"),
        use("t1", "f", { a: 1 }),
        use("t2", LONG_NAME, {}),
      ),
      turn(
        "user",
        text("r"),
        toolResult("t2", "no", { is_error: true }),
        toolResult("t1", [text('{"k":1}'), image]),
        text("go"),
      ),
    ),
    arrives: contentsOf(
      user({ text: "a" }),
      model(
        { text: "x" },
        {
          functionCall: { id: "t1", name: "f", args: { a: 1 } },
          thoughtSignature: SENTINEL,
        },
        functionCall(
          "mcp__plugin_a_very_long_server_name_indeed__and_a_very__9ca2d5a7",
          {},
          "t2",
        ),
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
        functionResponse(
          "mcp__plugin_a_very_long_server_name_indeed__and_a_very__9ca2d5a7",
          { error: "no" },
          "t2",
        ),
      ),
      user({ text: "r" }, { text: "go" }),
    ),
  },
  level(
    "disabled thinking is minimal on a model that supports it",
    { model: "four levels", thinking: { type: "disabled" } },
    { thinkingLevel: "minimal" },
    ["thinking"],
  ),
  level("a middle budget is the nearest level", {
    thinking: { type: "enabled", budget_tokens: 8000 },
  }, { thinkingLevel: "high", includeThoughts: true }),
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
