/** What the model list states about a model, and whether calls prove it. */
import assert from "node:assert/strict";
import {
  isObject,
  type JsonObject,
  objectOr,
} from "../../translate/bytes/json.ts";
import {
  type Capabilities,
  DEFAULT_CAPABILITIES,
} from "../../translate/model/capabilities.ts";
import type { DialectName } from "../../translate/model/request.ts";
import { type ClientFormat, translateRequest } from "../../translate/mod.ts";
import { modelCapabilities } from "./model_capabilities.ts";

/** The paths of what is supported, such as `thinking.types.adaptive`. */
function supported(value: JsonObject, path = ""): readonly string[] {
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = path === "" ? key : `${path}.${key}`;
    if (!isObject(inner)) return [];
    return [
      ...(inner["supported"] === true ? [at] : []),
      ...supported(inner, at),
    ];
  });
}

function of(
  dialect: DialectName,
  over: Partial<Capabilities> = {},
  priced: readonly string[] = ["code_execution", "web_search"],
  isSearchTranslated = false,
): readonly string[] {
  return supported(
    modelCapabilities(
      dialect,
      { ...DEFAULT_CAPABILITIES[dialect], ...over },
      (tool) => priced.includes(tool),
      isSearchTranslated,
    ),
  );
}

const EVERYWHERE = ["image_input", "pdf_input", "structured_outputs"];

Deno.test("a model of the messages format has what it takes as it is", () => {
  assert.deepEqual(of("messages"), [
    "citations",
    ...EVERYWHERE,
    "thinking",
    "thinking.types.disabled",
    "thinking.types.enabled",
  ]);
  assert.deepEqual(
    of("messages", {
      threads: true,
      reasoning: "adaptive",
      efforts: ["low", "high"],
      reasoningOff: false,
      structuredOutput: false,
    }),
    [
      "citations",
      "code_execution",
      "compaction",
      "compaction.summarize",
      "context_management",
      "context_management.clear_thinking_20251015",
      "context_management.clear_tool_uses_20250919",
      "context_management.compact_20260112",
      "effort",
      "effort.low",
      "effort.high",
      "image_input",
      "pdf_input",
      "server_tools",
      "server_tools.code_execution",
      "server_tools.web_search",
      "thinking",
      "thinking.types.adaptive",
    ],
  );
});

Deno.test("a model of another format has what is translated", () => {
  assert.deepEqual(of("chat_completions"), [
    ...EVERYWHERE,
    "thinking.types.disabled",
  ]);
  assert.deepEqual(of("chat_completions", { files: false }), [
    "image_input",
    "structured_outputs",
    "thinking.types.disabled",
  ]);
  assert.deepEqual(of("chat_completions", { files: false, images: false }), [
    "structured_outputs",
    "thinking.types.disabled",
  ]);
  assert.deepEqual(
    of("generate_content", { reasoning: "level", efforts: ["low", "high"] }),
    [
      "effort",
      "effort.low",
      "effort.high",
      ...EVERYWHERE,
      "thinking",
      "thinking.types.adaptive",
      "thinking.types.between_tools",
      "thinking.types.enabled",
    ],
  );
});

Deno.test("what a model of another format has is not lost in translation", () => {
  const requests: Readonly<Record<string, object>> = {
    "effort.high": { output_config: { effort: "high" } },
    "thinking.types.adaptive": { thinking: { type: "adaptive" } },
    "thinking.types.between_tools": { thinking: { type: "between_tools" } },
    "thinking.types.enabled": {
      thinking: { type: "enabled", budget_tokens: 2000 },
    },
    "thinking.types.disabled": { thinking: { type: "disabled" } },
    structured_outputs: {
      output_config: {
        format: { type: "json_schema", schema: { type: "object" } },
      },
    },
  };
  const from: ClientFormat = "messages";
  for (
    const [to, over] of [
      ["chat_completions", { reasoning: "effort", reasoningOff: true }],
      ["responses", {}],
      ["generate_content", { reasoningOff: true }],
      ["generate_content", { reasoning: "budget", reasoningOff: true }],
    ] as const
  ) {
    const capabilities: Capabilities = { ...DEFAULT_CAPABILITIES[to], ...over };
    const has = supported(
      modelCapabilities(to, capabilities, () => true, true),
    );
    for (const [name, fields] of Object.entries(requests)) {
      assert.ok(has.includes(name), `${to}: ${name}`);
      const body = {
        model: "m",
        max_tokens: 4000,
        messages: [{ role: "user", content: "hi" }],
        ...fields,
      };
      const { dropped } = translateRequest({
        body: new TextEncoder().encode(JSON.stringify(body)),
        from,
        to,
        model: "m",
        capabilities,
      });
      assert.deepEqual(dropped, [], `${to}: ${name}`);
    }
  }
});

Deno.test("a tool of the vendor without a price is not supported", () => {
  const tools = (priced: readonly string[]): readonly string[] =>
    of("messages", { threads: true }, priced).filter((path) =>
      /^(?:server_tools|code_execution)/.test(path)
    );
  assert.deepEqual(tools([]), []);
  assert.deepEqual(tools(["web_search"]), [
    "server_tools",
    "server_tools.web_search",
  ]);
});

Deno.test("a translated search is supported where it has a price", () => {
  const has = (priced: readonly string[]): boolean =>
    of("responses", {}, priced, true).includes("server_tools.web_search");
  assert.deepEqual([has(["web_search"]), has([])], [true, false]);
});

Deno.test("every capability of the shape has a value", () => {
  const check = (value: JsonObject): void => {
    for (const inner of Object.values(value)) {
      if (isObject(inner)) check(inner);
      else assert.equal(typeof inner, "boolean");
    }
  };
  const shape = modelCapabilities(
    "messages",
    DEFAULT_CAPABILITIES.messages,
    () => true,
    false,
  );
  check(shape);
  assert.deepEqual(Object.keys(shape), [
    "batch",
    "citations",
    "code_execution",
    "compaction",
    "context_management",
    "effort",
    "image_input",
    "pdf_input",
    "server_tools",
    "structured_outputs",
    "thinking",
  ]);
  assert.deepEqual(Object.keys(objectOr(shape["effort"])), [
    "supported",
    "low",
    "medium",
    "high",
    "xhigh",
    "max",
  ]);
});
