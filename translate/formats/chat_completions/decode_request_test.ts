import assert from "node:assert/strict";
import { z } from "zod";
import { ApiError } from "../../model/error.ts";
import { freeTextTool } from "../../turns/free_text.ts";
import type { GenerationRequest } from "../../model/request.ts";
import {
  call,
  documentPart,
  imagePart,
  reasoning,
  result,
  turn,
  withoutPaths,
} from "../../testing/sample_request.ts";
import { chatCompletions, chatCompletionsRequest } from "./mod.ts";
import { SETTINGS } from "./settings.ts";
import {
  calling,
  chatCall,
  chatTool,
  imageAt,
  messagesOf,
  text,
  toolMessage,
  user,
} from "../../testing/request_samples.ts";
import { refusalOf } from "../../testing/refusal_of.ts";
import { atOnce } from "../../steps.ts";

const USER = user("Hi");

function decode(fields: Record<string, unknown>): GenerationRequest {
  return atOnce(chatCompletions.decodeRequest({
    model: "m",
    messages: [USER],
    ...fields,
  }));
}

function turnsOf(...messages: unknown[]): GenerationRequest["turns"] {
  const { turns, unknownFields } = decode({ messages });
  assert.deepEqual(unknownFields, []);
  return turns;
}

function fault(body: unknown): ApiError {
  return refusalOf(() => atOnce(chatCompletions.decodeRequest(body)));
}

Deno.test("decodeRequest() decodes every setting", () => {
  const { fieldNames: _, turns: __, system: ___, ...request } = decode({
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: 5,
    max_completion_tokens: 7,
    temperature: 0,
    top_p: 0,
    top_k: 40,
    n: 1,
    stop: "END",
    parallel_tool_calls: false,
    reasoning_effort: "low",
    seed: 0,
    presence_penalty: 0,
    frequency_penalty: -1,
    logprobs: true,
    top_logprobs: 3,
    user: "u-1",
    service_tier: "default",
    response_format: { type: "json_object" },
    modalities: ["text"],
  });
  assert.deepEqual(request, {
    model: "m",
    stream: true,
    wantUsage: true,
    maxTokens: 7,
    temperature: 0,
    topP: 0,
    topK: 40,
    replyCount: 1,
    stop: ["END"],
    parallelTools: false,
    reasoning: { mode: "on", effort: "low" },
    seed: 0,
    presencePenalty: 0,
    frequencyPenalty: -1,
    logprobs: 3,
    user: "u-1",
    serviceTier: "default",
    format: { type: "json" },
    unknownFields: [],
    essential: [],
  });
});

Deno.test("decodeRequest() names each neutral field in the client's words", () => {
  assert.deepEqual(decode({}).fieldNames, {
    messages: "messages",
    image: "image_url",
    document: "file",
    audio: "input_audio",
    arguments: "messages[].tool_calls[].function.arguments",
    system: "messages",
    tools: "tools",
    toolChoice: "tool_choice",
    parallelTools: "parallel_tool_calls",
    format: "response_format",
    reasoning: "reasoning_effort",
    ...SETTINGS.names,
  });
  assert.equal(
    decode({ max_completion_tokens: 5, max_tokens: 6 }).fieldNames.maxTokens,
    "max_completion_tokens",
  );
});

Deno.test("decodeRequest() treats null as absent in every optional field", () => {
  const names = Object.keys(
    z.toJSONSchema(chatCompletionsRequest, { unrepresentable: "any" })
      .properties ?? {},
  ).filter((name) => name !== "model" && name !== "messages");
  assert.ok(names.length > 35);
  const nulls = Object.fromEntries(names.map((name) => [name, null]));
  assert.deepEqual(decode(nulls), decode({}));
});

Deno.test("decodeRequest() names the invalid field", async (t) => {
  const base = { model: "m", messages: [USER] };
  const message = (value: unknown) => ({ model: "m", messages: [value] });
  const part = (value: unknown) => message(user(value));
  const rows: [unknown, string][] = [
    [{ ...base, system: "x" }, "system"],
    [{ ...base, system: null }, "system"],
    [messagesOf(USER), "model"],
    [{ ...base, model: "" }, "model"],
    [{ ...base, model: 5 }, "model"],
    [{ model: "m" }, "messages"],
    [{ model: "m", messages: [] }, "messages"],
    [{ model: "m", messages: "Hi" }, "messages"],
    [message({ content: "x" }), "messages[0].role"],
    [message({ role: "robot", content: "x" }), "messages[0].role"],
    [message({ role: "user" }), "messages[0].content"],
    [message({ role: "user", content: null }), "messages[0].content"],
    [part({ type: "text" }), "messages[0].content[0].text"],
    [part({ type: "image_url" }), "messages[0].content[0].image_url"],
    [
      part({ type: "image_url", image_url: { url: "ftp://x/y.png" } }),
      "messages[0].content[0].image_url.url",
    ],
    [
      part({ type: "image_url", image_url: { url: "data:image/png" } }),
      "messages[0].content[0].image_url.url",
    ],
    [part({ type: "file", file: {} }), "messages[0].content[0].file"],
    [
      part({ type: "file", file: { file_data: "https://x/y.pdf" } }),
      "messages[0].content[0].file.file_data",
    ],
    [
      message({ role: "tool", content: "x" }),
      "messages[0].tool_call_id",
    ],
    [
      message({
        role: "assistant",
        tool_calls: [{ id: "a", type: "function", function: { name: "f" } }],
      }),
      "messages[0].tool_calls[0].function.arguments",
    ],
    [{ ...base, max_tokens: 0 }, "max_tokens"],
    [{ ...base, max_tokens: 1.5 }, "max_tokens"],
    [{ ...base, max_completion_tokens: 0 }, "max_completion_tokens"],
    [{ ...base, temperature: 2.1 }, "temperature"],
    [{ ...base, temperature: -0.1 }, "temperature"],
    [{ ...base, top_p: 1.1 }, "top_p"],
    [{ ...base, n: 0 }, "n"],
    [{ ...base, n: 129 }, "n"],
    [{ ...base, stop: [1] }, "stop[0]"],
    [{ ...base, stream: "true" }, "stream"],
    [{ ...base, tools: [{ type: "function" }] }, "tools[0].function"],
    [
      { ...base, tools: [chatTool("")] },
      "tools[0].function.name",
    ],
    [{ ...base, tool_choice: "always" }, "tool_choice"],
    [{ ...base, reasoning_effort: "huge" }, "reasoning_effort"],
    [
      { ...base, response_format: { type: "json_schema" } },
      "response_format.json_schema",
    ],
    [
      { ...base, functions: [{ name: "f" }], tools: [] },
      "functions",
    ],
  ];
  for (const [body, param] of rows) {
    await t.step(param, () => {
      const error = fault(body);
      assert.equal(error.kind, "invalid_request");
      assert.equal(error.details.param, param);
      assert.ok(error.message.startsWith(`${param}: `), error.message);
    });
  }
});

Deno.test("decodeRequest() refuses a body that is not an object without naming a field", () => {
  for (const body of [null, 5, "x", []]) {
    assert.equal(fault(body).details.param, undefined);
  }
});

Deno.test("decodeRequest() decodes leading instructions as the system prompt and later ones as turns", () => {
  const request = decode(
    messagesOf(
      { role: "system", content: "A" },
      { role: "developer", content: [text("B")] },
      USER,
      { role: "system", content: "C" },
    ),
  );
  assert.deepEqual(request.system, [
    text("A"),
    text("B"),
  ]);
  assert.deepEqual(request.turns, [
    turn("user", text("Hi")),
    turn("system", text("C")),
  ]);
});

Deno.test("decodeRequest() decodes every kind of part", () => {
  const [turn] = turnsOf(user(
    text("T"),
    {
      type: "image_url",
      image_url: { url: "DATA:image/JPG;charset=x;BASE64,AAAA" },
    },
    { type: "image_url", image_url: { url: "https://x/y.png" } },
    { type: "input_audio", input_audio: { data: "BBBB", format: "wav" } },
    {
      type: "file",
      file: {
        filename: "a.pdf",
        file_data: "data:application/pdf;base64,CCCC",
      },
    },
    {
      type: "file",
      file: {
        filename: "n.txt",
        file_data: "data:text/plain;base64,w6RiYw==",
      },
    },
    { type: "file", file: { file_data: "JVBERi0=" } },
  ));
  assert.deepEqual(withoutPaths(turn?.parts), [
    text("T"),
    imagePart("image/jpeg", "AAAA"),
    imageAt("https://x/y.png"),
    { type: "audio", format: "wav", data: "BBBB" },
    {
      type: "document",
      source: { type: "base64", mediaType: "application/pdf", data: "CCCC" },
      title: "a.pdf",
    },
    {
      type: "document",
      source: text("äbc"),
      title: "n.txt",
    },
    documentPart("application/pdf", "JVBERi0="),
  ]);
});

Deno.test("decodeRequest() decodes calls and results and keeps malformed arguments unchanged", () => {
  const turns = turnsOf(
    USER,
    calling("Looking.", chatCall("a", "f", '{"x":'), {
      id: "b",
      function: { name: "g", arguments: "" },
      index: 1,
    }),
    toolMessage("a", "one"),
    toolMessage("b", [text("two")]),
    toolMessage("c", ""),
  );
  assert.deepEqual(withoutPaths(turns.slice(1)), [
    turn(
      "assistant",
      text("Looking."),
      call("a", "f", '{"x":'),
      call("b", "g", ""),
    ),
    turn("user", result("a", text("one"))),
    turn("user", result("b", text("two"))),
    turn("user", result("c")),
  ]);
});

Deno.test("decodeRequest() pairs results of the deprecated form with their calls by name", () => {
  const request = decode({
    messages: [
      USER,
      {
        role: "assistant",
        content: null,
        function_call: { name: "f", arguments: "{}" },
      },
      { role: "function", name: "f", content: "one" },
      { role: "function", name: "g", content: null },
    ],
    functions: [{ name: "f", parameters: { type: "object" } }],
    function_call: { name: "f" },
  });
  assert.deepEqual(
    withoutPaths(request.turns.slice(1).map((turn) => turn.parts)),
    [
      [call("call_1")],
      [result("call_1", text("one"))],
      [result("call_3")],
    ],
  );
  assert.deepEqual(request.tools, [
    { type: "function", name: "f", parameters: { type: "object" } },
  ]);
  assert.deepEqual(request.toolChoice, { type: "tool", name: "f" });
  assert.equal(request.legacyFunctions, true);
  assert.equal(request.parallelTools, false);
  assert.equal(request.fieldNames.tools, "functions");
});

Deno.test("decodeRequest() keeps schemas by reference and tools of unknown types unchanged", () => {
  const parameters = { type: "object", properties: { a: {} }, anyOf: [] };
  const custom = { type: "custom", custom: { name: "sql" } };
  const search = { type: "openrouter:web_search", parameters: {} };
  const request = decode({
    tools: [
      {
        type: "function",
        function: { name: "f", description: "d", parameters, strict: null },
        cache_control: { type: "ephemeral" },
      },
      custom,
      search,
    ],
  });
  const [tool] = request.tools ?? [];
  assert.deepEqual(request.tools, [
    { type: "function", name: "f", description: "d", parameters },
    freeTextTool("sql", undefined, undefined),
    {
      type: "opaque",
      from: "chat_completions",
      kind: "openrouter:web_search",
      path: "tools[2]",
      value: search,
    },
  ]);
  assert.ok(tool?.type === "function" && tool.parameters === parameters);
  assert.deepEqual(request.unknownFields, ["tools[].cache_control"]);
});

Deno.test("decodeRequest() decodes every tool choice", async (t) => {
  const rows: [unknown, unknown][] = [
    ["none", { type: "none" }],
    ["auto", { type: "auto" }],
    ["required", { type: "required" }],
    ["any", { type: "required" }],
    [{ type: "auto" }, { type: "auto" }],
    [{ type: "none" }, { type: "none" }],
    [{ type: "any" }, { type: "required" }],
    [{ type: "tool", name: "f" }, { type: "tool", name: "f" }],
    [chatTool("f"), {
      type: "tool",
      name: "f",
    }],
    [
      {
        type: "allowed_tools",
        allowed_tools: {
          mode: "required",
          tools: [chatTool("f"), {
            type: "function",
            name: "g",
          }],
        },
      },
      { type: "allowed", required: true, names: ["f", "g"] },
    ],
  ];
  for (const [choice, expected] of rows) {
    await t.step(JSON.stringify(choice), () => {
      const { toolChoice, unknownFields } = decode({ tool_choice: choice });
      assert.deepEqual(toolChoice, expected);
      assert.deepEqual(unknownFields, []);
    });
  }
});

Deno.test("decodeRequest() decodes every response format", async (t) => {
  const schema = { type: "object" };
  const UNREADABLE = { type: "json_object", schema: "x" };
  const rows: [unknown, unknown][] = [
    [{ type: "text" }, { type: "text" }],
    [{ type: "json_object" }, { type: "json" }],
    [
      {
        type: "json_schema",
        json_schema: { name: "n", description: "d", schema, strict: false },
      },
      { type: "schema", name: "n", description: "d", schema, strict: false },
    ],
    [
      { type: "json_schema", json_schema: { name: "n", schema, strict: null } },
      { type: "schema", name: "n", schema },
    ],
    [{ type: "json_schema", json_schema: { name: "n" } }, { type: "json" }],
    [{ type: "json_object", schema }, { type: "schema", schema }],
    [UNREADABLE, { type: "json" }],
    [
      { type: "json_object", json_schema: { name: "n", schema } },
      { type: "schema", name: "n", schema },
    ],
  ];
  for (const [format, expected] of rows) {
    await t.step(JSON.stringify(format), () => {
      const request = decode({ response_format: format });
      assert.deepEqual(request.format, expected);
      assert.deepEqual(
        request.unknownFields,
        format === UNREADABLE ? ["response_format.schema"] : [],
      );
    });
  }
});

Deno.test("decodeRequest() switches reasoning off if the effort is none", () => {
  assert.deepEqual(decode({ reasoning_effort: "none" }).reasoning, {
    mode: "off",
  });
});

Deno.test("decodeRequest() records fields that only upstreams of this format support as essential", async (t) => {
  const rows: [Record<string, unknown>, string[]][] = [
    [{ n: 2 }, ["n"]],
    [{ modalities: ["text", "audio"], audio: { voice: "ash" } }, [
      "modalities",
      "audio",
    ]],
    [{ web_search_options: {} }, ["web_search_options"]],
    [{ tool_choice: { type: "newest" } }, ["tool_choice"]],
    [{ tool_choice: { type: "tool" } }, ["tool_choice"]],
    [{ response_format: { type: "grammar", grammar: "x" } }, [
      "response_format",
    ]],
    [
      messagesOf({
        role: "system",
        content: [{ type: "image_url", image_url: { url: "https://x" } }],
      }),
      ["messages[0].content[0]"],
    ],
  ];
  for (const [fields, expected] of rows) {
    await t.step(expected.join(), () => {
      assert.deepEqual(decode(fields).essential, expected);
    });
  }
});

Deno.test("decodeRequest() records fields without a neutral counterpart, each path once", () => {
  const request = decode({
    messages: [
      {
        role: "user",
        name: "ann",
        content: [
          { type: "text", text: "a", cache_control: { type: "ephemeral" } },
          { type: "text", text: "b", cache_control: { type: "ephemeral" } },
          {
            type: "image_url",
            image_url: { url: "https://x", detail: "high" },
          },
          {
            type: "image_url",
            image_url: { url: "https://x", detail: "auto" },
          },
        ],
      },
      { role: "assistant", content: "c", annotations: [], name: null },
      { role: "user", name: "bob", content: "d" },
    ],
    stream: true,
    stream_options: { include_obfuscation: false },
    metadata: { a: "b" },
    store: false,
    logit_bias: { "50256": -100 },
    verbosity: "low",
    thinking: { type: "enabled" },
    service_tier: "flex",
    top_logprobs: 2,
    user: "u",
    safety_identifier: "s",
  });
  assert.deepEqual(
    new Set(request.unknownFields),
    new Set([
      "messages[].name",
      "messages[].content[].cache_control",
      "messages[].content[].image_url.detail",
      "stream_options.include_obfuscation",
      "metadata",
      "store",
      "logit_bias",
      "thinking",
      "service_tier",
      "top_logprobs",
      "user",
    ]),
  );
  assert.equal(
    request.unknownFields.length,
    new Set(request.unknownFields).size,
  );
  assert.equal(request.verbosity, "low");
  assert.equal(request.user, "s");
  assert.equal(request.fieldNames.user, "safety_identifier");
  assert.equal(request.serviceTier, undefined);
});

// Several blocks, each with its own signature.
Deno.test("decodeRequest() restores signed reasoning from reasoning_details", () => {
  const [turn] = turnsOf({
    role: "assistant",
    content: "x",
    reasoning_content: "ab",
    reasoning_details: [
      {
        type: "reasoning.text",
        text: "a",
        format: "anthropic-claude-v1",
        index: 0,
      },
      {
        type: "reasoning.text",
        text: "b",
        signature: "S1",
        format: "anthropic-claude-v1",
        index: 0,
      },
      {
        type: "reasoning.encrypted",
        data: "E1",
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
  });
  assert.deepEqual(turn?.parts, [
    reasoning("ab", "messages", "S1"),
    {
      type: "reasoning",
      text: "",
      signature: { from: "messages", value: "E1", redacted: true },
    },
    reasoning("", "messages", "S2"),
    text("x"),
  ]);
});

Deno.test("decodeRequest() separates signed blocks with the same index", () => {
  const detail = (text: string, signature: string) => ({
    type: "reasoning.text",
    text,
    signature,
    format: "anthropic-claude-v1",
    index: 0,
  });
  const [turn] = turnsOf({
    role: "assistant",
    reasoning_details: [detail("a", "S"), detail("b", "T")],
  });
  assert.deepEqual(turn?.parts, [
    reasoning("a", "messages", "S"),
    reasoning("b", "messages", "T"),
  ]);
});

Deno.test("decodeRequest() does not sign unsigned reasoning", async (t) => {
  const rows: [Record<string, unknown>, string][] = [
    [{ reasoning_content: "r" }, "r"],
    [{ reasoning: "r" }, "r"],
  ];
  for (const [fields, text] of rows) {
    await t.step(Object.keys(fields).join(), () => {
      const [turn] = turnsOf({ role: "assistant", content: null, ...fields });
      assert.deepEqual(turn?.parts, [{ type: "reasoning", text }]);
    });
  }
});

Deno.test("decodeRequest() names what only a host of the format can read", () => {
  const { turns, unknownFields } = decode({
    messages: [USER, {
      role: "assistant",
      content: null,
      reasoning_content: "r",
      reasoning_details: [{
        type: "reasoning.encrypted",
        data: "E",
        format: "openai-responses-v1",
      }],
    }],
  });
  assert.deepEqual(turns[1]?.parts, [{ type: "reasoning", text: "r" }]);
  assert.deepEqual(unknownFields, ["messages[].reasoning_details"]);
});

Deno.test("decodeRequest() restores a call's signature from extra_content", () => {
  const [turn] = turnsOf(calling(null, {
    id: "a",
    type: "function",
    function: { name: "f", arguments: "{}" },
    extra_content: { google: { thought_signature: "G" } },
  }));
  assert.deepEqual(withoutPaths(turn?.parts), [{
    type: "tool_call",
    id: "a",
    name: "f",
    arguments: "{}",
    signature: { from: "generate_content", value: "G" },
  }]);
});

Deno.test("decodeRequest() never writes to the client's request", () => {
  const body = {
    model: "m",
    messages: [USER, calling(null, chatCall("a"))],
    tools: [chatTool("f", {})],
  };
  const before = structuredClone(body);
  atOnce(chatCompletions.decodeRequest(body));
  assert.deepEqual(body, before);
});

Deno.test("decodeRequest() handles deep nesting", () => {
  let deep: unknown = {};
  for (let n = 0; n < 100_000; n++) deep = [deep];
  const request = decode({
    metadata: { deep },
    strange: deep,
    tools: [chatTool("f", { deep })],
  });
  assert.deepEqual(
    request.unknownFields,
    ["metadata", "strange"],
  );
});

Deno.test("chatCompletionsRequest converts to JSON Schema", () => {
  const schema = z.toJSONSchema(chatCompletionsRequest, {
    unrepresentable: "any",
  });
  assert.deepEqual(schema.required, ["model", "messages"]);
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    assert.ok(
      typeof field === "object" && typeof field.description === "string",
      `${name} is not described`,
    );
  }
});

Deno.test("decodeRequest() accepts a system prompt of any number of parts", () => {
  const content = Array.from(
    { length: 200_000 },
    () => text("a"),
  );
  const { system } = decode(messagesOf({ role: "system", content }));
  assert.equal(system.length, 200_000);
});

Deno.test("decodeRequest() accepts variants with an unambiguous meaning", () => {
  const typed = chatTool("f");
  const bare = { function: { name: "f" } };
  const { tools, toolChoice } = decode({ tools: [typed], tool_choice: typed });
  const untyped = decode({ tools: [bare], tool_choice: bare });
  assert.deepEqual(untyped.tools, tools);
  assert.deepEqual(untyped.toolChoice, toolChoice);
  assert.deepEqual(untyped.toolChoice, { type: "tool", name: "f" });
  assert.equal(decode({ reasoning_effort: "default" }).reasoning, undefined);
  for (const name of [undefined, null, ""]) {
    const format = {
      type: "json_schema",
      json_schema: { name, schema: { type: "object" } },
    };
    assert.deepEqual(decode({ response_format: format }).format, {
      type: "schema",
      schema: { type: "object" },
    });
  }
});

Deno.test("decodeRequest() records unknown fields of a schema beside json_object", () => {
  const named = (format: Record<string, unknown>) =>
    decode({ response_format: { type: "json_object", ...format } })
      .unknownFields;
  assert.deepEqual(named({ schema: {} }), []);
  assert.deepEqual(named({ schema: "x" }), ["response_format.schema"]);
  assert.deepEqual(named({ odd: 1 }), ["response_format.odd"]);
});

Deno.test("decodeRequest() records the paths of essential parts and of the ids of calls and results", () => {
  const image = {
    type: "image_url",
    image_url: { url: "data:image/png;base64,AA" },
  };
  const request = decode(
    messagesOf(
      USER,
      user(text("T"), image, {
        type: "input_audio",
        input_audio: { data: "BBBB", format: "wav" },
      }, { type: "file", file: { file_data: "data:text/plain,a" } }),
      calling(null, chatCall("a", "f", ""), chatCall("b", "f", "")),
      toolMessage("a", [image]),
      {
        role: "assistant",
        function_call: { name: "g", arguments: "" },
      },
      { role: "function", name: "g", content: null },
    ),
  );
  const places: string[] = [];
  JSON.stringify(request.turns, (key, value) => {
    if (key === "at") places.push(value);
    return value;
  });
  assert.deepEqual(places, [
    "messages[1].content[1]",
    "messages[1].content[2]",
    "messages[1].content[3]",
    "messages[2].tool_calls[0].id",
    "messages[2].tool_calls[1].id",
    "messages[3].content[0]",
    "messages[3].tool_call_id",
    "messages[4].function_call",
    "messages[5].name",
  ]);
});
