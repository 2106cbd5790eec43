import assert from "node:assert/strict";
import { compact } from "../../bytes/compact.ts";
import type { Capabilities } from "../../model/capabilities.ts";
import { type JsonObject, objectOr } from "../../bytes/json.ts";
import type {
  FunctionTool,
  GenerationRequest,
  OpaqueTool,
  OutputFormat,
  Reasoning,
  ToolChoice,
} from "../../model/request.ts";
import { encodeRequest } from "./encode_request.ts";
import { sampleRequest } from "../../testing/sample_request.ts";
import { NEWER, OLDER } from "./sample_models.ts";
import {
  contentBy,
  contentsOf,
  objectOf,
  text,
} from "../../testing/request_samples.ts";
import { refusalOf } from "../../testing/refusal_of.ts";
import type { EncodedRequest } from "../../dialect.ts";
import { atOnce } from "../../steps.ts";

const SCHEMA: JsonObject = {
  type: "object",
  properties: { a: { type: "string" } },
  additionalProperties: false,
};
const F: FunctionTool = {
  type: "function",
  name: "f",
  description: "does f",
  parameters: SCHEMA,
};
const G: FunctionTool = { type: "function", name: "g" };
const SEARCH: OpaqueTool = {
  type: "opaque",
  from: "messages",
  kind: "web_search_20250305",
  name: "web_search",
  path: "tools[1]",
  value: { type: "web_search_20250305" },
};

function encode(
  over: Partial<GenerationRequest>,
  can: Capabilities = NEWER,
): EncodedRequest {
  return atOnce(encodeRequest(sampleRequest(over), can));
}

function refusedField(
  over: Partial<GenerationRequest>,
  can: Capabilities = NEWER,
): string | undefined {
  return refusalOf(() => encode(over, can)).details.param;
}

Deno.test("encodeRequest() encodes only the given fields, and no model", () => {
  assert.deepEqual(encode({}), {
    body: contentsOf(contentBy("user", { text: "hi" })),
    headers: {},
    dropped: [],
    context: { toolNames: new Map() },
  });
});

Deno.test("encodeRequest() encodes every part of the system prompt, without empty ones and the billing line", () => {
  const { body } = encode({
    system: [
      text("x-anthropic-billing-header: cc_version=1; cch=a;"),
      text("one"),
      text(""),
      text("x-anthropic-billing-header: cch=b;\ntwo"),
    ],
  });
  assert.deepEqual(body["systemInstruction"], {
    parts: [{ text: "one" }, { text: "two" }],
  });
});

Deno.test("encodeRequest() refuses fields whose loss would change the meaning", async (t) => {
  await t.step("an essential field", () => {
    assert.equal(
      refusedField({ essential: ["modalities", "audio"] }),
      "modalities",
    );
  });
  await t.step("several replies", () => {
    assert.equal(refusedField({ replyCount: 2 }), "REPLY_COUNT");
    assert.equal(
      encode({ replyCount: 1 }).body["generationConfig"],
      undefined,
    );
  });
  await t.step("an empty conversation", () => {
    assert.equal(refusedField({ turns: [] }), "MESSAGES");
  });
  await t.step("a cap of no tokens", () => {
    assert.equal(refusedField({ maxTokens: 0 }), "MAX_TOKENS");
  });
  await t.step("only tools of another dialect", () => {
    assert.equal(refusedField({ tools: [SEARCH] }), "tools[1]");
  });
  await t.step("a choice outside the tools", () => {
    for (
      const toolChoice of [
        { type: "tool", name: "nope" },
        { type: "allowed", required: true, names: ["nope"] },
      ] as const
    ) assert.equal(refusedField({ tools: [F], toolChoice }), "TOOL_CHOICE");
    assert.equal(
      refusedField({ toolChoice: { type: "required" } }),
      "TOOL_CHOICE",
    );
    assert.equal(
      refusedField({ tools: [], toolChoice: { type: "tool", name: "f" } }),
      "TOOL_CHOICE",
    );
  });
});

Deno.test("encodeRequest() turns a lone system prompt into a user turn", () => {
  const { body } = encode({
    turns: [],
    system: [text("s")],
  });
  assert.deepEqual(body, contentsOf(contentBy("user", { text: "s" })));
});

Deno.test("encodeRequest() drops and names a seed beyond 32 bits", () => {
  const most = 2 ** 31 - 1;
  assert.deepEqual(encode({ seed: most }).body["generationConfig"], {
    seed: most,
  });
  const { body, dropped } = encode({ seed: most + 1 });
  assert.equal(body["generationConfig"], undefined);
  assert.deepEqual(dropped, ["SEED"]);
});

Deno.test("encodeRequest() binds calls to the schemas where all functions are strict", () => {
  const strict = { type: "function", name: "f", strict: true } as const;
  const loose = { type: "function", name: "g" } as const;
  const rows: readonly (readonly [
    Partial<GenerationRequest>,
    mode: string | undefined,
    dropped: readonly string[],
    can?: Partial<Capabilities>,
  ])[] = [
    [{ tools: [strict] }, "VALIDATED", []],
    [{ tools: [strict], toolChoice: { type: "auto" } }, "VALIDATED", []],
    // A forced call always fits its schema.
    [{ tools: [strict], toolChoice: { type: "required" } }, "ANY", []],
    [{ tools: [strict], toolChoice: { type: "none" } }, "NONE", []],
    // The mode is for all functions, and constrains those that are not strict.
    [{ tools: [strict, loose] }, undefined, ["TOOLS[].strict"]],
    [
      { tools: [strict, loose], toolChoice: { type: "auto" } },
      "AUTO",
      ["TOOLS[].strict"],
    ],
    [{ tools: [strict] }, undefined, ["TOOLS[].strict"], {
      strictTools: false,
    }],
    [{ tools: [strict] }, undefined, ["TOOLS[].strict"], { schema: "openapi" }],
  ];
  for (const [request, mode, dropped, can] of rows) {
    const { body, dropped: named } = encode(request, {
      ...NEWER,
      ...can,
    });
    const { functionCallingConfig: config } = objectOr(body["toolConfig"]);
    assert.equal(objectOr(config)["mode"], mode);
    assert.deepEqual(named, dropped);
  }
  assert.deepEqual(
    encode({ tools: [{ ...strict, strict: false }] }).dropped,
    [],
  );
});

Deno.test("encodeRequest() names wrapped arguments as dropped", () => {
  const turnOf = (text: string) => ({
    role: "assistant" as const,
    parts: [{
      type: "tool_call" as const,
      id: "c",
      name: "f",
      arguments: text,
    }],
  });
  assert.deepEqual(encode({ turns: [turnOf("[1]")] }).dropped, [
    "ARGUMENTS",
  ]);
  assert.deepEqual(encode({ turns: [turnOf("")] }).dropped, []);
});

Deno.test("encodeRequest() names a cap above the model's as dropped", () => {
  const can = { ...NEWER, maxOutputTokens: 10 };
  assert.deepEqual(encode({ maxTokens: 11 }, can).dropped, ["MAX_TOKENS"]);
  assert.deepEqual(encode({ maxTokens: 10 }, can).dropped, []);
});

Deno.test("encodeRequest() names each dropped field once, by the client's path", () => {
  const { dropped } = encode({
    tools: [F, SEARCH],
    parallelTools: false,
    user: "u",
    serviceTier: "auto",
    logprobs: 2,
    seed: 1,
    topK: 3,
    presencePenalty: 1,
    frequencyPenalty: 1,
    stop: ["1", "2", "3"],
    unknownFields: ["cache_control", "cache_control", "USER"],
  }, { ...NEWER, seed: false, topK: false, penalties: false, maxStops: 2 });
  assert.deepEqual(dropped, [
    "tools[1]:web_search_20250305",
    "PARALLEL",
    "STOP",
    "TOP_K",
    "SEED",
    "PRESENCE",
    "FREQUENCY",
    "USER",
    "SERVICE_TIER",
    "cache_control",
  ]);
});

Deno.test("encodeRequest() does not name the switch for parallel calls without tools", () => {
  assert.deepEqual(encode({ parallelTools: false }).dropped, []);
  assert.deepEqual(encode({ parallelTools: true, tools: [F] }).dropped, []);
});

Deno.test("encodeRequest() leaves out the parameters of a function without arguments", async (t) => {
  const fields = (
    parameters: JsonObject,
    can: Capabilities,
  ): readonly string[] => {
    const { body } = encode({ tools: [{ ...G, parameters }] }, can);
    return JSON.stringify(body["tools"]).match(/parameters\w*/g) ?? [];
  };
  for (
    const empty of [
      {},
      { type: "object" },
      objectOf({}),
      {
        $schema: "s",
        type: "object",
        properties: {},
        required: [],
        additionalProperties: false,
      },
    ]
  ) {
    await t.step(JSON.stringify(empty), () => {
      assert.deepEqual(fields(empty, NEWER), []);
      assert.deepEqual(fields(empty, OLDER), []);
    });
  }
  await t.step(
    "an open object keeps its schema where the model supports it",
    () => {
      const open = { type: "object", additionalProperties: { type: "string" } };
      assert.deepEqual(fields(open, NEWER), ["parametersJsonSchema"]);
      assert.deepEqual(fields(open, OLDER), []);
    },
  );
  await t.step("properties without a type are those of an object", () => {
    const properties = { a: { type: "string" } };
    for (const can of [NEWER, OLDER]) {
      const tools = [{ ...G, parameters: { properties } }];
      const { body } = encode({ tools }, can);
      assert.match(JSON.stringify(body["tools"]), /"type":"object"/i);
    }
  });
});

Deno.test("encodeRequest() does not modify the client's request", () => {
  const request = sampleRequest({
    tools: [F],
    format: { type: "schema", schema: SCHEMA },
    stop: ["a", ""],
  });
  const before = structuredClone(request);
  atOnce(encodeRequest(request, OLDER));
  atOnce(encodeRequest(request, NEWER));
  assert.deepEqual(request, before);
});

Deno.test("encodeRequest() encodes the choice among tools", async (t) => {
  const cases: readonly (readonly [ToolChoice, unknown, readonly string[]])[] =
    [
      [{ type: "auto" }, { mode: "AUTO" }, ["f", "g"]],
      [{ type: "required" }, { mode: "ANY" }, ["f", "g"]],
      [{ type: "none" }, { mode: "NONE" }, ["f", "g"]],
      [
        { type: "tool", name: "g" },
        { mode: "ANY", allowedFunctionNames: ["g"] },
        ["f", "g"],
      ],
      [
        { type: "allowed", required: true, names: ["g", "nope"] },
        { mode: "ANY", allowedFunctionNames: ["g"] },
        ["f", "g"],
      ],
      [
        { type: "allowed", required: false, names: ["g"] },
        { mode: "AUTO" },
        ["g"],
      ],
      [
        { type: "allowed", required: false, names: ["nope"] },
        { mode: "AUTO" },
        ["f", "g"],
      ],
    ];
  for (const [toolChoice, config, names] of cases) {
    await t.step(JSON.stringify(toolChoice), () => {
      const { body } = encode({ tools: [F, G], toolChoice });
      assert.deepEqual(body["toolConfig"], { functionCallingConfig: config });
      assert.deepEqual(
        JSON.stringify(body["tools"]).match(/(?<="name":")[^"]+/g),
        names,
      );
    });
  }
  await t.step("nothing without a choice, or without tools", () => {
    assert.equal(encode({ tools: [F] }).body["toolConfig"], undefined);
    for (const type of ["auto", "none"] as const) {
      const { body } = encode({ tools: [], toolChoice: { type } });
      assert.equal(body["toolConfig"], undefined);
      assert.equal(body["tools"], undefined);
    }
  });
});

Deno.test("encodeRequest() encodes the generation config", async (t) => {
  const config = (
    over: Partial<GenerationRequest>,
    can: Capabilities = NEWER,
  ): unknown => encode(over, can).body["generationConfig"];
  await t.step("every field, zeros too", () => {
    assert.deepEqual(
      config({
        maxTokens: 100,
        temperature: 0,
        topP: 0,
        topK: 0,
        stop: ["a", "", " "],
        seed: 0,
        presencePenalty: 0,
        frequencyPenalty: -1,
        logprobs: 0,
      }),
      {
        maxOutputTokens: 100,
        temperature: 0,
        topP: 0,
        topK: 0,
        stopSequences: ["a", " "],
        seed: 0,
        presencePenalty: 0,
        frequencyPenalty: -1,
        responseLogprobs: true,
      },
    );
  });
  await t.step("caps lowered, never raised", () => {
    const can = { ...NEWER, maxOutputTokens: 1000, maxTemperature: 1 };
    assert.deepEqual(config({ maxTokens: 5000, temperature: 2 }, can), {
      maxOutputTokens: 1000,
      temperature: 1,
    });
    assert.deepEqual(config({ maxTokens: 5 }, can), { maxOutputTokens: 5 });
    assert.equal(config({}, can), undefined);
  });
  await t.step("stops cut", () => {
    assert.deepEqual(
      config({ stop: ["1", "2", "3"] }, { ...NEWER, maxStops: 2 }),
      { stopSequences: ["1", "2"] },
    );
    assert.equal(config({ stop: [""] }), undefined);
    assert.deepEqual(
      encode({ stop: ["", "1"] }, { ...NEWER, maxStops: 1 }).dropped,
      [],
    );
  });
  await t.step("logprobs", () => {
    assert.deepEqual(config({ logprobs: 3 }), {
      responseLogprobs: true,
      logprobs: 3,
    });
  });
  await t.step("sampling by capability", () => {
    const both = { temperature: 0.5, topP: 0.5 };
    assert.deepEqual(config(both, { ...NEWER, sampling: "one" }), {
      temperature: 0.5,
    });
    assert.deepEqual(config({ topP: 0.5 }, { ...NEWER, sampling: "one" }), {
      topP: 0.5,
    });
    const none = encode(both, { ...NEWER, sampling: "none" });
    assert.equal(none.body["generationConfig"], undefined);
    assert.deepEqual(none.dropped, ["TEMPERATURE", "TOP_P"]);
  });
});

Deno.test("encodeRequest() asks for reasoning by level or budget, never both", async (t) => {
  const flash: Capabilities = {
    ...NEWER,
    efforts: ["minimal", "low", "medium", "high"],
  };
  const pro: Capabilities = { ...NEWER, efforts: ["low", "high"] };
  const noOff: Capabilities = { ...OLDER, reasoningOff: false };
  const cases: readonly (readonly [
    string,
    Reasoning,
    Capabilities,
    JsonObject | undefined,
    boolean,
  ])[] = [
    [
      "level: known",
      { mode: "on", effort: "minimal" },
      flash,
      { thinkingLevel: "minimal", includeThoughts: true },
      false,
    ],
    [
      "level: nearest below",
      { mode: "on", effort: "minimal" },
      pro,
      { thinkingLevel: "low", includeThoughts: true },
      false,
    ],
    [
      "level: between two goes up",
      { mode: "on", effort: "medium" },
      pro,
      { thinkingLevel: "high", includeThoughts: true },
      false,
    ],
    [
      "level: most",
      { mode: "on", effort: "max" },
      flash,
      { thinkingLevel: "high", includeThoughts: true },
      true,
    ],
    [
      "level: xhigh where listed",
      { mode: "on", effort: "xhigh" },
      { ...NEWER, efforts: ["low", "high", "xhigh"] },
      { thinkingLevel: "xhigh", includeThoughts: true },
      false,
    ],
    [
      "level: small budget",
      { mode: "on", budgetTokens: 4095 },
      flash,
      { thinkingLevel: "low", includeThoughts: true },
      false,
    ],
    [
      "level: middle budget",
      { mode: "on", budgetTokens: 4096 },
      flash,
      { thinkingLevel: "medium", includeThoughts: true },
      false,
    ],
    [
      "level: large budget",
      { mode: "on", budgetTokens: 16384 },
      flash,
      { thinkingLevel: "high", includeThoughts: true },
      false,
    ],
    [
      "level: the model decides",
      { mode: "auto" },
      flash,
      { includeThoughts: true },
      false,
    ],
    [
      "level: out of sight",
      { mode: "auto", effort: "low", visible: false },
      flash,
      { thinkingLevel: "low", includeThoughts: false },
      false,
    ],
    ["level: off", { mode: "off" }, pro, { thinkingLevel: "low" }, true],
    [
      "level: off where it can be",
      { mode: "off" },
      { ...pro, reasoningOff: true },
      { thinkingBudget: 0 },
      false,
    ],
    [
      "level: none known",
      { mode: "on", effort: "low" },
      { ...NEWER, efforts: [] },
      { includeThoughts: true },
      true,
    ],
    [
      "budget: given",
      { mode: "on", budgetTokens: 3000 },
      OLDER,
      { thinkingBudget: 3000, includeThoughts: true },
      false,
    ],
    [
      "budget: too large",
      { mode: "on", budgetTokens: 90000 },
      OLDER,
      { thinkingBudget: 24576, includeThoughts: true },
      false,
    ],
    [
      "budget: too small",
      { mode: "on", budgetTokens: 1 },
      OLDER,
      { thinkingBudget: 128, includeThoughts: true },
      false,
    ],
    [
      "budget: of an effort",
      { mode: "auto", effort: "low" },
      OLDER,
      { thinkingBudget: 2048, includeThoughts: true },
      false,
    ],
    [
      "budget: of the most effort",
      { mode: "on", effort: "max" },
      OLDER,
      { thinkingBudget: 24576, includeThoughts: true },
      false,
    ],
    [
      "budget: the model decides",
      { mode: "on" },
      OLDER,
      { thinkingBudget: -1, includeThoughts: true },
      false,
    ],
    ["budget: off", { mode: "off" }, OLDER, { thinkingBudget: 0 }, false],
    [
      "budget: off where it cannot be",
      { mode: "off" },
      noOff,
      { thinkingBudget: 128 },
      true,
    ],
    [
      "none: on",
      { mode: "on" },
      { ...NEWER, reasoning: "none" },
      undefined,
      true,
    ],
    [
      "none: off",
      { mode: "off" },
      { ...NEWER, reasoning: "none" },
      undefined,
      false,
    ],
  ];
  for (const [name, reasoning, can, config, lost] of cases) {
    await t.step(name, () => {
      const { body, dropped } = encode({ reasoning }, can);
      assert.deepEqual(
        body["generationConfig"],
        config === undefined ? undefined : { thinkingConfig: config },
      );
      assert.deepEqual(dropped, lost ? ["REASONING"] : []);
    });
  }
});

Deno.test("encodeRequest() binds the reply to a format", async (t) => {
  const schema: OutputFormat = { type: "schema", schema: SCHEMA };
  const json: OutputFormat = { type: "json" };
  const config = (
    format: OutputFormat,
    can: Capabilities,
    over: Partial<GenerationRequest> = {},
  ): unknown => encode({ format, ...over }, can).body["generationConfig"];
  await t.step("by its own field", () => {
    assert.deepEqual(config(schema, NEWER), {
      responseMimeType: "application/json",
      responseJsonSchema: SCHEMA,
    });
    assert.deepEqual(config(schema, OLDER), {
      responseMimeType: "application/json",
      responseSchema: objectOf({ a: { type: "string" } }),
    });
    assert.deepEqual(config(json, OLDER), {
      responseMimeType: "application/json",
    });
    assert.equal(config({ type: "text" }, NEWER), undefined);
  });
  await t.step("together with functions where the model supports both", () => {
    const { body, context } = encode({ format: schema, tools: [F] }, NEWER);
    assert.deepEqual(body["generationConfig"], {
      responseMimeType: "application/json",
      responseJsonSchema: SCHEMA,
    });
    assert.equal(context.formatTool, undefined);
  });
  await t.step("by a forced function where it cannot be bound", () => {
    const { body, context, dropped } = encode(
      { format: schema },
      { ...NEWER, structuredOutput: false },
    );
    assert.equal(body["generationConfig"], undefined);
    assert.deepEqual(body["tools"], [{
      functionDeclarations: [{
        name: "final_answer",
        description:
          "Gives the final answer. Call it once, with the whole answer.",
        parametersJsonSchema: SCHEMA,
      }],
    }]);
    assert.deepEqual(body["toolConfig"], {
      functionCallingConfig: { mode: "ANY" },
    });
    assert.equal(context.formatTool, "final_answer");
    assert.deepEqual(dropped, []);
  });
  await t.step("by a function among functions on older models", () => {
    const own: FunctionTool = { ...G, name: "final_answer" };
    const choices: readonly (readonly [ToolChoice | undefined, unknown])[] = [
      [undefined, { mode: "ANY" }],
      [{ type: "auto" }, { mode: "ANY" }],
      [{ type: "none" }, {
        mode: "ANY",
        allowedFunctionNames: ["final_answer_"],
      }],
      [{ type: "required" }, {
        mode: "ANY",
        allowedFunctionNames: ["final_answer"],
      }],
      [{ type: "tool", name: "final_answer" }, {
        mode: "ANY",
        allowedFunctionNames: ["final_answer"],
      }],
    ];
    for (const [toolChoice, expected] of choices) {
      const { body, context } = encode({
        format: schema,
        tools: [own],
        ...compact({ toolChoice }),
      }, OLDER);
      assert.equal(context.formatTool, "final_answer_");
      assert.deepEqual(body["toolConfig"], {
        functionCallingConfig: expected,
      });
      assert.equal(body["generationConfig"], undefined);
    }
  });
  await t.step("in the prompt for JSON among functions on older models", () => {
    const { body, dropped } = encode(
      { format: json, tools: [F] },
      OLDER,
    );
    assert.equal(body["generationConfig"], undefined);
    assert.deepEqual(body["systemInstruction"], {
      parts: [{ text: "Reply with one JSON object and nothing else." }],
    });
    assert.deepEqual(dropped, ["FORMAT"]);
  });
});
