import assert from "node:assert/strict";
import { z } from "zod";
import type { JsonObject } from "../../bytes/json.ts";
import type { GenerationRequest } from "../../model/request.ts";
import {
  call,
  imagePart,
  reasoning,
  result,
  turn,
  withoutPaths,
} from "../../testing/sample_request.ts";
import { decodeCountTokens, decodeRequest } from "./decode_request.ts";
import { SETTINGS } from "./settings.ts";
import { countTokensRequest, messagesRequest } from "./wire.ts";
import {
  assistant,
  documentAt,
  imageAt,
  messagesOf,
  text,
  toolResult,
  toolUse,
  user,
} from "../../testing/request_samples.ts";
import { refusalOf } from "../../testing/refusal_of.ts";
import { atOnce } from "../../steps.ts";

function body(over: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    model: "m",
    max_tokens: 100,
    messages: [user("hi")],
    ...over,
  };
}

function bodyWith(content: unknown, role = "user"): Record<string, unknown> {
  return body(messagesOf({ role, content }));
}

function parts(content: unknown, role = "user"): unknown {
  const { turns, unknownFields } = atOnce(
    decodeRequest(bodyWith(content, role)),
  );
  assert.deepEqual(unknownFields, []);
  return turns[0]?.parts;
}

Deno.test("decodeRequest() reads a minimal request", () => {
  const { fieldNames: _, ...rest } = atOnce(decodeRequest(body()));
  assert.deepEqual(rest, {
    model: "m",
    stream: false,
    system: [],
    turns: [turn("user", text("hi"))],
    wantUsage: false,
    unknownFields: [],
    essential: [],
    maxTokens: 100,
  });
});

Deno.test("decodeRequest() names each neutral field in the client's words", () => {
  assert.deepEqual(atOnce(decodeRequest(body())).fieldNames, {
    messages: "messages",
    image: "image",
    document: "document",
    audio: "input_audio",
    arguments: "messages[].content[].input",
    system: "system",
    tools: "tools",
    toolChoice: "tool_choice",
    parallelTools: "tool_choice.disable_parallel_tool_use",
    format: "output_config.format",
    reasoning: "thinking",
    ...SETTINGS.names,
  });
});

Deno.test("decodeRequest() names the field at fault", async (t) => {
  const image = (source: unknown) => bodyWith([{ type: "image", source }]);
  const rows: readonly [string, Record<string, unknown>, string][] = [
    ["no model", body({ model: undefined }), "model"],
    ["an empty model", body({ model: "" }), "model"],
    ["a model of null", body({ model: null }), "model"],
    ["no messages", body({ messages: undefined }), "messages"],
    ["empty messages", body(messagesOf()), "messages"],
    ["messages of text", body({ messages: "hi" }), "messages"],
    ["a message of text", body(messagesOf("hi")), "messages[0]"],
    [
      "no role",
      body(messagesOf({ content: "hi" })),
      "messages[0].role",
    ],
    [
      "an unknown role",
      body(messagesOf({ role: "tool", content: "hi" })),
      "messages[0].role",
    ],
    [
      "no content",
      body(messagesOf({ role: "user" })),
      "messages[0].content",
    ],
    ["null content", bodyWith(null), "messages[0].content"],
    ["no max_tokens", body({ max_tokens: undefined }), "max_tokens"],
    ["negative max_tokens", body({ max_tokens: -1 }), "max_tokens"],
    ["half a token", body({ max_tokens: 1.5 }), "max_tokens"],
    ["max_tokens of text", body({ max_tokens: "100" }), "max_tokens"],
    ["max_tokens of null", body({ max_tokens: null }), "max_tokens"],
    ["too hot", body({ temperature: 1.01 }), "temperature"],
    ["too cold", body({ temperature: -0.1 }), "temperature"],
    ["top_p of 2", body({ top_p: 2 }), "top_p"],
    ["both samplings", body({ temperature: 0, top_p: 0 }), "top_p"],
    ["top_k of -1", body({ top_k: -1 }), "top_k"],
    ["a bare stop", body({ stop_sequences: "x" }), "stop_sequences"],
    ["a stop of 1", body({ stop_sequences: ["x", 1] }), "stop_sequences[1]"],
    ["stream of text", body({ stream: "true" }), "stream"],
    ["system of numbers", body({ system: 1 }), "system"],
    [
      "a system picture",
      body({ system: [{ type: "image" }] }),
      "system[0].type",
    ],
    [
      "a text block without text",
      bodyWith([{ type: "text" }]),
      "messages[0].content[0].text",
    ],
    ["a block without type", bodyWith([{}]), "messages[0].content[0].type"],
    [
      "a picture without data",
      bodyWith([text("x"), {
        type: "image",
        source: { type: "base64", media_type: "image/png" },
      }]),
      "messages[0].content[1].source.data",
    ],
    [
      "a picture from nowhere",
      image({ type: "memory" }),
      "messages[0].content[0].source.type",
    ],
    [
      "a call without id",
      bodyWith([{ type: "tool_use", name: "f", input: {} }], "assistant"),
      "messages[0].content[0].id",
    ],
    [
      "a result without id",
      bodyWith([{ type: "tool_result", content: "x" }]),
      "messages[0].content[0].tool_use_id",
    ],
    [
      "a broken picture in a result",
      bodyWith([toolResult("a", [{ type: "image", source: { type: "url" } }])]),
      "messages[0].content[0].content[0].source.url",
    ],
    [
      "a tool without schema",
      body({ tools: [{ name: "f" }] }),
      "tools[0].input_schema",
    ],
    [
      "a tool without name",
      body({ tools: [{ input_schema: {} }] }),
      "tools[0].name",
    ],
    [
      "a choice of nothing",
      body({ tool_choice: { type: "required" } }),
      "tool_choice.type",
    ],
    [
      "a choice without name",
      body({ tool_choice: { type: "tool" } }),
      "tool_choice.name",
    ],
    [
      "a budget below 1024",
      body({
        max_tokens: 5000,
        thinking: { type: "enabled", budget_tokens: 1023 },
      }),
      "thinking.budget_tokens",
    ],
    [
      "a budget as large as the cap",
      body({
        max_tokens: 1024,
        thinking: { type: "enabled", budget_tokens: 1024 },
      }),
      "thinking.budget_tokens",
    ],
    [
      "an unknown effort",
      body({ output_config: { effort: "enormous" } }),
      "output_config.effort",
    ],
    [
      "a form without schema",
      body({ output_config: { format: { type: "json_schema" } } }),
      "output_config.format.schema",
    ],
    [
      "a user id of 1",
      body({ metadata: { user_id: 1 } }),
      "metadata.user_id",
    ],
    ["another tier", body({ service_tier: "flex" }), "service_tier"],
  ];
  for (const [name, request, param] of rows) {
    await t.step(name, () => {
      const refused = refusalOf(() => atOnce(decodeRequest(request)));
      assert.equal(refused.details.param, param);
      assert.ok(refused.message.startsWith(`${param}: `), refused.message);
    });
  }
});

Deno.test("decodeRequest() names the allowed values of a field", () => {
  assert.equal(
    refusalOf(() =>
      atOnce(decodeRequest(body(messagesOf({ role: "tool", content: "x" }))))
    ).message,
    "messages[0].role: expected user, assistant or system",
  );
  assert.equal(
    refusalOf(() => atOnce(decodeRequest("hello"))).message,
    "expected object, received string",
  );
});

Deno.test("decodeRequest() reads what clients write", async (t) => {
  const rows: readonly [
    string,
    Record<string, unknown>,
    Partial<GenerationRequest>,
  ][] = [
    ["max_tokens 0 (cache warming)", { max_tokens: 0 }, { maxTokens: 0 }],
    ["temperature 0", { temperature: 0 }, { temperature: 0 }],
    ["top_p 0", { top_p: 0 }, { topP: 0 }],
    ["top_k 0", { top_k: 0 }, { topK: 0 }],
    ["stream", { stream: true }, { stream: true }],
    ["stops", { stop_sequences: ["a", " "] }, { stop: ["a", " "] }],
    ["a system text", { system: "S" }, {
      system: [text("S")],
    }],
    ["an empty system", { system: "" }, { system: [] }],
    [
      "system blocks without the billing header",
      {
        system: [
          text("x-anthropic-billing-header: cch=1;"),
          { type: "text", text: "A", cache_control: null },
          text("B"),
        ],
      },
      { system: [text("A"), text("B")] },
    ],
    [
      "user ids of any length",
      { metadata: { user_id: "u".repeat(1000) } },
      { user: "u".repeat(1000) },
    ],
    ["a user id of null", { metadata: { user_id: null } }, {}],
    ["tier auto", { service_tier: "auto" }, { serviceTier: "auto" }],
    [
      "tier standard_only",
      { service_tier: "standard_only" },
      { serviceTier: "default" },
    ],
    ["choice auto", { tool_choice: { type: "auto" } }, {
      toolChoice: { type: "auto" },
    }],
    [
      "choice any, one call",
      { tool_choice: { type: "any", disable_parallel_tool_use: true } },
      { toolChoice: { type: "required" }, parallelTools: false },
    ],
    [
      "choice by name",
      {
        tool_choice: {
          type: "tool",
          name: "f",
          disable_parallel_tool_use: false,
        },
      },
      { toolChoice: { type: "tool", name: "f" } },
    ],
    ["choice none", { tool_choice: { type: "none" } }, {
      toolChoice: { type: "none" },
    }],
    [
      "a budget",
      {
        max_tokens: 1025,
        thinking: { type: "enabled", budget_tokens: 1024, display: "omitted" },
      },
      {
        maxTokens: 1025,
        reasoning: { mode: "on", budgetTokens: 1024, visible: false },
      },
    ],
    ["no reasoning", { thinking: { type: "disabled" } }, {
      reasoning: { mode: "off" },
    }],
    [
      "adaptive reasoning with effort",
      {
        thinking: { type: "adaptive", display: "summarized" },
        output_config: { effort: "xhigh", format: null },
      },
      { reasoning: { mode: "auto", effort: "xhigh", visible: true } },
    ],
    ["reasoning between tools", { thinking: { type: "between_tools" } }, {
      reasoning: { mode: "auto" },
    }],
    ["no effort given", { output_config: { effort: null } }, {}],
  ];
  for (const [name, over, expected] of rows) {
    await t.step(name, () => {
      const { fieldNames: _, ...rest } = atOnce(decodeRequest(body(over)));
      const { fieldNames: __, ...base } = atOnce(decodeRequest(body()));
      assert.deepEqual(rest, { ...base, ...expected });
    });
  }
});

Deno.test("decodeRequest() reads both fields for the output format, and names the one used", () => {
  const schema = { type: "object" };
  const newer = atOnce(decodeRequest(body({
    output_config: { format: { type: "json_schema", schema } },
  })));
  assert.deepEqual(newer.format, { type: "schema", schema });
  assert.deepEqual(newer.unknownFields, []);
  assert.equal(newer.fieldNames.format, "output_config.format");
  const older = atOnce(decodeRequest(body({
    output_format: { type: "json_schema", schema },
  })));
  assert.deepEqual(older.format, { type: "schema", schema });
  assert.deepEqual(older.unknownFields, []);
  assert.equal(older.fieldNames.format, "output_format");
});

Deno.test("decodeRequest() names a lone effort by its own field", () => {
  const request = atOnce(
    decodeRequest(body({ output_config: { effort: "low" } })),
  );
  assert.deepEqual(request.reasoning, { mode: "auto", effort: "low" });
  assert.equal(request.fieldNames.reasoning, "output_config.effort");
});

Deno.test("decodeRequest() carries schemas by reference", () => {
  const input_schema = { properties: { default: { type: "string" } } };
  const request = atOnce(decodeRequest(body({
    tools: [{ name: "f", input_schema, description: "d", strict: true }],
  })));
  assert.deepEqual(request.unknownFields, []);
  const [tool] = request.tools ?? [];
  assert.ok(tool?.type === "function");
  assert.equal(tool.parameters, input_schema);
  assert.deepEqual(tool, {
    type: "function",
    name: "f",
    description: "d",
    parameters: input_schema,
    strict: true,
  });
});

Deno.test("decodeRequest() reads a vendor's tool as opaque, in the order given", () => {
  const web = { type: "web_search_20250305", name: "web_search", max_uses: 2 };
  const request = atOnce(decodeRequest(body({
    tools: [
      web,
      { type: "custom", name: "f", input_schema: {} },
      { type: "mcp_toolset", mcp_server_name: "s" },
    ],
  })));
  assert.deepEqual(request.tools, [
    {
      type: "opaque",
      from: "messages",
      kind: "web_search_20250305",
      name: "web_search",
      path: "tools[0]",
      value: web,
      search: { max_uses: 2, others: [] },
    },
    { type: "function", name: "f", parameters: {} },
    {
      type: "opaque",
      from: "messages",
      kind: "mcp_toolset",
      path: "tools[2]",
      value: { type: "mcp_toolset", mcp_server_name: "s" },
    },
  ]);
});

Deno.test("decodeRequest() reads every kind of block", async (t) => {
  const png = { type: "base64", media_type: "image/PNG", data: "AA==" };
  const rows: readonly [string, unknown, unknown][] = [
    ["text", text(""), [text("")]],
    ["a picture in place", { type: "image", source: png }, [
      imagePart("image/png", "AA=="),
    ]],
    [
      "a picture of type image/jpg",
      { type: "image", source: { ...png, media_type: "image/jpg" } },
      [imagePart("image/jpeg", "AA==")],
    ],
    [
      "a picture by address",
      imageAt("https://x/y"),
      [imageAt("https://x/y")],
    ],
    [
      "a document of text",
      {
        type: "document",
        source: { type: "text", media_type: "text/plain", data: "D" },
        title: "T",
        context: null,
      },
      [{ type: "document", source: text("D"), title: "T" }],
    ],
    [
      "a document in place",
      {
        type: "document",
        source: { type: "base64", media_type: "application/pdf", data: "AA==" },
        context: "C",
      },
      [{
        type: "document",
        source: { type: "base64", mediaType: "application/pdf", data: "AA==" },
        context: "C",
      }],
    ],
    [
      "a document by address",
      documentAt("https://x/y.pdf"),
      [documentAt("https://x/y.pdf")],
    ],
    [
      "a document of one text",
      { type: "document", source: { type: "content", content: "D" } },
      [{ type: "document", source: text("D") }],
    ],
    [
      "a document of blocks",
      {
        type: "document",
        source: {
          type: "content",
          content: [
            text("a"),
            text("b"),
            { type: "image", source: png },
            text("c"),
          ],
        },
      },
      [
        { type: "document", source: text("a\nb") },
        imagePart("image/png", "AA=="),
        { type: "document", source: text("c") },
      ],
    ],
    [
      "a search result",
      {
        type: "search_result",
        title: "T",
        source: "https://s",
        content: [text("a"), text("b")],
      },
      [text("T\nhttps://s\na\nb")],
    ],
    [
      "signed reasoning without text",
      { type: "thinking", thinking: "", signature: "S" },
      [reasoning("", "messages", "S")],
    ],
    [
      "unsigned reasoning",
      { type: "thinking", thinking: "hm", signature: "" },
      [{ type: "reasoning", text: "hm" }],
    ],
    [
      "redacted reasoning",
      { type: "redacted_thinking", data: "R" },
      [{
        type: "reasoning",
        text: "",
        signature: { from: "messages", value: "R", redacted: true },
      }],
    ],
    [
      "a call",
      toolUse("a", "f", { x: [1] }),
      [call("a", "f", '{"x":[1]}')],
    ],
    [
      "a call without input",
      { type: "tool_use", id: "a", name: "f" },
      [call("a", "f", "")],
    ],
    [
      "a call with another dialect's signature",
      {
        type: "tool_use",
        id: "a",
        name: "f",
        input: {},
        extra_content: { google: { thought_signature: "G" } },
      },
      [{
        type: "tool_call",
        id: "a",
        name: "f",
        arguments: "{}",
        signature: { from: "generate_content", value: "G" },
      }],
    ],
    [
      "a result of text",
      toolResult("a", "ok"),
      [result("a", text("ok"))],
    ],
    [
      "a result of nothing",
      { type: "tool_result", tool_use_id: "a", is_error: true },
      [{ type: "tool_result", id: "a", content: [], failed: true }],
    ],
    [
      "a result of blocks",
      {
        type: "tool_result",
        tool_use_id: "a",
        is_error: false,
        content: [
          text("t"),
          { type: "image", source: png },
          { type: "tool_reference", tool_name: "f" },
          { type: "search_result", title: "T", source: "s", content: [] },
        ],
      },
      [result(
        "a",
        text("t"),
        imagePart("image/png", "AA=="),
        text("Loaded tool: f"),
        text("T\ns"),
      )],
    ],
  ];
  for (const [name, block, expected] of rows) {
    await t.step(name, () => {
      const mine = /reasoning|call/.test(name) ? "assistant" : "user";
      assert.deepEqual(withoutPaths(parts([block], mine)), expected);
    });
  }
});

Deno.test("decodeRequest() reads parts that only this dialect has as opaque", async (t) => {
  const rows: readonly [
    string,
    string,
    Record<string, unknown>,
    boolean,
    string,
  ][] = [
    [
      "a server tool's call",
      "assistant",
      { type: "server_tool_use", id: "s", name: "web_search", input: {} },
      false,
      "messages[0].content[0]",
    ],
    [
      "a system turn's change of a server's tools",
      "system",
      { type: "tool_addition", tool: { type: "mcp_toolset_reference" } },
      true,
      "messages[0].content[0]",
    ],
  ];
  for (const [name, role, block, essential, path] of rows) {
    await t.step(name, () =>
      assert.deepEqual(parts([block], role), [{
        type: "opaque",
        from: "messages",
        kind: block["type"],
        path,
        value: block,
        essential,
      }]));
  }
});

Deno.test("decodeRequest() names each field without a neutral counterpart once", () => {
  const request = atOnce(decodeRequest(body({
    cache_control: { type: "ephemeral" },
    container: null,
    context_management: { edits: [] },
    metadata: { user_id: "u", team: "t" },
    output_config: { effort: "low", task_budget: {} },
    system: [{ type: "text", text: "s", cache_control: {} }],
    tools: [{
      name: "f",
      input_schema: {},
      defer_loading: true,
      cache_control: {},
      input_examples: [{}],
    }],
    messages: [
      user({ type: "text", text: "a", cache_control: {} }, {
        type: "text",
        text: "b",
        cache_control: {},
      }),
      assistant({
        type: "tool_use",
        id: "i",
        name: "f",
        input: {},
        caller: { type: "direct" },
      }),
      user(toolResult("i", [{ type: "text", text: "r", cache_control: {} }])),
      { role: "system", content: "now", output_config: { effort: "low" } },
    ],
  })));
  assert.equal(request.promptCache, "5m");
  assert.deepEqual([...request.unknownFields].sort(), [
    "context_management",
    "messages[].content[].cache_control",
    "messages[].content[].content[].cache_control",
    "messages[].output_config",
    "metadata.team",
    "output_config.task_budget",
    "system[].cache_control",
    "tools[].cache_control",
    "tools[].defer_loading",
    "tools[].input_examples",
  ]);
  assert.deepEqual(request.essential, []);
});

Deno.test("decodeRequest() refuses to translate a continued thread: its history is at the vendor", () => {
  const request = atOnce(decodeRequest(body({
    thread: { type: "continue", previous_message_id: "msg_1" },
  })));
  assert.equal(request.refusal?.details.param, "thread");
  assert.equal(request.refusal?.details.code, "thread_not_found");
  assert.deepEqual(request.unknownFields, []);
  const fresh = atOnce(decodeRequest(body({ thread: { type: "create" } })));
  assert.equal(fresh.refusal, undefined);
  assert.deepEqual(fresh.unknownFields, ["thread"]);
});

Deno.test("decodeRequest() does not modify the client's request", () => {
  const request = body({
    system: [{ type: "text", text: "s", cache_control: { type: "ephemeral" } }],
    tools: [{ name: "f", input_schema: { type: "object" }, cache_control: {} }],
  });
  const before = structuredClone(request);
  atOnce(decodeRequest(request));
  assert.deepEqual(request, before);
});

Deno.test("decodeRequest() accepts opaque values nested 100,000 deep", () => {
  const deep = JSON.parse(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`);
  const request = atOnce(decodeRequest(body({
    context_management: deep,
    tools: [{ name: "f", input_schema: deep }],
    messages: [assistant(toolUse("i", "f", deep), {
      type: "newer",
      data: deep,
    })],
  })));
  assert.equal(request.turns[0]?.parts.length, 2);
});

Deno.test("decodeCountTokens() does not require max_tokens", () => {
  const request = atOnce(decodeCountTokens({
    model: "m",
    messages: [user("hi")],
    system: "s",
    thinking: { type: "enabled", budget_tokens: 1024 },
    tools: [{ name: "f", input_schema: {} }],
  }));
  assert.equal(request.maxTokens, undefined);
  assert.equal(request.tools?.length, 1);
  assert.deepEqual(request.system, [text("s")]);
  assert.deepEqual(request.reasoning, { mode: "on", budgetTokens: 1024 });
  assert.equal(
    refusalOf(() => atOnce(decodeCountTokens({ model: "m" }))).details.param,
    "messages",
  );
});

Deno.test("messagesRequest has a JSON Schema with descriptions for the OpenAPI document", () => {
  const schema = z.toJSONSchema(messagesRequest, { unrepresentable: "any" });
  assert.deepEqual(schema.required, ["model", "messages", "max_tokens"]);
  const count = z.toJSONSchema(countTokensRequest, { unrepresentable: "any" });
  assert.deepEqual(count.required, ["model", "messages"]);
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    assert.ok(
      typeof field === "object" && (field.description ?? "") !== "",
      name,
    );
  }
});

Deno.test("decodeRequest() keeps the paths of media parts and of the ids of calls and results", () => {
  const image = imageAt("u");
  const document = documentAt("u");
  const request = atOnce(decodeRequest({
    model: "m",
    max_tokens: 1,
    messages: [
      user(text("a"), image, document),
      assistant(toolUse("a")),
      user(toolResult("a", [image]), {
        type: "document",
        source: { type: "content", content: [image] },
      }),
    ],
  }));
  const places: string[] = [];
  JSON.stringify(request.turns, (key, value) => {
    if (key === "at") places.push(value);
    return value;
  });
  assert.deepEqual(places, [
    "messages[0].content[1]",
    "messages[0].content[2]",
    "messages[1].content[0].id",
    "messages[2].content[0].content[0]",
    "messages[2].content[0].tool_use_id",
    "messages[2].content[1].source.content[0]",
  ]);
});

Deno.test("decodeRequest() reads a block in a role that may not contain it as opaque, valid or malformed", async (t) => {
  const rows: readonly (readonly [string, JsonObject])[] = [
    ["system", { type: "tool_use" }],
    ["system", { type: "tool_result" }],
    ["system", { type: "image" }],
    ["system", { type: "document" }],
    ["system", { type: "search_result" }],
    ["system", { type: "thinking" }],
    ["system", { type: "redacted_thinking" }],
    ["assistant", toolResult("a", "x")],
    ["user", toolUse("a")],
    ["user", { type: "thinking", thinking: "x", signature: "S" }],
    ["user", { type: "redacted_thinking", data: "x" }],
  ];
  for (const [role, block] of rows) {
    await t.step(`${block["type"]} in a ${role} turn`, () => {
      const { turns } = atOnce(decodeRequest({
        model: "m",
        max_tokens: 1,
        messages: [{ role, content: [block] }],
      }));
      assert.deepEqual(turns[0]?.parts, [{
        type: "opaque",
        from: "messages",
        kind: block["type"],
        path: "messages[0].content[0]",
        value: block,
        essential: true,
      }]);
    });
  }
});
