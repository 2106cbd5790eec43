/** Requests in the chat format, as an upstream of the generate-content format receives them. */
import { HARD_SCHEMA, PDF, PNG } from "../testing/request_samples.ts";
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

const FROM_CHAT = {
  model: "four levels",
  messages: [{ role: "user", content: "hi" }],
};
const fn = (name: string, rest: object = {}) => ({
  type: "function",
  function: { name, description: "d", parameters: HARD_SCHEMA, ...rest },
});
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
    name: "fields that only these two formats share are translated",
    body: {
      max_completion_tokens: 9,
      temperature: 2,
      top_p: 0.5,
      n: 1,
      seed: 7,
      presence_penalty: 1,
      frequency_penalty: -1,
      stop: "\n",
    },
    arrives: {
      generationConfig: {
        maxOutputTokens: 9,
        temperature: 2,
        topP: 0.5,
        stopSequences: ["\n"],
        seed: 7,
        presencePenalty: 1,
        frequencyPenalty: -1,
      },
    },
  },
  {
    name: "log probabilities are requested, and reported as dropped",
    body: { logprobs: true, top_logprobs: 3 },
    arrives: {
      "generationConfig.responseLogprobs": true,
      "generationConfig.logprobs": 3,
    },
    dropped: ["logprobs"],
  },
  { name: "n above 1 is refused", body: { n: 3 }, param: "n" },
  {
    name: "a service tier is dropped",
    body: { service_tier: "priority", user: "u" },
    dropped: ["service_tier", "user"],
  },
  {
    name: "all leading instructions, and later ones in their place",
    body: {
      messages: [
        { role: "system", content: "A." },
        { role: "developer", content: "B." },
        { role: "user", content: "a" },
        { role: "system", content: "S" },
      ],
    },
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
    name: "a system prompt alone becomes a user message",
    body: { messages: [{ role: "system", content: "A." }] },
    arrives: { systemInstruction: undefined, contents: [user({ text: "A." })] },
  },
  {
    name: "images, audio and files keep their positions",
    body: {
      messages: [{
        role: "user",
        content: [
          {
            type: "image_url",
            image_url: { url: `data:image/png;base64,${PNG}` },
          },
          { type: "input_audio", input_audio: { data: "AA==", format: "mp3" } },
          {
            type: "file",
            file: {
              file_data: `data:application/pdf;base64,${PDF}`,
              filename: "a.pdf",
            },
          },
        ],
      }],
    },
    arrives: {
      "contents[0].parts": [
        png,
        { inlineData: { mimeType: "audio/mp3", data: "AA==" } },
        { text: "a.pdf" },
        { inlineData: { mimeType: "application/pdf", data: PDF } },
      ],
    },
  },
  {
    name: "a file id is refused",
    body: {
      messages: [{
        role: "user",
        content: [{ type: "file", file: { file_id: "f" } }],
      }],
    },
    param: "messages[0].content[0].file.file_id",
  },
  {
    name: "a URL without a media type is refused",
    body: {
      messages: [{
        role: "user",
        content: [{
          type: "image_url",
          image_url: { url: "https://x.test/a" },
        }],
      }],
    },
    param: "messages[0].content[0]",
  },
  {
    name: "tool choice: required",
    body: { tools: [fn("f")], tool_choice: "required" },
    arrives: { "toolConfig.functionCallingConfig": { mode: "ANY" } },
  },
  {
    name: "tool choice: none",
    body: { tools: [fn("f")], tool_choice: "none" },
    arrives: { "toolConfig.functionCallingConfig": { mode: "NONE" } },
  },
  {
    name: "tool choice: one by name",
    body: {
      tools: [fn("f")],
      tool_choice: { type: "function", function: { name: "f" } },
    },
    arrives: {
      "toolConfig.functionCallingConfig": {
        mode: "ANY",
        allowedFunctionNames: ["f"],
      },
    },
  },
  {
    name: "tool choice: allowed tools are named",
    body: {
      tools: [fn("f"), fn("g")],
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: {
          mode: "required",
          tools: [{ type: "function", function: { name: "g" } }],
        },
      },
    },
    arrives: {
      "toolConfig.functionCallingConfig": {
        mode: "ANY",
        allowedFunctionNames: ["g"],
      },
      "tools[0].functionDeclarations[1].name": "g",
    },
  },
  {
    name: "parallel_tool_calls has no equivalent",
    body: { tools: [fn("f")], parallel_tool_calls: false },
    dropped: ["parallel_tool_calls"],
  },
  {
    name: "only a custom tool is refused",
    body: { tools: [{ type: "custom", custom: { name: "c" } }] },
    param: "tools[0]",
  },
  {
    name: "an empty list of tools becomes no list",
    body: { tools: [], tool_choice: "auto" },
    arrives: { tools: undefined, toolConfig: undefined },
  },
  {
    name:
      "results of consecutive messages are combined, each under its function's name",
    body: {
      messages: [
        { role: "user", content: "a" },
        {
          role: "assistant",
          content: "x",
          tool_calls: [call("c1", "f", ""), call("c2", "g", "[1]")],
        },
        { role: "tool", tool_call_id: "c2", content: "two" },
        {
          role: "tool",
          tool_call_id: "c1",
          content: [{ type: "text", text: "one" }],
        },
        { role: "user", content: "go" },
      ],
    },
    arrives: {
      contents: [
        user({ text: "a" }),
        model(
          { text: "x" },
          {
            functionCall: { id: "c1", name: "f", args: {} },
            thoughtSignature: SENTINEL,
          },
          {
            functionCall: {
              id: "c2",
              name: "g",
              args: { __raw_arguments: "[1]" },
            },
          },
        ),
        user({
          functionResponse: {
            id: "c1",
            name: "f",
            response: { output: "one" },
          },
        }, {
          functionResponse: {
            id: "c2",
            name: "g",
            response: { output: "two" },
          },
        }),
        user({ text: "go" }),
      ],
    },
    dropped: ["messages[].tool_calls[].function.arguments"],
  },
  {
    name: "the signature of a reply is sent back on its call",
    body: {
      messages: [
        { role: "user", content: "a" },
        {
          role: "assistant",
          content: null,
          tool_calls: [
            call("c1", "f", "{}", {
              extra_content: { google: { thought_signature: "G" } },
            }),
          ],
        },
        { role: "tool", tool_call_id: "c1", content: "x" },
      ],
    },
    arrives: { "contents[1].parts[0].thoughtSignature": "G" },
  },
  {
    name: "the deprecated functions fields",
    body: {
      functions: [{
        name: "f",
        parameters: { type: "object", properties: { a: { type: "string" } } },
      }],
      function_call: "auto",
      messages: [{ role: "user", content: "a" }, {
        role: "assistant",
        content: null,
        function_call: { name: "f", arguments: "{}" },
      }, { role: "function", name: "f", content: "ok" }],
    },
    arrives: {
      "contents[2].parts": [{
        functionResponse: {
          id: "call_1",
          name: "f",
          response: { output: "ok" },
        },
      }],
    },
    dropped: ["functions"],
  },
  {
    name: "JSON without a schema sets the media type only",
    body: { response_format: { type: "json_object" } },
    arrives: { generationConfig: { responseMimeType: "application/json" } },
  },
  {
    name: "JSON with a schema",
    body: {
      response_format: {
        type: "json_schema",
        json_schema: { name: "r", strict: true, schema: HARD_SCHEMA },
      },
    },
    arrives: {
      generationConfig: {
        responseMimeType: "application/json",
        responseJsonSchema: HARD_SCHEMA,
      },
    },
  },
  level("effort minimal on a model that supports it", {
    reasoning_effort: "minimal",
  }, {
    thinkingLevel: "minimal",
    includeThoughts: true,
  }),
  level("effort xhigh is the highest level", { reasoning_effort: "xhigh" }, {
    thinkingLevel: "high",
    includeThoughts: true,
  }),
  level("effort medium is high on a model that supports only low and high", {
    model: "two levels",
    reasoning_effort: "medium",
  }, { thinkingLevel: "high", includeThoughts: true }),
  level("effort none is the lowest level, and reported", {
    reasoning_effort: "none",
  }, {
    thinkingLevel: "minimal",
  }, ["reasoning_effort"]),
];

const EXACT: readonly RequestRow[] = [
  {
    name:
      "an integer beyond double precision keeps its digits in a call's arguments",
    body: {
      messages: [
        { role: "user", content: "a" },
        {
          role: "assistant",
          content: null,
          tool_calls: [call("c1", "f", '{"id":12345678901234567890}')],
        },
        {
          role: "tool",
          tool_call_id: "c1",
          content: '{"id":12345678901234567890}',
        },
      ],
    },
    arrivesContaining: [
      `"args":{"id":12345678901234567890}`,
      `{"output":"{\\"id\\":12345678901234567890}"}`,
    ],
  },
  {
    name: "a seed of more than 32 bits is dropped and named",
    body: { seed: 1_763_700_000_000 },
    arrives: { generationConfig: undefined },
    dropped: ["seed"],
  },
];

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
