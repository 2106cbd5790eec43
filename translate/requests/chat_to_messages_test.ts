/** Requests in the chat format, as an upstream of the messages format receives them. */
import {
  calling,
  chatCall,
  HARD_SCHEMA,
  LONG_NAME,
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

/** The kinds of models of this format that differ in translation. */
const MODELS: RequestTable["models"] = {
  budget: { maxOutputTokens: 64_000, defaultMaxTokens: 16_000 },
  adaptive: {
    sampling: "none",
    reasoning: "adaptive",
    prefill: false,
    systemAnywhere: true,
    efforts: ["low", "medium", "high", "xhigh", "max"],
  },
};
const BASE = {
  model: "budget",
  messages: [user("hi")],
};
const tool = (name: string, rest: object = {}) => ({
  type: "function",
  function: { name, description: "d", parameters: HARD_SCHEMA, ...rest },
});
const HI = user(text("hi"));

const PLAIN: readonly RequestRow[] = [
  {
    name: "max_tokens alone",
    body: { max_tokens: 9 },
    arrives: { max_tokens: 9 },
  },
  {
    name:
      "leading system and developer messages are the system prompt, part by part",
    body: messagesOf({ role: "system", content: "A." }, {
      role: "developer",
      content: [text("B."), text("C.")],
    }, user("hi")),
    arrives: { system: [text("A."), text("B."), text("C.")], messages: [HI] },
  },
  {
    name: "a system prompt alone becomes a user message",
    body: messagesOf({ role: "system", content: "A." }),
    arrives: {
      system: undefined,
      messages: [user(text("A."))],
    },
  },
  {
    name: "a request with only empty content is refused",
    body: messagesOf(user("")),
    param: "messages",
  },
  {
    name: "a PDF and a text file become documents",
    body: messagesOf(user(
      {
        type: "file",
        file: {
          filename: "a.pdf",
          file_data: `data:application/pdf;base64,${PDF}`,
        },
      },
      {
        type: "file",
        file: { filename: "a.txt", file_data: "data:text/plain;base64,aGk=" },
      },
    )),
    arrives: {
      "messages[0].content": [
        {
          type: "document",
          source: { type: "base64", media_type: "application/pdf", data: PDF },
          title: "a.pdf",
        },
        {
          type: "document",
          source: { type: "text", media_type: "text/plain", data: "hi" },
          title: "a.txt",
        },
      ],
    },
  },
  {
    name: "optional fields without an equivalent are dropped and named",
    body: {
      seed: 1,
      logprobs: true,
      top_logprobs: 2,
      logit_bias: { 1: 1 },
      presence_penalty: 1,
      frequency_penalty: -1,
      prediction: { type: "content", content: "x" },
      verbosity: "low",
      metadata: { a: "b" },
      store: true,
      prompt_cache_key: "k",
      x_unknown: 1,
    },
    dropped: [
      "seed",
      "logprobs",
      "logit_bias",
      "presence_penalty",
      "frequency_penalty",
      "prediction",
      "verbosity",
      "metadata",
      "store",
      "prompt_cache_key",
      "x_unknown",
    ],
  },
  {
    name: "penalties of zero and nulls drop nothing",
    body: {
      presence_penalty: 0,
      frequency_penalty: 0,
      n: 1,
      seed: null,
      stop: null,
      tools: null,
      tool_choice: null,
      response_format: null,
      user: null,
      logit_bias: null,
      modalities: ["text"],
    },
  },
];

const TOOLS: readonly RequestRow[] = [
  {
    name: "no parallel calls, one call required",
    body: {
      tools: [tool("f")],
      parallel_tool_calls: false,
      tool_choice: "required",
    },
    arrives: { tool_choice: { type: "any", disable_parallel_tool_use: true } },
  },
  {
    name: "without tools there is no tool choice",
    body: { tools: [], parallel_tool_calls: false, tool_choice: "auto" },
    arrives: { tools: undefined, tool_choice: undefined },
  },
  {
    name:
      "a tool name too long for the chat format is kept up to 128 characters",
    body: { tools: [tool(LONG_NAME)] },
    arrives: { "tools[0].name": LONG_NAME },
  },
  {
    name: "a result with an image keeps it, an empty one has no content",
    body: {
      tools: [tool("f")],
      messages: [
        user("a"),
        calling(null, chatCall("c1", "f"), chatCall("c2", "f")),
        toolMessage("c1", [{
          type: "image_url",
          image_url: { url: `data:image/png;base64,${PNG}` },
        }]),
        toolMessage("c2", ""),
      ],
    },
    arrives: {
      "messages[2].content": [
        toolResult("c1", [{
          type: "image",
          source: { type: "base64", media_type: "image/png", data: PNG },
        }]),
        { type: "tool_result", tool_use_id: "c2" },
      ],
    },
  },
  {
    name: "the deprecated functions fields",
    body: {
      functions: [{ name: "f", description: "d", parameters: HARD_SCHEMA }],
      function_call: { name: "f" },
      messages: [user("a"), {
        role: "assistant",
        content: null,
        function_call: { name: "f", arguments: '{"a":1}' },
      }, { role: "function", name: "f", content: "ok" }],
    },
    arrives: {
      tools: [{ name: "f", description: "d", input_schema: HARD_SCHEMA }],
      tool_choice: { type: "tool", name: "f", disable_parallel_tool_use: true },
      "messages[1].content": [toolUse("call_1", "f", { a: 1 })],
      "messages[2].content": [toolResult("call_1", [text("ok")])],
    },
  },
  {
    name: "nulls that client libraries send back drop nothing",
    body: messagesOf(user("a"), {
      role: "assistant",
      content: "b",
      refusal: null,
      annotations: [],
      audio: null,
      function_call: null,
      tool_calls: null,
    }, user("c")),
    arrives: { "messages[1].content": [text("b")] },
  },
  {
    name: "a refusal becomes text",
    body: messagesOf(user("a"), {
      role: "assistant",
      content: null,
      refusal: "No.",
    }, user("c")),
    arrives: { "messages[1].content": [text("No.")] },
  },
];

const effort = (
  name: string,
  body: RequestRow["body"],
  arrives: Record<string, unknown>,
  dropped: readonly string[] = [],
): RequestRow => ({ name, body, arrives, dropped });
const strict = objectOf({
  n: { type: "integer", minimum: 1, description: "N" },
  pattern: { oneOf: [{ type: "string", pattern: "a" }, { type: "null" }] },
}, "n");
const BOUND = {
  type: "object",
  properties: {
    n: { type: "integer", description: "N\n\n{minimum: 1}" },
    pattern: {
      anyOf: [{ type: "string", description: '{pattern: "a"}' }, {
        type: "null",
      }],
    },
  },
  required: ["n"],
  additionalProperties: false,
};

const REASONING: readonly RequestRow[] = [
  effort("effort minimal is the smallest budget", {
    reasoning_effort: "minimal",
  }, {
    "thinking.budget_tokens": 1024,
  }),
  effort("effort medium is a budget", { reasoning_effort: "medium" }, {
    "thinking.budget_tokens": 8192,
  }),
  effort("effort xhigh is a budget", { reasoning_effort: "xhigh" }, {
    "thinking.budget_tokens": 32000,
  }),
  effort("newer models receive the effort, with adaptive thinking", {
    model: "adaptive",
    reasoning_effort: "high",
  }, { thinking: { type: "adaptive" }, output_config: { effort: "high" } }),
  effort("xhigh on a model that supports it", {
    model: "adaptive",
    reasoning_effort: "xhigh",
  }, { "output_config.effort": "xhigh" }),
  {
    name: "a strict tool within the format's subset",
    body: {
      tools: [{
        type: "function",
        function: { name: "f", strict: true, parameters: strict },
      }],
    },
    arrives: { tools: [{ name: "f", strict: true, input_schema: BOUND }] },
  },
];

Deno.test("requests in the chat format are written for a messages upstream", async (t) => {
  const table = {
    from: "chat_completions",
    to: "messages",
    base: BASE,
    models: MODELS,
  } as const;
  await checkRows(t, table, [
    ...PLAIN,
    ...TOOLS,
    ...REASONING,
  ]);
});
