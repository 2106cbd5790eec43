import assert from "node:assert/strict";
import {
  type Capabilities,
  DEFAULT_CAPABILITIES,
} from "../../model/capabilities.ts";
import { ApiError } from "../../model/error.ts";
import { arrayOr, objectOr } from "../../bytes/json.ts";
import { sha256 } from "../../turns/names.ts";
import type { GenerationRequest, Part } from "../../model/request.ts";
import type { FieldNames } from "../../model/field_names.ts";
import { SETTING_RULES, settingNames } from "../../model/settings.ts";
import { chatCompletions } from "./mod.ts";
import {
  calling,
  chatCall,
  chatTool,
  imageAt,
  objectOf,
  text,
  toolMessage,
} from "../../testing/request_samples.ts";
import {
  imagePart,
  reasoning,
  result,
  turn,
} from "../../testing/sample_request.ts";
import { refusalOf } from "../../testing/refusal_of.ts";
import type { EncodedRequest } from "../../dialect.ts";
import { atOnce } from "../../steps.ts";

/** The field names of a client of the messages format. */
const WORDS: FieldNames = {
  ...settingNames((setting) => SETTING_RULES[setting].name),
  image: "image",
  document: "document",
  audio: "input_audio",
  arguments: "messages[].content[].input",
  messages: "messages",
  system: "system",
  tools: "tools",
  toolChoice: "tool_choice",
  parallelTools: "tool_choice.disable_parallel_tool_use",
  stop: "stop_sequences",
  format: "output_config.format",
  reasoning: "thinking",
  user: "metadata.user_id",
  promptCache: "prompt_cache_options",
};
const PLAIN: GenerationRequest = {
  model: "up",
  stream: false,
  system: [],
  turns: [turn("user", text("Hi"))],
  wantUsage: false,
  fieldNames: WORDS,
  unknownFields: [],
  essential: [],
};
const CAN = DEFAULT_CAPABILITIES.chat_completions;

function encode(
  fields: Partial<GenerationRequest>,
  can: Partial<Capabilities> = {},
): EncodedRequest {
  return atOnce(chatCompletions.encodeRequest({ ...PLAIN, ...fields }, {
    ...CAN,
    ...can,
  }));
}

function messagesOf(
  turns: GenerationRequest["turns"],
  can: Partial<Capabilities> = {},
): unknown {
  return encode({ turns }, can).body["messages"];
}

function refusal(
  fields: Partial<GenerationRequest>,
  can: Partial<Capabilities> = {},
): ApiError {
  return refusalOf(() => encode(fields, can));
}

const user = (...parts: Part[]) => ({ role: "user", parts } as const);
const assistant = (...parts: Part[]) => ({ role: "assistant", parts } as const);
const call = (id: string, name = "f", args = "{}") =>
  ({ type: "tool_call", id, name, arguments: args }) as const;
const PNG = imagePart("image/png", "AAAA");
const PNG_PART = {
  type: "image_url",
  image_url: { url: "data:image/png;base64,AAAA" },
};

Deno.test("encodeRequest() joins system blocks with a blank line and leaves the billing header out", () => {
  const { body, dropped } = encode({
    system: [
      text("x-anthropic-billing-header: cc_version=1; cch=abc;"),
      text("You are A."),
      text(""),
      text("Do B."),
    ],
  });
  assert.deepEqual(body["messages"], [
    { role: "system", content: "You are A.\n\nDo B." },
    { role: "user", content: "Hi" },
  ]);
  assert.deepEqual(dropped, []);
});

Deno.test("encodeRequest() puts tool messages directly after the calls, before user and system text", () => {
  const turns = [
    assistant(text("Look"), text("ing."), call("t1"), call("t2", "g", "")),
    turn("system", text("reminder")),
    user(
      text("and then"),
      result("t1", text("1"), text("2")),
    ),
    user(result("t2")),
  ];
  assert.deepEqual(messagesOf(turns), [
    calling("Looking.", chatCall("t1"), chatCall("t2", "g")),
    toolMessage("t1", "1\n2"),
    toolMessage("t2", ""),
    { role: "system", content: "reminder" },
    { role: "user", content: "and then" },
  ]);
});

Deno.test("encodeRequest() keeps malformed arguments as the model wrote them", () => {
  assert.deepEqual(messagesOf([assistant(call("a", "f", '{"x":'))]), [
    calling(null, chatCall("a", "f", '{"x":')),
  ]);
});

Deno.test("encodeRequest() marks failed results", () => {
  const result = (...content: { type: "text"; text: string }[]) =>
    messagesOf([user({ type: "tool_result", id: "a", content, failed: true })]);
  assert.deepEqual(result(text("no such file")), [
    toolMessage("a", "Error: no such file"),
  ]);
  assert.deepEqual(result(), [
    toolMessage("a", "Error"),
  ]);
});

Deno.test("encodeRequest() puts images of results into a user message after all tool messages", () => {
  const turns = [
    assistant(call("a"), call("b")),
    user(
      result("a", text("shot"), PNG),
      result("b", text("ok")),
      text("go on"),
    ),
  ];
  const results = [
    toolMessage("a", "shot"),
    toolMessage("b", "ok"),
  ];
  const encoded = messagesOf(turns);
  assert.ok(Array.isArray(encoded));
  assert.deepEqual(encoded.slice(1), [
    ...results,
    {
      role: "user",
      content: [text("Content of tool result a:"), PNG_PART],
    },
    { role: "user", content: "go on" },
  ]);
  const inside = messagesOf(turns, { imagesInToolResult: true });
  assert.ok(Array.isArray(inside));
  assert.deepEqual(inside.slice(1), [
    toolMessage("a", [text("shot"), PNG_PART]),
    results[1],
    { role: "user", content: "go on" },
  ]);
});

Deno.test("encodeRequest() encodes every part of a user turn", () => {
  const pdf = {
    type: "base64",
    mediaType: "application/pdf",
    data: "JVBE",
  } as const;
  assert.deepEqual(
    messagesOf([user(
      text("a"),
      text(""),
      text("b"),
      PNG,
      imageAt("https://x/y.png"),
      { type: "document", source: pdf },
      { type: "document", source: pdf, title: "T.pdf", context: "C" },
      {
        type: "document",
        source: text("body"),
        title: "T",
        context: "C",
      },
      { type: "audio", format: "wav", data: "UklG" },
    )]),
    [{
      role: "user",
      content: [
        text("a"),
        text("b"),
        PNG_PART,
        { type: "image_url", image_url: { url: "https://x/y.png" } },
        {
          type: "file",
          file: {
            filename: "document.pdf",
            file_data: "data:application/pdf;base64,JVBE",
          },
        },
        text("C"),
        {
          type: "file",
          file: {
            filename: "T.pdf",
            file_data: "data:application/pdf;base64,JVBE",
          },
        },
        text("T\nC\nbody"),
        { type: "input_audio", input_audio: { data: "UklG", format: "wav" } },
      ],
    }],
  );
});

Deno.test("encodeRequest() refuses parts that the format cannot express", async (t) => {
  const url = { type: "url", url: "https://x" } as const;
  const opaque = {
    type: "opaque",
    from: "messages",
    kind: "file",
    path: "messages[0].content[0].source",
    value: {},
    essential: true,
  } as const;
  const rows: [
    string,
    string,
    Partial<GenerationRequest>,
    Partial<Capabilities>,
  ][] = [
    ["document by URL", "messages", {
      turns: [user({ type: "document", source: url })],
    }, {}],
    ["image by URL", "messages", {
      turns: [user({ type: "image", source: url })],
    }, { mediaUrls: false }],
    ["essential part", "messages[0].content[0].source", {
      turns: [user(opaque)],
    }, {}],
    ["essential part in a result", "messages[0].content[0].source", {
      turns: [user(result("a", opaque))],
    }, {}],
    ["essential field", "container", { essential: ["container"] }, {}],
    ["several replies", "n", { replyCount: 2 }, {}],
  ];
  for (const [name, param, fields, can] of rows) {
    await t.step(name, () => {
      assert.equal(refusal(fields, can).details.param, param);
    });
  }
});

Deno.test("encodeRequest() reports dropped fields, each path once", () => {
  const opaque = (kind: string) =>
    ({
      type: "opaque",
      from: "messages",
      kind,
      path: `messages[0].content[].${kind}`,
      value: {},
      essential: false,
    }) as const;
  const { dropped, body } = encode({
    turns: [assistant(opaque("a"), opaque("a"), text("x"), opaque("b"))],
    unknownFields: ["cache_control"],
    topK: 5,
    seed: 1,
    presencePenalty: 1,
    frequencyPenalty: 1,
  }, { seed: false, penalties: false });
  assert.deepEqual(dropped, [
    "cache_control",
    "messages[0].content[].a",
    "messages[0].content[].b",
    "presence_penalty",
    "frequency_penalty",
    "top_k",
    "seed",
  ]);
  assert.deepEqual(body, {
    model: "up",
    messages: [{ role: "assistant", content: "x" }],
  });
});

Deno.test("encodeRequest() keeps zeros", () => {
  const { body, dropped } = encode({
    temperature: 0,
    topP: 0,
    seed: 0,
    topK: 1,
    presencePenalty: 0,
    frequencyPenalty: 0,
  }, { topK: true });
  assert.deepEqual(dropped, []);
  const { model: _, messages: __, ...rest } = body;
  assert.deepEqual(rest, {
    temperature: 0,
    top_p: 0,
    top_k: 1,
    seed: 0,
    presence_penalty: 0,
    frequency_penalty: 0,
  });
});

Deno.test("encodeRequest() sends the sampling fields that the model supports", async (t) => {
  const asked = {
    temperature: 1.5,
    topP: 0.5,
    presencePenalty: 1,
    frequencyPenalty: 1,
  };
  const rows: [
    string,
    Partial<GenerationRequest>,
    Partial<Capabilities>,
    Record<string, number>,
    string[],
  ][] = [
    ["all", asked, {}, {
      temperature: 1.5,
      top_p: 0.5,
      presence_penalty: 1,
      frequency_penalty: 1,
    }, []],
    ["none", asked, { sampling: "none" }, {}, [
      "presence_penalty",
      "frequency_penalty",
      "temperature",
      "top_p",
    ]],
    ["one of two", { temperature: 0.1, topP: 0.5 }, { sampling: "one" }, {
      temperature: 0.1,
    }, ["top_p"]],
    ["one of one", { topP: 0.5 }, { sampling: "one" }, { top_p: 0.5 }, []],
    ["too hot", { temperature: 1.5 }, { maxTemperature: 1 }, {
      temperature: 1,
    }, ["temperature"]],
  ];
  for (const [name, fields, can, expected, lost] of rows) {
    await t.step(name, () => {
      const { body, dropped } = encode(fields, can);
      const { model: _, messages: __, ...rest } = body;
      assert.deepEqual(rest, expected);
      assert.deepEqual(dropped, lost);
    });
  }
});

Deno.test("encodeRequest() reports a lowered cap as dropped and refuses a cap below one token", () => {
  const can = { maxOutputTokens: 8 };
  assert.equal(encode({ maxTokens: 9 }, can).dropped.length, 1);
  assert.deepEqual(encode({ maxTokens: 8 }, can).dropped, []);
  assert.throws(
    () => encode({ maxTokens: 0 }),
    (error) => error instanceof ApiError && error.kind === "invalid_request",
  );
});

Deno.test("encodeRequest() caps tokens only at the model's limit, in the field that the model uses", async (t) => {
  const rows: [
    Partial<GenerationRequest>,
    Partial<Capabilities>,
    Record<string, number>,
  ][] = [
    [{}, {}, {}],
    [{ maxTokens: 1 }, {}, { max_tokens: 1 }],
    [{ maxTokens: 128000 }, {}, { max_tokens: 128000 }],
    [{ maxTokens: 128000 }, { maxOutputTokens: 8000 }, { max_tokens: 8000 }],
    [{ maxTokens: 10 }, { maxOutputTokens: 8000 }, { max_tokens: 10 }],
    [{ maxTokens: 10 }, { maxTokensField: "max_completion_tokens" }, {
      max_completion_tokens: 10,
    }],
  ];
  for (const [fields, can, expected] of rows) {
    await t.step(JSON.stringify([fields, can]), () => {
      const { model: _, messages: __, ...rest } = encode(fields, can).body;
      assert.deepEqual(rest, expected);
    });
  }
});

Deno.test("encodeRequest() sends stop strings as a list, up to the model's maximum", async (t) => {
  const rows: [string[], number, unknown, string[]][] = [
    [["a"], 4, ["a"], []],
    [["a", "b", "c", "d", "e"], 4, ["a", "b", "c", "d"], ["stop_sequences"]],
    [["a"], 0, undefined, ["stop_sequences"]],
    [[], 4, undefined, []],
    [["", "a"], 1, ["a"], []],
  ];
  for (const [stop, maxStops, expected, lost] of rows) {
    await t.step(`${stop.join()} of ${maxStops}`, () => {
      const { body, dropped } = encode({ stop }, { maxStops });
      assert.deepEqual(body["stop"], expected);
      assert.deepEqual(dropped, lost);
    });
  }
});

Deno.test("encodeRequest() requests reasoning with an effort that the model supports", async (t) => {
  const efforts = ["minimal", "low", "medium", "high"] as const;
  const rows: [
    GenerationRequest["reasoning"],
    Partial<Capabilities>,
    unknown,
    string[],
  ][] = [
    [{ mode: "on", effort: "low" }, {}, "low", []],
    [{ mode: "on", effort: "max" }, {}, "high", ["thinking"]],
    [
      { mode: "on", effort: "minimal" },
      { efforts: ["low", "high"] },
      "low",
      [],
    ],
    [{ mode: "on", effort: "medium" }, { efforts: ["low", "high"] }, "low", [
      "thinking",
    ]],
    [{ mode: "on", budgetTokens: 1024 }, {}, "low", []],
    [{ mode: "on", budgetTokens: 4095 }, {}, "low", []],
    [{ mode: "on", budgetTokens: 4096 }, {}, "medium", []],
    [{ mode: "on", budgetTokens: 16384 }, {}, "high", []],
    [
      { mode: "on", budgetTokens: 32768 },
      { efforts: [...efforts, "xhigh"] },
      "xhigh",
      [],
    ],
    [{ mode: "on", budgetTokens: 32768 }, {}, "high", []],
    [{ mode: "on" }, {}, undefined, []],
    [{ mode: "auto" }, {}, undefined, []],
    [{ mode: "auto", effort: "high" }, {}, "high", []],
    [{ mode: "off" }, { reasoningOff: true }, "none", []],
    [{ mode: "off" }, { reasoningOff: false }, "minimal", ["thinking"]],
    [{ mode: "off" }, { reasoning: "none" }, undefined, []],
    [{ mode: "auto" }, { reasoning: "none" }, undefined, []],
    [{ mode: "on", budgetTokens: 9 }, { reasoning: "none" }, undefined, [
      "thinking",
    ]],
    [{ mode: "auto", effort: "low" }, { reasoning: "none" }, undefined, [
      "thinking",
    ]],
  ];
  for (const [reasoning, can, expected, lost] of rows) {
    await t.step(JSON.stringify([reasoning, can]), () => {
      const { body, dropped } = encode(reasoning ? { reasoning } : {}, {
        reasoning: "effort",
        efforts,
        ...can,
      });
      assert.equal(body["reasoning_effort"], expected);
      assert.deepEqual(dropped, lost);
    });
  }
});

Deno.test("encodeRequest() sends reasoning back only to models that require it", () => {
  const turns = [assistant(
    reasoning("hm", "messages", "S"),
    {
      type: "reasoning",
      text: "",
      signature: { from: "messages", value: "E", redacted: true },
    },
    text("x"),
    {
      ...call("a"),
      signature: { from: "generate_content", value: "G" },
    },
  )];
  const calls = [
    chatCall("a"),
  ];
  assert.deepEqual(messagesOf(turns), [
    { role: "assistant", content: "x", tool_calls: calls },
  ]);
  assert.deepEqual(messagesOf(turns, { replayReasoning: true }), [
    {
      role: "assistant",
      content: "x",
      reasoning_content: "hm",
      tool_calls: calls,
    },
  ]);
});

Deno.test("encodeRequest() drops turns without remaining parts", () => {
  assert.deepEqual(
    messagesOf([
      user(text("")),
      assistant({ type: "reasoning", text: "hm" }),
      user(text("b")),
    ]),
    [{ role: "user", content: "b" }],
  );
});

Deno.test("encodeRequest() adds a user message if the model does not support prefill", () => {
  const turns = [user(text("a")), assistant(text("{"))];
  assert.deepEqual(encode({ turns }).dropped, []);
  const { body, dropped } = encode({ turns }, { prefill: false });
  assert.deepEqual(body["messages"], [
    { role: "user", content: "a" },
    { role: "assistant", content: "{" },
    { role: "user", content: "Continue." },
  ]);
  assert.deepEqual(dropped, ["messages"]);
});

Deno.test("encodeRequest() encodes tools in order and schemas by reference", () => {
  const parameters = { type: "object", additionalProperties: false };
  const { body } = encode({
    tools: [
      { type: "function", name: "z", parameters, description: "d" },
      { type: "function", name: "a", strict: true },
      { type: "function", name: "b", parameters: {}, strict: true },
      { type: "function", name: "c", parameters: {} },
    ],
  });
  const closed = {
    type: "object",
    properties: {},
    additionalProperties: false,
  };
  assert.deepEqual(body["tools"], [
    { type: "function", function: { name: "z", description: "d", parameters } },
    {
      type: "function",
      function: { name: "a", parameters: closed, strict: true },
    },
    {
      type: "function",
      function: { name: "b", parameters: closed, strict: true },
    },
    chatTool("c", objectOf({})),
  ]);
  const tool = objectOr(arrayOr(body["tools"])[0]);
  assert.equal(objectOr(tool["function"])["parameters"], parameters);
});

Deno.test("encodeRequest() sends tool_choice and parallel_tool_calls only with tools", async (t) => {
  const tools = [{ type: "function", name: "f" }] as const;
  const named = chatTool("f");
  const rows: [
    string,
    Partial<GenerationRequest>,
    Partial<Capabilities>,
    unknown,
    unknown,
    string[],
  ][] = [
    [
      "none",
      { tools, toolChoice: { type: "none" } },
      {},
      "none",
      undefined,
      [],
    ],
    [
      "allowed",
      { tools, toolChoice: { type: "allowed", required: false, names: ["f"] } },
      {},
      {
        type: "allowed_tools",
        allowed_tools: { mode: "auto", tools: [named] },
      },
      undefined,
      [],
    ],
    ["not parallel", { tools, parallelTools: false }, {}, undefined, false, []],
    ["parallel", { tools, parallelTools: true }, {}, undefined, undefined, []],
    [
      "no switch",
      { tools, parallelTools: false },
      { parallelToggle: false },
      undefined,
      undefined,
      ["tool_choice.disable_parallel_tool_use"],
    ],
    [
      "no tools",
      { tools: [], toolChoice: { type: "auto" }, parallelTools: false },
      {},
      undefined,
      undefined,
      [],
    ],
    [
      "forced without tools",
      { toolChoice: { type: "required" } },
      {},
      undefined,
      undefined,
      ["tool_choice"],
    ],
  ];
  for (const [name, fields, can, choice, parallel, lost] of rows) {
    await t.step(name, () => {
      const { body, dropped } = encode(fields, can);
      assert.deepEqual(body["tool_choice"], choice);
      assert.equal(body["parallel_tool_calls"], parallel);
      assert.equal("tools" in body, (fields.tools?.length ?? 0) > 0);
      assert.deepEqual(dropped, lost);
    });
  }
});

Deno.test("encodeRequest() does not offer another format's own tools", () => {
  const search = {
    type: "opaque",
    from: "messages",
    kind: "web_search_20250305",
    name: "web_search",
    path: "tools[1]",
    value: { type: "web_search_20250305" },
  } as const;
  const f = { type: "function", name: "f" } as const;
  const { body, dropped } = encode({ tools: [f, search] });
  assert.ok(Array.isArray(body["tools"]) && body["tools"].length === 1);
  assert.deepEqual(dropped, ["tools[1]:web_search_20250305"]);
  assert.equal(refusal({ tools: [search] }).details.param, "tools[1]");
  assert.equal(
    refusal({
      tools: [f, search],
      toolChoice: { type: "tool", name: "web_search" },
    }).details.param,
    "tool_choice",
  );
});

Deno.test("encodeRequest() also restores long names from the history", () => {
  const long = "x".repeat(65);
  const { context } = encode({ turns: [assistant(call("a", long))] });
  assert.deepEqual([...context.toolNames.values()], [long]);
});

Deno.test("encodeRequest() constrains the reply to a schema", () => {
  const schema = { type: "object" };
  assert.deepEqual(
    encode({ format: { type: "schema", schema } }).body["response_format"],
    {
      type: "json_schema",
      json_schema: { name: "response", schema, strict: false },
    },
    "an open schema cannot be strict",
  );
  const closed = { ...schema, additionalProperties: false };
  assert.deepEqual(
    encode({ format: { type: "schema", schema: closed } })
      .body["response_format"],
    {
      type: "json_schema",
      json_schema: { name: "response", schema: closed, strict: true },
    },
  );
  assert.deepEqual(
    encode({
      format: {
        type: "schema",
        name: "n",
        description: "d",
        schema,
        strict: false,
      },
    }).body["response_format"],
    {
      type: "json_schema",
      json_schema: { name: "n", description: "d", schema, strict: false },
    },
  );
  assert.deepEqual(
    encode({ format: { type: "json" } }).body["response_format"],
    {
      type: "json_object",
    },
  );
  assert.equal(
    encode({ format: { type: "text" } }).body["response_format"],
    undefined,
  );
});

Deno.test("encodeRequest() replaces the schema by a forced tool if the model has no structured output", () => {
  const schema = { type: "object" };
  const can = { structuredOutput: false };
  const alone = encode({ format: { type: "schema", schema } }, can);
  assert.equal(alone.context.formatTool, "response");
  assert.deepEqual(alone.body["tools"], [{
    type: "function",
    function: {
      name: "response",
      description: "Gives the answer. Call this when the answer is ready.",
      parameters: schema,
    },
  }]);
  assert.deepEqual(alone.body["tool_choice"], chatTool("response"));
  assert.equal(alone.body["parallel_tool_calls"], false);
  assert.equal("response_format" in alone.body, false);
  const beside = encode({
    format: { type: "schema", schema },
    tools: [{ type: "function", name: "response" }],
  }, can);
  assert.equal(beside.context.formatTool, "response_2");
  assert.equal(beside.body["tool_choice"], "required");
  const allowed = encode({
    format: { type: "schema", schema },
    tools: ["f", "g"].map((name) => ({ type: "function", name })),
    toolChoice: { type: "allowed", required: false, names: ["g"] },
  }, can);
  assert.deepEqual(
    (allowed.body["tools"] as { function: { name: string } }[]).map((tool) =>
      tool.function.name
    ),
    ["g", "response"],
  );
});

Deno.test("encodeRequest() hashes user ids that some vendor would refuse", async (t) => {
  const rows: [string, string][] = [
    ["user-1_A", "user-1_A"],
    ["x".repeat(64), "x".repeat(64)],
    ["x".repeat(65), sha256("x".repeat(65))],
    ['{"device_id":"d"}', sha256('{"device_id":"d"}')],
    ["a@b.c", sha256("a@b.c")],
  ];
  for (const [id, expected] of rows) {
    await t.step(id, () => {
      assert.equal(encode({ user: id }).body["user"], expected);
    });
  }
});

Deno.test("encodeRequest() requests usage in streams if the upstream supports it", () => {
  assert.deepEqual(encode({ stream: true }).body["stream_options"], {
    include_usage: true,
  });
  assert.equal(encode({ stream: true }).body["stream"], true);
  const plain = encode({ stream: true }, { includeUsage: false }).body;
  assert.equal("stream_options" in plain, false);
  assert.equal("stream" in encode({}).body, false);
  assert.equal(encode({ serviceTier: "auto" }).body["service_tier"], "auto");
  const logprobs = encode({ logprobs: 2 }).body;
  assert.equal(logprobs["logprobs"], true);
  assert.equal(logprobs["top_logprobs"], 2);
  assert.equal("top_logprobs" in encode({ logprobs: 0 }).body, false);
});

Deno.test("encodeRequest() reverses decodeRequest()", () => {
  const body = {
    model: "m",
    messages: [
      { role: "system", content: "S" },
      {
        role: "user",
        content: [
          text("a"),
          { type: "image_url", image_url: { url: "https://x/y.png" } },
          { type: "file", file: { file_id: "file-1" } },
          { type: "video_url", video_url: {} },
        ],
      },
      calling(null, chatCall("a", "f", '{"a":1}'), {
        id: "b",
        type: "custom",
        custom: { name: "sql", input: "x" },
      }),
      toolMessage("a", "1"),
      toolMessage("b", "2"),
      {
        role: "assistant",
        content: [{ type: "strange", x: 1 }],
        refusal: "No.",
        audio: { id: "audio_1" },
      },
      { role: "user", content: "go on" },
    ],
    tools: [
      { type: "custom", custom: { name: "sql" } },
      chatTool("f", { type: "object" }),
    ],
    tool_choice: "auto",
    parallel_tool_calls: false,
    max_tokens: 5,
    temperature: 1.5,
    stop: ["x"],
    user: "u",
    stream: true,
    stream_options: { include_usage: true },
  };
  const request = atOnce(chatCompletions.decodeRequest(body));
  const encoded = atOnce(chatCompletions.encodeRequest(request, {
    ...CAN,
    customTools: true,
  }));
  assert.deepEqual(encoded.body, body);
  assert.deepEqual(encoded.dropped, []);
});

Deno.test("encodeRequest() never writes to the neutral request", () => {
  const freeze = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  };
  const request = atOnce(chatCompletions.decodeRequest({
    model: "m",
    messages: [
      { role: "user", content: "a" },
      calling(null, chatCall("a")),
      toolMessage("a", "1"),
    ],
    tools: [chatTool("f", {})],
    response_format: {
      type: "json_schema",
      json_schema: { name: "n", schema: {} },
    },
  }));
  freeze(request);
  atOnce(
    chatCompletions.encodeRequest(request, { ...CAN, structuredOutput: false }),
  );
});

Deno.test("encodeRequest() accepts conversations of any length", () => {
  const turns = Array.from({ length: 200_000 }, () => user(text("a")));
  const result = { type: "tool_result", id: "a", content: [PNG] } as const;
  const { body } = encode({
    turns: [...turns, user(...Array.from({ length: 100_000 }, () => result))],
  });
  assert.equal(arrayOr(body["messages"]).length, 300_001);
});
