/** Requests in the chat format, as an upstream of the generate-content format receives them. */
import {
  checkRows,
  type RequestRow,
  type RequestTable,
} from "../testing/request_table.ts";
import {
  calling,
  contentsOf,
  functionCall,
  functionResponse,
  messagesOf,
  objectOf,
  text,
  toolMessage,
} from "../testing/request_samples.ts";

const user = (...parts: unknown[]) => ({ role: "user", parts });
const model = (...parts: unknown[]) => ({ role: "model", parts });
/** The kinds of models of this format that differ in translation. */
const MODELS: RequestTable["models"] = {
  "four levels": {
    efforts: ["minimal", "low", "medium", "high"],
    imagesInToolResult: true,
    maxOutputTokens: 65_536,
  },
};
const SENTINEL = "skip_thought_signature_validator";
const HI = user({ text: "hi" });

const FROM_CHAT = {
  model: "four levels",
  messages: [{ role: "user", content: "hi" }],
};
const call = (id: string, name: string, args = "{}", rest: object = {}) => ({
  id,
  type: "function",
  function: { name, arguments: args },
  ...rest,
});

const CHAT_ROWS: readonly RequestRow[] = [
  {
    name: "the smallest request gets no output limit",
    body: {},
    arrives: { contents: [HI], generationConfig: undefined },
  },
  {
    name: "a service tier is dropped",
    body: { service_tier: "priority", user: "u" },
    dropped: ["service_tier", "user"],
  },
  {
    name: "all leading instructions, and later ones in their place",
    body: messagesOf(
      { role: "system", content: "A." },
      { role: "developer", content: "B." },
      { role: "user", content: "a" },
      { role: "system", content: "S" },
    ),
    arrives: {
      systemInstruction: { parts: [{ text: "A." }, { text: "B." }] },
      contents: [
        user({ text: "a" }, {
          text: "<system-reminder>\nS\n</system-reminder>",
        }),
      ],
    },
  },
  {
    name:
      "results of consecutive messages are combined, each under its function's name",
    body: messagesOf(
      { role: "user", content: "a" },
      calling("x", call("c1", "f", ""), call("c2", "g", "[1]")),
      toolMessage("c2", "two"),
      toolMessage("c1", [text("one")]),
      { role: "user", content: "go" },
    ),
    arrives: contentsOf(
      user({ text: "a" }),
      model(
        { text: "x" },
        {
          functionCall: { id: "c1", name: "f", args: {} },
          thoughtSignature: SENTINEL,
        },
        functionCall("g", { __raw_arguments: "[1]" }, "c2"),
      ),
      user(
        functionResponse("f", { output: "one" }, "c1"),
        functionResponse("g", { output: "two" }, "c2"),
      ),
      user({ text: "go" }),
    ),
    dropped: ["messages[].tool_calls[].function.arguments"],
  },
  {
    name: "the deprecated functions fields",
    body: {
      functions: [{
        name: "f",
        parameters: objectOf({ a: { type: "string" } }),
      }],
      function_call: "auto",
      messages: [{ role: "user", content: "a" }, {
        role: "assistant",
        content: null,
        function_call: { name: "f", arguments: "{}" },
      }, { role: "function", name: "f", content: "ok" }],
    },
    arrives: {
      "contents[2].parts": [functionResponse("f", { output: "ok" }, "call_1")],
    },
    dropped: ["functions"],
  },
];

const EXACT: readonly RequestRow[] = [];

Deno.test("requests in the chat format are written for a generate-content upstream", async (t) => {
  const table = {
    from: "chat_completions",
    to: "generate_content",
    base: FROM_CHAT,
    models: MODELS,
  } as const;
  await checkRows(t, table, [
    ...CHAT_ROWS,
    ...EXACT,
  ]);
});
