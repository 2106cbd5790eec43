/** Requests in the chat format, as an upstream of the messages format receives them. */
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

/** By what sets the models of this format apart. */
const MODELS: RequestTable["models"] = {
  budget: { maxOutputTokens: 64_000, defaultMaxTokens: 16_000 },
  adaptive: {
    sampling: "none",
    reasoning: "adaptive",
    prefill: false,
    systemAnywhere: true,
    efforts: ["low", "medium", "high", "xhigh", "max"],
  },
  "no xhigh": {
    reasoning: "adaptive",
    efforts: ["low", "medium", "high", "max"],
  },
};
const BASE = {
  model: "budget",
  messages: [{ role: "user", content: "hi" }],
};
const tool = (name: string, rest: object = {}) => ({
  type: "function",
  function: { name, description: "d", parameters: HARD_SCHEMA, ...rest },
});
const call = (id: string, name: string, args = "{}") => ({
  id,
  type: "function",
  function: { name, arguments: args },
});
const result = (id: string, content: unknown) => ({
  role: "tool",
  tool_call_id: id,
  content,
});
const user = (content: unknown) => ({ role: "user", content });
const HI = { role: "user", content: [{ type: "text", text: "hi" }] };
const text = (value: string) => ({ type: "text", text: value });

const PLAIN: readonly RequestRow[] = [
  {
    name: "the smallest request gets the model's output limit",
    body: {},
    arrives: {
      model: "budget",
      max_tokens: 16_000,
      messages: [HI],
      system: undefined,
      tools: undefined,
      tool_choice: undefined,
      stream: undefined,
      stream_options: undefined,
      temperature: undefined,
      thinking: undefined,
      metadata: undefined,
    },
  },
  {
    name: "max_completion_tokens takes precedence over max_tokens",
    body: { max_completion_tokens: 7, max_tokens: 9 },
    arrives: { max_tokens: 7 },
  },
  {
    name: "max_tokens alone",
    body: { max_tokens: 9 },
    arrives: { max_tokens: 9 },
  },
  {
    name: "a null limit counts as absent",
    body: { max_tokens: null },
    arrives: { max_tokens: 16_000 },
  },
  {
    name: "a limit above the model's is lowered and reported",
    body: { max_tokens: 999_999 },
    arrives: { max_tokens: 64_000 },
    dropped: ["max_tokens"],
  },
  {
    name: "a limit of 0 is refused",
    body: { max_tokens: 0 },
    param: "max_tokens",
  },
  {
    name: "a stream, without stream_options",
    body: { stream: true, stream_options: { include_usage: true } },
    arrives: { stream: true, stream_options: undefined },
  },
  {
    name: "a high temperature is lowered, not scaled",
    body: { temperature: 1.6 },
    arrives: { temperature: 1 },
    dropped: ["temperature"],
  },
  {
    name: "a temperature of zero stays",
    body: { temperature: 0 },
    arrives: { temperature: 0 },
  },
  { name: "a top_p of zero stays", body: { top_p: 0 }, arrives: { top_p: 0 } },
  {
    name: "of temperature and top_p only temperature is kept",
    body: { temperature: 0.5, top_p: 0.9 },
    arrives: { temperature: 0.5, top_p: undefined },
    dropped: ["top_p"],
  },
  {
    name: "a model without sampling fields receives none",
    body: { model: "adaptive", temperature: 0, top_p: 1, top_k: 3 },
    arrives: { temperature: undefined, top_p: undefined, top_k: undefined },
    dropped: ["temperature", "top_p", "top_k"],
  },
  {
    name: "a top_k extension is copied",
    body: { top_k: 3 },
    arrives: { top_k: 3 },
  },
  {
    name: "one stop string becomes a list",
    body: { stop: "END" },
    arrives: { stop_sequences: ["END"] },
  },
  {
    name: "blank stop strings are removed",
    body: { stop: ["\n", "", "END"] },
    arrives: { stop_sequences: ["END"] },
    dropped: ["stop"],
  },
  {
    name: "only blank stop strings leave no list",
    body: { stop: "\n\n" },
    arrives: { stop_sequences: undefined },
    dropped: ["stop"],
  },
  {
    name:
      "leading system and developer messages are the system prompt, part by part",
    body: {
      messages: [{ role: "system", content: "A." }, {
        role: "developer",
        content: [text("B."), text("C.")],
      }, user("hi")],
    },
    arrives: { system: [text("A."), text("B."), text("C.")], messages: [HI] },
  },
  {
    name: "a system prompt alone becomes a user message",
    body: { messages: [{ role: "system", content: "A." }] },
    arrives: {
      system: undefined,
      messages: [{ role: "user", content: [text("A.")] }],
    },
  },
  {
    name: "a later system message becomes marked user text at its position",
    body: {
      messages: [user("a"), { role: "assistant", content: "b" }, {
        role: "system",
        content: "S",
      }, user("c")],
    },
    arrives: {
      system: undefined,
      "messages[2]": {
        role: "user",
        content: [text("<system-reminder>\nS\n</system-reminder>"), text("c")],
      },
    },
  },
  {
    name:
      "a later system message stays in place if the model supports it, with the beta header",
    body: {
      model: "adaptive",
      messages: [user("a"), { role: "assistant", content: "b" }, {
        role: "developer",
        content: "S",
      }, user("c")],
    },
    arrives: { "messages[2]": { role: "system", content: [text("S")] } },
    arrivesWithHeaders: {
      "anthropic-beta": "mid-conversation-system-2026-04-07",
    },
  },
  {
    name: "empty texts and turns are removed, neighbours merge",
    body: {
      messages: [
        user("a"),
        { role: "assistant", content: "" },
        user([text(""), text("b")]),
        { role: "assistant", content: "c" },
        { role: "assistant", content: "d" },
        user("e"),
      ],
    },
    arrives: {
      messages: [
        { role: "user", content: [text("a"), text("b")] },
        { role: "assistant", content: [text("c"), text("d")] },
        { role: "user", content: [text("e")] },
      ],
    },
  },
  {
    name: "a request with only empty content is refused",
    body: { messages: [user("")] },
    param: "messages",
  },
  {
    name: "a prefilled answer loses its trailing white space",
    body: { messages: [user("a"), { role: "assistant", content: "So: \n" }] },
    arrives: {
      "messages[1]": { role: "assistant", content: [text("So:")] },
      "messages[2]": undefined,
    },
  },
  {
    name: "a model without prefill is asked to continue",
    body: {
      model: "adaptive",
      messages: [user("a"), { role: "assistant", content: "So:" }],
    },
    arrives: { "messages[2]": { role: "user", content: [text("Continue.")] } },
  },
  {
    name: "images keep their declared type, in any spelling of a data URL",
    body: {
      messages: [user([
        text("what?"),
        {
          type: "image_url",
          image_url: { url: `data:image/png;base64,${PNG}`, detail: "auto" },
        },
        {
          type: "image_url",
          image_url: { url: "DATA:image/JPG;charset=utf-8;BASE64,AA==" },
        },
        {
          type: "image_url",
          image_url: { url: "https://x.test/a", detail: "high" },
        },
      ])],
    },
    arrives: {
      "messages[0].content": [
        text("what?"),
        {
          type: "image",
          source: { type: "base64", media_type: "image/png", data: PNG },
        },
        {
          type: "image",
          source: { type: "base64", media_type: "image/jpeg", data: "AA==" },
        },
        { type: "image", source: { type: "url", url: "https://x.test/a" } },
      ],
    },
    dropped: ["messages[].content[].image_url.detail"],
  },
  {
    name: "an image of an unsupported type is refused",
    body: {
      messages: [
        user([{
          type: "image_url",
          image_url: { url: "data:image/bmp;base64,AA==" },
        }]),
      ],
    },
    param: "messages[0].content[0]",
  },
  {
    name: "a PDF and a text file become documents",
    body: {
      messages: [user([
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
      ])],
    },
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
    name: "a file id is refused, and its path is named",
    body: {
      messages: [
        user([text("a"), { type: "file", file: { file_id: "file-1" } }]),
      ],
    },
    param: "messages[0].content[1].file.file_id",
  },
  {
    name: "audio is refused",
    body: {
      messages: [
        user([{
          type: "input_audio",
          input_audio: { data: "AA==", format: "wav" },
        }]),
      ],
    },
    param: "messages[0].content[0]",
  },
  {
    name: "an unknown part is refused, and its path is named",
    body: {
      messages: [user([{ type: "video_url", video_url: { url: "u" } }])],
    },
    param: "messages[0].content[0]",
  },
  {
    name: "a user id is copied",
    body: { user: "user-1" },
    arrives: { metadata: { user_id: "user-1" }, user: undefined },
  },
  {
    name: "safety_identifier takes precedence over user",
    body: { user: "a", safety_identifier: "b" },
    arrives: { metadata: { user_id: "b" } },
    dropped: ["user"],
  },
  {
    name: "an e-mail address as user id is not forwarded",
    body: { user: "a.b@example.com" },
    arrives: { metadata: undefined },
    dropped: ["user"],
  },
  {
    name: "service tiers",
    body: { service_tier: "default" },
    arrives: { service_tier: "standard_only" },
  },
  {
    name: "a service tier without an equivalent is dropped",
    body: { service_tier: "flex" },
    arrives: { service_tier: undefined },
    dropped: ["service_tier"],
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
  { name: "n above 1 is refused", body: { n: 2 }, param: "n" },
  {
    name: "audio output is refused",
    body: {
      modalities: ["text", "audio"],
      audio: { voice: "x", format: "wav" },
    },
    param: "modalities",
  },
  {
    name: "a web search is refused",
    body: { web_search_options: {} },
    param: "web_search_options",
  },
  {
    name: "a name on a message is dropped and named",
    body: { messages: [{ role: "user", name: "Ann", content: "hi" }] },
    arrives: { messages: [HI] },
    dropped: ["messages[].name"],
  },
];

const TOOLS: readonly RequestRow[] = [
  {
    name: "a schema is forwarded unchanged",
    body: { tools: [tool("f")] },
    arrives: {
      tools: [{ name: "f", description: "d", input_schema: HARD_SCHEMA }],
      tool_choice: undefined,
    },
  },
  {
    name:
      "no schema, an empty one and one without a type become object schemas",
    body: {
      tools: [
        { type: "function", function: { name: "a" } },
        { type: "function", function: { name: "b", parameters: {} } },
        {
          type: "function",
          function: {
            name: "c",
            parameters: { properties: { x: { type: "string" } } },
          },
        },
      ],
    },
    arrives: {
      tools: [
        { name: "a", input_schema: { type: "object", properties: {} } },
        { name: "b", input_schema: { type: "object", properties: {} } },
        {
          name: "c",
          input_schema: {
            type: "object",
            properties: { x: { type: "string" } },
          },
        },
      ],
    },
  },
  {
    name: "tool choice: auto",
    body: { tools: [tool("f")], tool_choice: "auto" },
    arrives: { tool_choice: { type: "auto" } },
  },
  {
    name: "tool choice: required",
    body: { tools: [tool("f")], tool_choice: "required" },
    arrives: { tool_choice: { type: "any" } },
  },
  {
    name: "tool choice: none, with the tools",
    body: {
      tools: [tool("f")],
      tool_choice: "none",
      parallel_tool_calls: false,
    },
    arrives: { tool_choice: { type: "none" }, "tools[0].name": "f" },
  },
  {
    name: "tool choice: one by name",
    body: {
      tools: [tool("f")],
      tool_choice: { type: "function", function: { name: "f" } },
    },
    arrives: { tool_choice: { type: "tool", name: "f" } },
  },
  {
    name: "tool choice: allowed tools reduce the list",
    body: {
      tools: [tool("f"), tool("g")],
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: {
          mode: "required",
          tools: [{ type: "function", function: { name: "g" } }],
        },
      },
    },
    arrives: {
      tool_choice: { type: "any" },
      "tools[0].name": "g",
      "tools[1]": undefined,
    },
  },
  {
    name: "tool choice: unknown allowed tools keep the list",
    body: {
      tools: [tool("f"), tool("g")],
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: {
          mode: "auto",
          tools: [{ type: "function", function: { name: "x" } }],
        },
      },
    },
    arrives: {
      tool_choice: { type: "auto" },
      "tools[0].name": "f",
      "tools[1].name": "g",
    },
  },
  {
    name: "no parallel calls",
    body: { tools: [tool("f")], parallel_tool_calls: false },
    arrives: { tool_choice: { type: "auto", disable_parallel_tool_use: true } },
  },
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
    name: "allowed parallel calls send no field",
    body: { tools: [tool("f")], parallel_tool_calls: true },
    arrives: { tool_choice: undefined },
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
    name: "only a custom tool is refused",
    body: { tools: [{ type: "custom", custom: { name: "c" } }] },
    param: "tools[0]",
  },
  {
    name: "a custom tool among others is dropped",
    body: { tools: [{ type: "custom", custom: { name: "c" } }, tool("f")] },
    arrives: { "tools[0].name": "f" },
    dropped: ["tools[0]"],
  },
  {
    name: "a custom tool that must be called is refused",
    body: {
      tools: [{ type: "custom", custom: { name: "c" } }, tool("f")],
      tool_choice: { type: "custom", custom: { name: "c" } },
    },
    param: "tool_choice",
  },
  {
    name:
      "parallel results and the user's next text are one turn, results first",
    body: {
      tools: [tool("f")],
      messages: [
        user("a"),
        {
          role: "assistant",
          content: "x",
          tool_calls: [call("c1", "f", '{"a":1}'), call("c2", "f", "")],
        },
        { role: "system", content: "S" },
        result("c1", "one"),
        result("c2", [text("two"), text("three")]),
        user("go on"),
      ],
    },
    arrives: {
      messages: [
        { role: "user", content: [text("a")] },
        {
          role: "assistant",
          content: [
            text("x"),
            { type: "tool_use", id: "c1", name: "f", input: { a: 1 } },
            { type: "tool_use", id: "c2", name: "f", input: {} },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "c1", content: [text("one")] },
            {
              type: "tool_result",
              tool_use_id: "c2",
              content: [text("two"), text("three")],
            },
            text("<system-reminder>\nS\n</system-reminder>"),
            text("go on"),
          ],
        },
      ],
    },
  },
  {
    name: "a result with an image keeps it, an empty one has no content",
    body: {
      tools: [tool("f")],
      messages: [
        user("a"),
        {
          role: "assistant",
          content: null,
          tool_calls: [call("c1", "f"), call("c2", "f")],
        },
        result("c1", [{
          type: "image_url",
          image_url: { url: `data:image/png;base64,${PNG}` },
        }]),
        result("c2", ""),
      ],
    },
    arrives: {
      "messages[2].content": [
        {
          type: "tool_result",
          tool_use_id: "c1",
          content: [{
            type: "image",
            source: { type: "base64", media_type: "image/png", data: PNG },
          }],
        },
        { type: "tool_result", tool_use_id: "c2" },
      ],
    },
  },
  {
    name: "malformed arguments are wrapped and reported",
    body: {
      tools: [tool("f")],
      messages: [user("a"), {
        role: "assistant",
        tool_calls: [call("c1", "f", '{"a":')],
      }, result("c1", '{"error":1}')],
    },
    arrives: {
      "messages[1].content[0].input": { __raw_arguments: '{"a":' },
      "messages[2].content[0].is_error": undefined,
    },
    dropped: ["messages[].tool_calls[].function.arguments"],
  },
  {
    name:
      "integers beyond double precision keep their digits in a call's arguments",
    body: {
      tools: [tool("f")],
      messages: [user("a"), {
        role: "assistant",
        tool_calls: [call("c1", "f", '{"id":12345678901234567890}')],
      }, result("c1", "x")],
    },
    arrives: { "messages[1].content[0].name": "f" },
    arrivesContaining: [`"input":{"id":12345678901234567890}`],
  },
  {
    name:
      "tools named only in the history get stub definitions that cannot be called",
    body: {
      messages: [
        user("a"),
        { role: "assistant", tool_calls: [call("c1", "f")] },
        result("c1", "x"),
        user("b"),
      ],
    },
    arrives: {
      tools: [{ name: "f", input_schema: { type: "object", properties: {} } }],
      tool_choice: { type: "none" },
    },
  },
  {
    name:
      "call ids with invalid characters are replaced in call and result alike, and repeated ones stay distinct",
    body: {
      tools: [tool("f")],
      messages: [
        user("a"),
        { role: "assistant", tool_calls: [call("functions.f:0", "f")] },
        result("functions.f:0", "x"),
        { role: "assistant", tool_calls: [call("functions.f:0", "f")] },
        result("functions.f:0", "y"),
      ],
    },
    arrives: {
      "messages[1].content[0].id": "call_d6bdd4de328a22edd610f9548b4f419f",
      "messages[2].content[0].tool_use_id":
        "call_d6bdd4de328a22edd610f9548b4f419f",
      "messages[3].content[0].id": "call_d6bdd4de328a22edd610f9548b4f419f_1",
      "messages[4].content[0].tool_use_id":
        "call_d6bdd4de328a22edd610f9548b4f419f_1",
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
      "messages[1].content": [{
        type: "tool_use",
        id: "call_1",
        name: "f",
        input: { a: 1 },
      }],
      "messages[2].content": [{
        type: "tool_result",
        tool_use_id: "call_1",
        content: [text("ok")],
      }],
    },
  },
  {
    name: "nulls that client libraries send back drop nothing",
    body: {
      messages: [user("a"), {
        role: "assistant",
        content: "b",
        refusal: null,
        annotations: [],
        audio: null,
        function_call: null,
        tool_calls: null,
      }, user("c")],
    },
    arrives: { "messages[1].content": [text("b")] },
  },
  {
    name: "a refusal becomes text",
    body: {
      messages: [user("a"), {
        role: "assistant",
        content: null,
        refusal: "No.",
      }, user("c")],
    },
    arrives: { "messages[1].content": [text("No.")] },
  },
];

const effort = (
  name: string,
  body: RequestRow["body"],
  arrives: Record<string, unknown>,
  dropped: readonly string[] = [],
): RequestRow => ({ name, body, arrives, dropped });
const strict = {
  type: "object",
  properties: {
    n: { type: "integer", minimum: 1, description: "N" },
    pattern: { oneOf: [{ type: "string", pattern: "a" }, { type: "null" }] },
  },
  required: ["n"],
};
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
  effort("effort low is a budget", { reasoning_effort: "low" }, {
    thinking: { type: "enabled", budget_tokens: 2048 },
    output_config: undefined,
  }),
  effort("effort minimal is the smallest budget", {
    reasoning_effort: "minimal",
  }, {
    "thinking.budget_tokens": 1024,
  }),
  effort("effort medium is a budget", { reasoning_effort: "medium" }, {
    "thinking.budget_tokens": 8192,
  }),
  effort("effort high is a budget", { reasoning_effort: "high" }, {
    "thinking.budget_tokens": 16384,
  }),
  effort("effort xhigh is a budget", { reasoning_effort: "xhigh" }, {
    "thinking.budget_tokens": 32000,
  }),
  effort("effort none disables thinking", { reasoning_effort: "none" }, {
    thinking: { type: "disabled" },
  }),
  effort("a budget stays below the client's output limit", {
    reasoning_effort: "high",
    max_completion_tokens: 4000,
  }, { max_tokens: 4000, "thinking.budget_tokens": 2976 }),
  effort(
    "an output limit too small for any budget means no thinking",
    { reasoning_effort: "high", max_tokens: 1024 },
    { max_tokens: 1024, thinking: undefined },
    ["reasoning_effort"],
  ),
  effort("newer models receive the effort, with adaptive thinking", {
    model: "adaptive",
    reasoning_effort: "high",
  }, { thinking: { type: "adaptive" }, output_config: { effort: "high" } }),
  effort("newer models receive minimal as low", {
    model: "adaptive",
    reasoning_effort: "minimal",
  }, { "output_config.effort": "low" }),
  effort("xhigh is max on a model that supports only max", {
    model: "no xhigh",
    reasoning_effort: "xhigh",
  }, { "output_config.effort": "max" }),
  effort("xhigh on a model that supports it", {
    model: "adaptive",
    reasoning_effort: "xhigh",
  }, { "output_config.effort": "xhigh" }),
  effort("none disables thinking on models that think by default", {
    model: "adaptive",
    reasoning_effort: "none",
  }, { thinking: { type: "disabled" } }),
  effort(
    "reasoning excludes sampling fields",
    { reasoning_effort: "low", temperature: 0.2 },
    { temperature: undefined },
    ["temperature"],
  ),
  effort(
    "a forced tool call excludes reasoning",
    { reasoning_effort: "low", tools: [tool("f")], tool_choice: "required" },
    { thinking: undefined, tool_choice: { type: "any" } },
    ["reasoning_effort"],
  ),
  effort("no thinking display unless requested", { reasoning_effort: "low" }, {
    "thinking.display": undefined,
  }),
  {
    name:
      "signed thoughts are sent back in order, empty and encrypted ones too",
    body: {
      messages: [
        user("a"),
        {
          role: "assistant",
          content: "b",
          reasoning_content: "T1",
          reasoning_details: [
            {
              type: "reasoning.text",
              text: "T1",
              signature: "S1",
              format: "anthropic-claude-v1",
              index: 0,
            },
            {
              type: "reasoning.encrypted",
              data: "D",
              format: "anthropic-claude-v1",
              index: 1,
            },
            {
              type: "reasoning.text",
              text: "",
              signature: "S2",
              format: "anthropic-claude-v1",
              index: 2,
            },
          ],
        },
        user("c"),
      ],
    },
    arrives: {
      "messages[1].content": [
        { type: "thinking", thinking: "T1", signature: "S1" },
        { type: "redacted_thinking", data: "D" },
        { type: "thinking", thinking: "", signature: "S2" },
        text("b"),
      ],
    },
  },
  {
    name: "unsigned thoughts are left out, and no signature is made up",
    body: {
      messages: [user("a"), {
        role: "assistant",
        content: "b",
        reasoning_content: "T",
      }, user("c")],
    },
    arrives: { "messages[1].content": [text("b")] },
  },
  {
    name: "structured output within the format's subset",
    body: {
      response_format: {
        type: "json_schema",
        json_schema: { name: "r", strict: true, schema: strict },
      },
    },
    arrives: {
      output_config: { format: { type: "json_schema", schema: BOUND } },
      tools: undefined,
    },
  },
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
  {
    name: "JSON without a schema is requested in the prompt, and reported",
    body: { response_format: { type: "json_object" } },
    arrives: {
      system: [
        text("Reply with one JSON object only: no other text, no code fence."),
      ],
      output_config: undefined,
    },
    dropped: ["response_format"],
  },
  {
    name: "response format text sends no field",
    body: { response_format: { type: "text" } },
    arrives: { output_config: undefined, system: undefined },
  },
  {
    name: "an unknown response format is refused",
    body: { response_format: { type: "grammar", grammar: "x" } },
    param: "response_format",
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
