import assert from "node:assert/strict";
import type { Capabilities } from "../../model/capabilities.ts";
import { ApiError } from "../../model/error.ts";
import type { JsonObject } from "../../bytes/json.ts";
import type { GenerationRequest, Part, Turn } from "../../model/request.ts";
import { encodeRequest } from "./encode_request.ts";
import { decodeRequest } from "./decode_request.ts";
import {
  documentPart,
  imagePart,
  reasoning,
  sampleRequest,
  turn,
} from "../../testing/sample_request.ts";
import { ADAPTIVE, BUDGET } from "./sample_models.ts";
import {
  assistant,
  imageAt,
  objectOf,
  text,
  toolResult,
  toolUse,
  user,
} from "../../testing/request_samples.ts";
import { refusalOf } from "../../testing/refusal_of.ts";
import { atOnce } from "../../steps.ts";
const call = (id: string, args = "{}", name = "f"): Part => ({
  type: "tool_call",
  id,
  name,
  arguments: args,
});
const result = (id: string, value = "ok"): Part => ({
  type: "tool_result",
  id,
  content: [text(value)],
});
const F = {
  type: "function",
  name: "f",
  parameters: { type: "object" },
} as const;
const WIRE_F = { name: "f", input_schema: { type: "object" } };
const HI = [user(text("hi"))];

function encode(
  over: Partial<GenerationRequest>,
  can: Capabilities = BUDGET,
): { body: JsonObject; dropped: readonly string[] } {
  const { body, dropped } = atOnce(encodeRequest(sampleRequest(over), can));
  return { body, dropped };
}

function messagesOf(turns: readonly Turn[], can = BUDGET): unknown {
  return encode({ turns }, can).body["messages"];
}

function refusal(over: Partial<GenerationRequest>, can = BUDGET): ApiError {
  return refusalOf(() => encode(over, can));
}

Deno.test("encodeRequest() encodes plain fields, and names the dropped ones", async (t) => {
  const rows: readonly [
    string,
    Partial<GenerationRequest>,
    JsonObject,
    readonly string[],
    Capabilities?,
  ][] = [
    ["the client's cap", { maxTokens: 5 }, { max_tokens: 5 }, []],
    ["a cap of 0", { maxTokens: 0 }, { max_tokens: 0 }, []],
    [
      "a cap above the model's",
      { maxTokens: 9000 },
      { max_tokens: 4000 },
      ["MAX_TOKENS"],
      { ...BUDGET, maxOutputTokens: 4000 },
    ],
    [
      "a default above the model's",
      {},
      { max_tokens: 4000 },
      [],
      { ...BUDGET, maxOutputTokens: 4000 },
    ],
    ["stream", { stream: true }, { stream: true }, []],
    ["temperature 0", { temperature: 0 }, { temperature: 0 }, []],
    ["temperature 2", { temperature: 2 }, { temperature: 1 }, ["TEMPERATURE"]],
    ["top_p 0", { topP: 0 }, { top_p: 0 }, []],
    [
      "both samplings",
      { temperature: 0.5, topP: 0.5 },
      { temperature: 0.5 },
      ["TOP_P"],
    ],
    [
      "both where both are taken",
      { temperature: 0.5, topP: 0.5 },
      { temperature: 0.5, top_p: 0.5 },
      [],
      { ...BUDGET, sampling: "all" },
    ],
    [
      "sampling where none is taken",
      { temperature: 0, topP: 1, topK: 3 },
      {},
      ["TEMPERATURE", "TOP_P", "TOP_K"],
      ADAPTIVE,
    ],
    ["top_k", { topK: 3 }, { top_k: 3 }, []],
    ["top_k where not taken", { topK: 3 }, {}, ["TOP_K"], {
      ...BUDGET,
      topK: false,
    }],
    ["stops", { stop: ["a"] }, { stop_sequences: ["a"] }, []],
    ["blank stops", { stop: ["\n", "a", ""] }, { stop_sequences: ["a"] }, [
      "STOP",
    ]],
    ["only blank stops", { stop: ["\n\n"] }, {}, ["STOP"]],
    ["too many stops", { stop: ["a", "b"] }, { stop_sequences: ["a"] }, [
      "STOP",
    ], { ...BUDGET, maxStops: 1 }],
    ["a user", { user: "u-1" }, { metadata: { user_id: "u-1" } }, []],
    ["a user's e-mail", { user: "a.b@c.example" }, {}, ["USER"]],
    ["a user's phone", { user: "+49 (30) 123-456" }, {}, ["USER"]],
    [
      "a user of JSON",
      { user: '{"device_id":"d","account_uuid":""}' },
      { metadata: { user_id: '{"device_id":"d","account_uuid":""}' } },
      [],
    ],
    [
      "a user of 257 characters",
      { user: "u".repeat(257) },
      {
        metadata: {
          user_id:
            "36868c95693f7961e19205254a6e613547eeb4375b384159e91a462f70e8af26",
        },
      },
      [],
    ],
    [
      "a model whose prompts are to be cached",
      {},
      { cache_control: { type: "ephemeral" } },
      [],
      { ...BUDGET, promptCaching: true },
    ],
    ["tier auto", { serviceTier: "auto" }, { service_tier: "auto" }, []],
    [
      "tier default",
      { serviceTier: "default" },
      { service_tier: "standard_only" },
      [],
    ],
    [
      "what has no word",
      {
        seed: 0,
        logprobs: 0,
        presencePenalty: 0.5,
        frequencyPenalty: 0,
        replyCount: 1,
        unknownFields: ["logit_bias", "logit_bias"],
      },
      {},
      ["logit_bias", "SEED", "LOGPROBS", "PRESENCE"],
    ],
    [
      "JSON as a hint",
      { format: { type: "json" } },
      {
        system: [
          text(
            "Reply with one JSON object only: no other text, no code fence.",
          ),
        ],
      },
      ["FORMAT"],
    ],
    ["text as nothing", { format: { type: "text" } }, {}, []],
  ];
  for (const [name, over, expected, dropped, can] of rows) {
    await t.step(name, () => {
      const got = encode(over, can);
      const { model: _, messages: __, max_tokens, ...rest } = got.body;
      const cap = expected["max_tokens"] ?? 8192;
      assert.equal(max_tokens, cap);
      const { max_tokens: ___, ...others } = expected;
      assert.deepEqual(rest, others);
      assert.deepEqual(got.dropped, dropped);
    });
  }
});

Deno.test("encodeRequest() refuses fields that it can neither express nor drop", async (t) => {
  const bmp: Part = imagePart("image/bmp", "AA==");
  const userTurn = (...parts: Part[]) => ({ turns: [turn("user", ...parts)] });
  const rows: readonly [
    string,
    Partial<GenerationRequest>,
    string,
    Capabilities?,
  ][] = [
    ["several replies", { replyCount: 2 }, "REPLY_COUNT"],
    ["sound as output", { essential: ["modalities"] }, "modalities"],
    [
      "sound",
      userTurn({ type: "audio", format: "wav", data: "AA==" }),
      "MESSAGES",
    ],
    ["a picture of another type", userTurn(bmp), "MESSAGES"],
    [
      "a document of another type",
      userTurn(documentPart("application/zip", "AA==")),
      "MESSAGES",
    ],
    [
      "an address where none is taken",
      userTurn(imageAt("https://x/y.png")),
      "MESSAGES",
      { ...BUDGET, mediaUrls: false },
    ],
    [
      "another dialect's tool as the choice",
      {
        tools: [F, {
          type: "opaque",
          from: "chat_completions",
          kind: "custom",
          name: "g",
          path: "tools[1]",
          value: {},
        }],
        toolChoice: { type: "tool", name: "g" },
      },
      "TOOL_CHOICE",
    ],
    ["nothing to answer", { turns: [turn("user", text(" "))] }, "MESSAGES"],
    [
      "a format that no tool can replace",
      { format: { type: "schema", schema: { type: "array" } } },
      "FORMAT",
      { ...BUDGET, structuredOutput: false },
    ],
  ];
  for (const [name, over, param, can] of rows) {
    await t.step(name, () => {
      const error = refusal(over, can);
      assert.equal(error.kind, "invalid_request");
      assert.equal(error.details.param, param);
    });
  }
});

Deno.test("encodeRequest() arranges turns", async (t) => {
  const rows: readonly [string, readonly Turn[], unknown, Capabilities?][] = [
    [
      "results of parallel calls and the text after them become one turn, results first",
      [
        turn("user", text("go")),
        turn("assistant", text("well"), call("a", '{"x":1}'), call("b", "")),
        turn("user", result("a")),
        turn("user", text("also"), result("b", "no")),
      ],
      [
        user(text("go")),
        assistant(text("well"), toolUse("a", "f", { x: 1 }), toolUse("b")),
        user(
          toolResult("a", [text("ok")]),
          toolResult("b", [text("no")]),
          text("also"),
        ),
      ],
    ],
    [
      "blank texts go, and the turns that they leave empty, and neighbours merge",
      [
        turn("user", text("a")),
        turn("assistant", text("")),
        turn("user", text("\n"), text("b")),
      ],
      [user(text("a"), text("b"))],
    ],
    [
      "system turns become marked user text in their place",
      [
        turn("user", text("a")),
        turn("assistant", call("a")),
        turn("system", text("S")),
        turn("user", result("a")),
      ],
      [
        user(text("a")),
        assistant(toolUse("a")),
        user(
          toolResult("a", [text("ok")]),
          text("<system-reminder>\nS\n</system-reminder>"),
        ),
      ],
    ],
    [
      "system turns stay where they may, but behind results",
      [
        turn("system", text("0")),
        turn("user", text("a")),
        turn("assistant", call("a")),
        turn("system", text("S")),
        turn("user", result("a")),
        turn("user", text("b")),
      ],
      [
        { role: "system", content: [text("0")] },
        user(text("a")),
        assistant(toolUse("a")),
        user(toolResult("a", [text("ok")])),
        { role: "system", content: [text("S")] },
        user(text("b")),
      ],
      ADAPTIVE,
    ],
    [
      "a text to be continued ends without blanks",
      [turn("user", text("a")), turn("assistant", text("{ \n"))],
      [
        user(text("a")),
        assistant(text("{")),
      ],
    ],
    [
      "a text that must not be continued is followed by a wish to",
      [turn("user", text("a")), turn("assistant", text("b "))],
      [
        user(text("a")),
        assistant(text("b")),
        user(text("Continue.")),
      ],
      ADAPTIVE,
    ],
    [
      "a call that waits for its result is followed by nothing",
      [turn("assistant", call("a"))],
      [assistant(toolUse("a"))],
      ADAPTIVE,
    ],
  ];
  for (const [name, turns, expected, can] of rows) {
    await t.step(name, () => {
      assert.deepEqual(messagesOf(turns, can), expected);
    });
  }
});

Deno.test("encodeRequest() numbers calls with the same id, and their results", () => {
  const messages = messagesOf([
    turn("assistant", call("c.1"), call("d")),
    turn("user", result("c.1"), result("d"), result("lost")),
    turn("assistant", call("c.1")),
    turn("user", result("c.1"), result("c.1")),
  ]);
  const first = "call_255b58d8aa3fb39830e0c31a887fa317";
  assert.deepEqual(
    [...JSON.stringify(messages).matchAll(/"(?:tool_use_)?id":"([^"]*)"/g)]
      .map((found) => found[1]),
    [first, "d", first, "d", "lost", `${first}_1`, `${first}_1`, `${first}_1`],
  );
});

Deno.test("encodeRequest() turns a lone system prompt into a user turn", () => {
  const { body } = encode({
    turns: [],
    system: [text("S")],
  });
  assert.deepEqual(body["messages"], [user(text("S"))]);
  assert.equal(body["system"], undefined);
});

Deno.test("encodeRequest() requests the beta only for a system turn inside the conversation", () => {
  const turns = [turn("user", text("a")), turn("system", text("S"))];
  assert.deepEqual(
    atOnce(encodeRequest(sampleRequest({ turns }), ADAPTIVE)).headers,
    {
      "anthropic-beta": "mid-conversation-system-2026-04-07",
    },
  );
  assert.deepEqual(
    atOnce(encodeRequest(sampleRequest({ turns }), BUDGET)).headers,
    {},
  );
  assert.deepEqual(
    atOnce(encodeRequest(sampleRequest(), ADAPTIVE)).headers,
    {},
  );
});

Deno.test("encodeRequest() encodes every kind of part", async (t) => {
  const png = { type: "base64", mediaType: "image/png", data: "AA==" } as const;
  const wirePng = {
    type: "image",
    source: { type: "base64", media_type: "image/png", data: "AA==" },
  };
  const rows: readonly [string, Part, readonly unknown[]][] = [
    ["a picture", { type: "image", source: png }, [wirePng]],
    [
      "a picture by address",
      imageAt("https://x/y"),
      [imageAt("https://x/y")],
    ],
    [
      "a PDF",
      {
        type: "document",
        source: { type: "base64", mediaType: "application/pdf", data: "AA==" },
        title: "T",
        context: "C",
      },
      [{
        type: "document",
        source: { type: "base64", media_type: "application/pdf", data: "AA==" },
        title: "T",
        context: "C",
      }],
    ],
    [
      "a text file",
      documentPart("text/csv", "w6QsMQ=="),
      [{
        type: "document",
        source: { type: "text", media_type: "text/plain", data: "ä,1" },
      }],
    ],
    ["a refusal", { type: "refusal", text: "no" }, [text("no")]],
    [
      "a failed result without content",
      { type: "tool_result", id: "a", content: [], failed: true },
      [{ type: "tool_result", tool_use_id: "a", is_error: true }],
    ],
    [
      "a result with a picture and a blank",
      {
        type: "tool_result",
        id: "a",
        content: [text(""), { type: "image", source: png }],
      },
      [toolResult("a", [wirePng])],
    ],
  ];
  for (const [name, part, content] of rows) {
    await t.step(
      name,
      () =>
        assert.deepEqual(messagesOf([turn("user", part)]), [{
          role: "user",
          content,
        }]),
    );
  }
});

Deno.test("encodeRequest() puts a result's images behind all results where they may not be inside", () => {
  const can = { ...BUDGET, imagesInToolResult: false };
  const png = { type: "base64", mediaType: "image/png", data: "AA==" } as const;
  assert.deepEqual(
    messagesOf([
      turn(
        "user",
        {
          type: "tool_result",
          id: "a",
          content: [{ type: "image", source: png }],
        },
        result("b"),
        text("so?"),
      ),
    ], can),
    [user(
      { type: "tool_result", tool_use_id: "a" },
      toolResult("b", [text("ok")]),
      text("Picture from the result of call a:"),
      {
        type: "image",
        source: { type: "base64", media_type: "image/png", data: "AA==" },
      },
      text("so?"),
    )],
  );
});

Deno.test("encodeRequest() wraps arguments that are not an object, and names them", async (t) => {
  for (const args of ['{"a":', "[1]", '"x"', "null", "3"]) {
    await t.step(args, () => {
      const got = encode({ turns: [turn("assistant", call("a", args))] });
      assert.deepEqual(got.body["messages"], [
        assistant(toolUse("a", "f", { __raw_arguments: args })),
      ]);
      assert.deepEqual(got.dropped, ["ARGUMENTS"]);
    });
  }
});

Deno.test("encodeRequest() replays only reasoning that this dialect signed, in its order", () => {
  const from = "messages" as const;
  assert.deepEqual(
    messagesOf([
      turn("user", text("a")),
      turn(
        "assistant",
        reasoning("", from, "S"),
        { type: "reasoning", text: "unsigned" },
        reasoning("other", "generate_content", "G"),
        text("b"),
        {
          type: "reasoning",
          text: "",
          signature: { from, value: "R", redacted: true },
        },
        {
          type: "tool_call",
          id: "c",
          name: "f",
          arguments: "{}",
          signature: { from: "generate_content", value: "G" },
        },
      ),
    ]),
    [
      user(text("a")),
      assistant({ type: "thinking", thinking: "", signature: "S" }, text("b"), {
        type: "redacted_thinking",
        data: "R",
      }, toolUse("c")),
    ],
  );
});

Deno.test("encodeRequest() leaves out reasoning that nothing follows", async (t) => {
  const signed = (value: string, redacted = false): Part => ({
    type: "reasoning",
    text: redacted ? "" : "hm",
    signature: {
      from: "messages",
      value,
      ...(redacted ? { redacted: true } : {}),
    },
  });
  const thinking = { type: "thinking", thinking: "hm", signature: "one" };
  const said = text("a");
  const rows: readonly [string, readonly Part[], readonly JsonObject[]][] = [
    ["reasoning alone", [signed("one")], []],
    ["reasoning before a blank text", [signed("one"), text(" ")], []],
    [
      "redacted reasoning last",
      [signed("one"), text("a"), signed("two", true)],
      [
        thinking,
        said,
      ],
    ],
    ["reasoning before a text", [signed("one"), text("a")], [thinking, said]],
  ];
  for (const [name, parts, content] of rows) {
    await t.step(name, () =>
      assert.deepEqual(
        messagesOf([
          turn("user", text("hi")),
          { role: "assistant", parts },
          turn("user", text("on")),
        ]),
        content.length === 0 ? [user(text("hi"), text("on"))] : [
          ...HI,
          { role: "assistant", content },
          user(text("on")),
        ],
      ));
  }
});

Deno.test("encodeRequest() drops and names another dialect's part that is not essential", () => {
  const got = encode({
    turns: [turn("user", text("a"), {
      type: "opaque",
      from: "chat_completions",
      kind: "k",
      path: "messages[0].k",
      value: {},
      essential: false,
    })],
  });
  assert.deepEqual(got.body["messages"], [user(text("a"))]);
  assert.deepEqual(got.dropped, ["messages[0].k"]);
});

Deno.test("encodeRequest() encodes tools and the tool choice", async (t) => {
  const rows: readonly [
    string,
    Partial<GenerationRequest>,
    JsonObject,
    readonly string[],
    Capabilities?,
  ][] = [
    ["a tool", { tools: [F] }, { tools: [WIRE_F] }, []],
    [
      "a schema without type keeps all its keywords",
      {
        tools: [{
          type: "function",
          name: "f",
          parameters: { properties: {}, anyOf: [{}], $defs: { a: {} } },
        }],
      },
      {
        tools: [{
          name: "f",
          input_schema: {
            properties: {},
            anyOf: [{}],
            $defs: { a: {} },
            type: "object",
          },
        }],
      },
      [],
    ],
    [
      "a strict tool is sanitised",
      {
        tools: [{
          type: "function",
          name: "f",
          strict: true,
          parameters: objectOf({ a: { type: "number", minimum: 1 } }),
        }],
      },
      {
        tools: [{
          name: "f",
          strict: true,
          input_schema: {
            type: "object",
            properties: { a: { type: "number", description: "{minimum: 1}" } },
            additionalProperties: false,
          },
        }],
      },
      [],
    ],
    ["no tools", { tools: [], toolChoice: { type: "auto" } }, {}, []],
    [
      "a demand without tools",
      { toolChoice: { type: "required" }, parallelTools: false },
      {},
      ["TOOL_CHOICE"],
    ],
    [
      "auto",
      { tools: [F], toolChoice: { type: "auto" } },
      { tools: [WIRE_F], tool_choice: { type: "auto" } },
      [],
    ],
    [
      "required",
      { tools: [F], toolChoice: { type: "required" } },
      { tools: [WIRE_F], tool_choice: { type: "any" } },
      [],
    ],
    [
      "by name",
      { tools: [F], toolChoice: { type: "tool", name: "f" } },
      { tools: [WIRE_F], tool_choice: { type: "tool", name: "f" } },
      [],
    ],
    [
      "none keeps the tools and drops the switch",
      { tools: [F], toolChoice: { type: "none" }, parallelTools: false },
      { tools: [WIRE_F], tool_choice: { type: "none" } },
      [],
    ],
    [
      "one call at a time without a choice",
      { tools: [F], parallelTools: false },
      {
        tools: [WIRE_F],
        tool_choice: { type: "auto", disable_parallel_tool_use: true },
      },
      [],
    ],
    ["several calls are the default", { tools: [F], parallelTools: true }, {
      tools: [WIRE_F],
    }, []],
    [
      "one call at a time where there is no switch",
      { tools: [F], parallelTools: false },
      { tools: [WIRE_F] },
      ["PARALLEL"],
      { ...BUDGET, parallelToggle: false },
    ],
    [
      "allowed ones only",
      {
        tools: [F, { ...F, name: "g" }],
        toolChoice: { type: "allowed", required: true, names: ["g"] },
      },
      {
        tools: [{ ...WIRE_F, name: "g" }],
        tool_choice: { type: "any" },
      },
      [],
    ],
    [
      "unknown allowed tools",
      {
        tools: [F],
        toolChoice: { type: "allowed", required: false, names: ["x"] },
      },
      { tools: [WIRE_F], tool_choice: { type: "auto" } },
      [],
    ],
    [
      "stubs for the calls of the past, not to be called",
      {
        turns: [
          turn("user", text("a")),
          turn("assistant", call("a")),
          turn("user", result("a")),
        ],
      },
      {
        tools: [{
          name: "f",
          input_schema: objectOf({}),
        }],
        tool_choice: { type: "none" },
      },
      [],
    ],
  ];
  for (const [name, over, expected, dropped, can] of rows) {
    await t.step(name, () => {
      const got = encode(over, can);
      const { model: _, messages: __, max_tokens: ___, ...rest } = got.body;
      assert.deepEqual(rest, expected);
      assert.deepEqual(got.dropped, dropped);
    });
  }
});

Deno.test("encodeRequest() defines the tools of earlier calls beside the tool that binds the reply", () => {
  const { body, context } = atOnce(encodeRequest(
    sampleRequest({
      turns: [
        turn("user", text("a")),
        turn("assistant", call("a")),
        turn("user", result("a")),
      ],
      format: { type: "schema", schema: { type: "object" } },
    }),
    { ...BUDGET, structuredOutput: false },
  ));
  const tools = body["tools"] as { name: string }[];
  assert.deepEqual(tools.map(({ name }) => name), ["f", "structured_output"]);
  assert.equal(context.formatTool, "structured_output");
  assert.deepEqual(body["tool_choice"], {
    type: "tool",
    name: "structured_output",
    disable_parallel_tool_use: true,
  });
});

Deno.test("encodeRequest() passes a tool's schema by reference", () => {
  const parameters = objectOf({ default: {} });
  const { body } = encode({
    tools: [{ type: "function", name: "f", parameters }],
  });
  const tools = body["tools"];
  assert.ok(Array.isArray(tools));
  assert.equal(tools[0].input_schema, parameters);
});

Deno.test("encodeRequest() shortens names everywhere alike and returns the mapping", () => {
  const long = `mcp__${"x".repeat(200)}`;
  const { body, context } = atOnce(encodeRequest(
    sampleRequest({
      tools: [{ ...F, name: long }],
      toolChoice: { type: "tool", name: long },
      turns: [
        turn("assistant", call("a", "{}", long)),
        turn("user", result("a")),
      ],
    }),
    BUDGET,
  ));
  const [[wire, own] = ["", ""]] = [...context.toolNames];
  assert.equal(own, long);
  assert.equal(wire.length, 128);
  assert.equal(JSON.stringify(body).split(`"${wire}"`).length - 1, 3);
  assert.ok(!JSON.stringify(body).includes(long));
});

Deno.test("encodeRequest() binds the reply to a schema", async (t) => {
  const schema = objectOf({ n: { type: "integer", minimum: 1 } });
  const format = { type: "schema", name: "r", schema, strict: true } as const;
  const emulating = { ...BUDGET, structuredOutput: false };
  const tool = {
    name: "structured_output",
    description: "Give the final answer by calling this tool.",
    input_schema: schema,
  };
  const wireFormat = {
    type: "json_schema",
    schema: {
      type: "object",
      properties: { n: { type: "integer", description: "{minimum: 1}" } },
      additionalProperties: false,
    },
  };
  const rows: readonly [
    string,
    Partial<GenerationRequest>,
    Capabilities,
    JsonObject,
    string | undefined,
  ][] = [
    [
      "natively",
      {},
      BUDGET,
      { output_config: { format: wireFormat } },
      undefined,
    ],
    [
      "by a tool among others",
      { tools: [F] },
      emulating,
      { tools: [WIRE_F, tool], tool_choice: { type: "any" } },
      "structured_output",
    ],
    [
      "not where a call is demanded: then there is no text",
      { tools: [F], toolChoice: { type: "required" } },
      emulating,
      { tools: [WIRE_F], tool_choice: { type: "any" } },
      undefined,
    ],
    [
      "by a tool of another name where the name is taken",
      { tools: [{ ...F, name: "structured_output" }] },
      emulating,
      {
        tools: [
          { ...WIRE_F, name: "structured_output" },
          { ...tool, name: "structured_output_" },
        ],
        tool_choice: { type: "any" },
      },
      "structured_output_",
    ],
  ];
  for (const [name, over, can, expected, formatTool] of rows) {
    await t.step(name, () => {
      const got = atOnce(
        encodeRequest(sampleRequest({ format, ...over }), can),
      );
      const { model: _, messages: __, max_tokens: ___, ...rest } = got.body;
      assert.deepEqual(rest, expected);
      assert.equal(got.context.formatTool, formatTool);
      assert.deepEqual(got.dropped, []);
    });
  }
});

Deno.test("encodeRequest() requests reasoning in the way that the model supports", async (t) => {
  const rows: readonly [
    string,
    Partial<GenerationRequest>,
    Capabilities,
    JsonObject,
    readonly string[],
  ][] = [
    [
      "an effort as a budget, added to the default cap",
      { reasoning: { mode: "on", effort: "high" } },
      BUDGET,
      {
        max_tokens: 24576,
        thinking: { type: "enabled", budget_tokens: 16384 },
      },
      [],
    ],
    [
      "an effort as a budget within the client's cap",
      { reasoning: { mode: "on", effort: "high" }, maxTokens: 5000 },
      BUDGET,
      { max_tokens: 5000, thinking: { type: "enabled", budget_tokens: 3976 } },
      [],
    ],
    [
      "a small cap leaves the least budget",
      { reasoning: { mode: "on", effort: "high" }, maxTokens: 1500 },
      BUDGET,
      { max_tokens: 1500, thinking: { type: "enabled", budget_tokens: 1024 } },
      [],
    ],
    [
      "a cap that leaves none",
      { reasoning: { mode: "on", effort: "high" }, maxTokens: 1024 },
      BUDGET,
      { max_tokens: 1024 },
      ["REASONING"],
    ],
    [
      "the client's budget",
      {
        reasoning: { mode: "on", budgetTokens: 2000, visible: false },
        maxTokens: 2001,
      },
      BUDGET,
      {
        max_tokens: 2001,
        thinking: { type: "enabled", budget_tokens: 2000, display: "omitted" },
      },
      [],
    ],
    [
      "a budget above the model's",
      { reasoning: { mode: "on", budgetTokens: 64000 }, maxTokens: 128000 },
      BUDGET,
      {
        max_tokens: 128000,
        thinking: { type: "enabled", budget_tokens: 32000 },
      },
      ["REASONING"],
    ],
    [
      "off",
      { reasoning: { mode: "off" } },
      BUDGET,
      { max_tokens: 8192, thinking: { type: "disabled" } },
      [],
    ],
    [
      "off where it cannot be",
      { reasoning: { mode: "off" } },
      { ...BUDGET, reasoningOff: false },
      { max_tokens: 8192 },
      ["REASONING"],
    ],
    [
      "on where there is none",
      { reasoning: { mode: "on", effort: "low" } },
      { ...BUDGET, reasoning: "none" },
      { max_tokens: 8192 },
      ["REASONING"],
    ],
    [
      "off where there is none",
      { reasoning: { mode: "off" } },
      { ...BUDGET, reasoning: "none" },
      { max_tokens: 8192 },
      [],
    ],
    [
      "adaptively",
      { reasoning: { mode: "on", effort: "minimal", visible: true } },
      ADAPTIVE,
      {
        max_tokens: 8192,
        thinking: { type: "adaptive", display: "summarized" },
        output_config: { effort: "low" },
      },
      [],
    ],
    [
      "adaptively, an effort between two",
      { reasoning: { mode: "on", effort: "xhigh" } },
      ADAPTIVE,
      {
        max_tokens: 8192,
        thinking: { type: "adaptive" },
        output_config: { effort: "max" },
      },
      [],
    ],
    [
      "adaptively, from a budget",
      { reasoning: { mode: "on", budgetTokens: 9000 } },
      ADAPTIVE,
      {
        max_tokens: 8192,
        thinking: { type: "adaptive" },
        output_config: { effort: "medium" },
      },
      [],
    ],
    [
      "as the model likes",
      { reasoning: { mode: "auto" } },
      ADAPTIVE,
      { max_tokens: 8192, thinking: { type: "adaptive" } },
      [],
    ],
    [
      "as the model likes where there is none",
      { reasoning: { mode: "auto", visible: true } },
      { ...BUDGET, reasoning: "none" },
      { max_tokens: 8192 },
      [],
    ],
    [
      "off, adaptively",
      { reasoning: { mode: "off", effort: "max" } },
      ADAPTIVE,
      { max_tokens: 8192, thinking: { type: "disabled" } },
      [],
    ],
    [
      "by effort alone",
      { reasoning: { mode: "on", effort: "high" } },
      { ...BUDGET, reasoning: "effort" },
      { max_tokens: 8192, output_config: { effort: "high" } },
      [],
    ],
    [
      "the least effort, which has no word",
      { reasoning: { mode: "on", effort: "minimal" } },
      { ...BUDGET, reasoning: "effort" },
      { max_tokens: 8192, output_config: { effort: "low" } },
      [],
    ],
    [
      "not beside a forced call",
      {
        reasoning: { mode: "on", effort: "high" },
        tools: [F],
        toolChoice: { type: "required" },
      },
      BUDGET,
      { max_tokens: 8192, tools: [WIRE_F], tool_choice: { type: "any" } },
      ["REASONING"],
    ],
    [
      "not beside a forced call, adaptively",
      {
        reasoning: { mode: "on", effort: "high" },
        tools: [F],
        toolChoice: { type: "tool", name: "f" },
      },
      ADAPTIVE,
      {
        max_tokens: 8192,
        tools: [WIRE_F],
        tool_choice: { type: "tool", name: "f" },
        output_config: { effort: "high" },
      },
      ["REASONING"],
    ],
    [
      "not beside sampling",
      {
        reasoning: { mode: "on", effort: "low" },
        temperature: 0.5,
        topP: 0.9,
        topK: 3,
      },
      BUDGET,
      {
        max_tokens: 10240,
        thinking: { type: "enabled", budget_tokens: 2048 },
      },
      ["TEMPERATURE", "TOP_P", "TOP_K"],
    ],
    [
      "beside sampling that it bears",
      { reasoning: { mode: "on", effort: "low" }, topP: 0.95 },
      BUDGET,
      {
        max_tokens: 10240,
        thinking: { type: "enabled", budget_tokens: 2048 },
        top_p: 0.95,
      },
      [],
    ],
  ];
  for (const [name, over, can, expected, dropped] of rows) {
    await t.step(name, () => {
      const got = encode(over, can);
      const { model: _, messages: __, ...rest } = got.body;
      assert.deepEqual(rest, expected);
      assert.deepEqual(got.dropped, dropped);
    });
  }
});

Deno.test("encodeRequest() requests no budget while a call without signed reasoning is in progress", () => {
  const loop = (...first: Part[]) => ({
    reasoning: { mode: "on", effort: "low" } as const,
    tools: [F],
    turns: [
      turn("user", text("a")),
      turn("assistant", ...first, call("a")),
      turn("user", result("a")),
    ],
  });
  const unsigned = encode(loop());
  assert.equal(unsigned.body["thinking"], undefined);
  assert.deepEqual(unsigned.dropped, ["REASONING"]);
  const signed = encode(loop(reasoning("hm", "messages", "S")));
  assert.deepEqual(signed.body["thinking"], {
    type: "enabled",
    budget_tokens: 2048,
  });
  assert.deepEqual(encode(loop(), ADAPTIVE).body["thinking"], {
    type: "adaptive",
  });
});

Deno.test("encodeRequest() sends no prefill to a model that reasons or has an output format", async (t) => {
  const turns = [turn("user", text("a")), turn("assistant", text("b"))];
  const rows: readonly [string, Partial<GenerationRequest>][] = [
    ["reasoning", { reasoning: { mode: "on" } }],
    ["form", { format: { type: "schema", schema: { type: "object" } } }],
  ];
  for (const [name, over] of rows) {
    await t.step(name, () => {
      const messages = encode({ turns, ...over }).body["messages"];
      assert.ok(Array.isArray(messages));
      assert.deepEqual(messages.at(-1), user(text("Continue.")));
    });
  }
});

Deno.test("encodeRequest() sends this dialect's own opaque parts and tools unchanged", () => {
  const body = {
    model: "m",
    max_tokens: 10,
    messages: [
      user(text("a"), {
        type: "image",
        source: { type: "file", file_id: "f" },
      }),
      assistant(
        { type: "server_tool_use", id: "s", name: "web_search", input: {} },
        { type: "web_search_tool_result", tool_use_id: "s", content: [] },
        text("b"),
      ),
      user(text("c")),
    ],
    tools: [{ type: "web_search_20250305", name: "web_search" }],
    thinking: { type: "disabled" },
    stop_sequences: ["x"],
    metadata: { user_id: "u" },
    service_tier: "auto",
    stream: true,
  };
  const got = atOnce(encodeRequest(atOnce(decodeRequest(body)), BUDGET));
  assert.deepEqual(got.body, body);
  assert.deepEqual(got.dropped, []);
});

Deno.test("encodeRequest() does not modify the neutral request", () => {
  const request = sampleRequest({
    tools: [F],
    format: { type: "schema", schema: { oneOf: [{ type: "object" }] } },
    turns: [turn("user", text("a")), turn("user", result("a"), text(" "))],
  });
  const before = structuredClone(request);
  atOnce(encodeRequest(request, BUDGET));
  assert.deepEqual(request, before);
});

Deno.test("encodeRequest() wraps arguments that are nested too deep to be written", () => {
  // Numeric keys, and numbers beyond a double, make V8 write recursively.
  const deep = `${'{"5":'.repeat(9_000)}1${"}".repeat(9_000)}`;
  const long = `{"a":[12345678901234567890,${"[".repeat(3_500)}${
    "]".repeat(3_500)
  }]}`;
  for (const args of [deep, long]) {
    const got = encode({ turns: [turn("assistant", call("a", args))] });
    assert.equal(JSON.stringify(got.body).includes("__raw_arguments"), true);
    assert.deepEqual(got.dropped, ["ARGUMENTS"]);
  }
});
