import assert from "node:assert/strict";
import type { HostDialect, ModelRule } from "./host.ts";
import { hostOf } from "./hosts.ts";
import { ADAPTIVE_CLAUDE, forModel, GROK } from "./model_rules.ts";
import { PRESETS } from "./presets.ts";

const DIALECT: HostDialect = {
  dialect: "chat_completions",
  whole: "/chat/completions",
  auth: { schemes: ["bearer"] },
  capabilities: { files: false },
  edits: { refuses: ["top_k"] },
};

function withRules(...modelRules: readonly ModelRule[]): HostDialect {
  return { ...DIALECT, modelRules };
}

Deno.test("forModel() matches names by their texts between stars, in order and without regard to case", async (t) => {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ["m", "m", true],
    ["m", "mm", false],
    ["m*", "M-1", true],
    ["m*", "a-m", false],
    ["*m", "a-m", true],
    ["*m", "m-a", false],
    ["*", "", true],
    ["a*b*c", "a-b-c", true],
    ["a*b*c", "a-c-b", false],
    ["ab*ba", "aba", false],
    ["ab*ba", "abba", true],
    ["*a*a*", "a", false],
    ["a.c", "abc", false],
  ];
  for (const [pattern, model, matches] of rows) {
    await t.step(`${pattern} ${matches ? "is" : "is not"} ${model}`, () => {
      const rules = withRules({
        models: ["other", pattern],
        capabilities: { maxStops: 0 },
      });
      const { capabilities } = forModel(rules, model);
      assert.equal(capabilities?.maxStops, matches ? 0 : undefined);
    });
  }
});

Deno.test("forModel() adds the first rule that matches to what the host has", () => {
  const rules = withRules(
    { models: ["a*"], capabilities: { seed: false }, refuses: ["seed"] },
    { models: ["*"], capabilities: { maxStops: 0 } },
  );
  const changed = forModel(rules, "a1");
  assert.deepEqual(changed.capabilities, { files: false, seed: false });
  assert.deepEqual(changed.edits, { refuses: ["top_k", "seed"] });
  assert.deepEqual(forModel(rules, "b").capabilities, {
    files: false,
    maxStops: 0,
  });
  assert.deepEqual(forModel(rules, "b").edits, DIALECT.edits);
  assert.equal(forModel(DIALECT, "a1"), DIALECT);
});

Deno.test("the rules of each host are for the models that they name", async (t) => {
  const grok = withRules(...GROK);
  const noStops = { maxStops: 0, penalties: false };
  const all = { cacheMarks: "all", alwaysCapped: true };
  const none = {
    cacheMarks: "none",
    alwaysCapped: true,
    defaultMaxTokens: 4096,
  };
  const converse = dialectOf("bedrock_converse");
  const invoke = dialectOf("bedrock_invoke");
  const rows: readonly (readonly [HostDialect | undefined, string, object])[] =
    [
      [grok, "grok-4", noStops],
      [grok, "xai/grok-4.1-fast-reasoning", noStops],
      [grok, "grok-4-fast-non-reasoning", {}],
      [grok, "grok-3", {}],
      [grok, "grok-3-mini", {
        ...noStops,
        reasoning: "effort",
        efforts: ["low", "high"],
        reasoningOff: false,
      }],
      [converse, "amazon.titan-text-express-v1", {}],
      [converse, "us.amazon.nova-pro-v1:0", { cacheMarks: "prompt" }],
      [converse, "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", all],
      [converse, "anthropic.claude-3-haiku-20240307-v1:0", none],
      [converse, "us.meta.llama3-3-70b-instruct-v1:0", {
        toolChoiceRequired: false,
      }],
      [converse, "us.anthropic.claude-sonnet-5-v1:0", {
        ...all,
        sampling: "none",
      }],
      [invoke, "us.anthropic.claude-opus-4-8", {
        ...ADAPTIVE_CLAUDE,
        structuredOutput: false,
      }],
      [invoke, "anthropic.claude-opus-4-6-v1", {}],
      [
        dialectOf("bedrock_messages"),
        "anthropic.claude-opus-4-8",
        ADAPTIVE_CLAUDE,
      ],
      [dialectOf("vendora"), "claude-opus-4-6", {}],
    ];
  for (const [dialect, model, expected] of rows) {
    await t.step(`${dialect?.dialect} ${model}`, () => {
      assert.ok(dialect !== undefined);
      assert.deepEqual(forModel(dialect, model).capabilities, {
        ...dialect.capabilities,
        ...expected,
      });
    });
  }
  assert.equal(PRESETS["xai"]?.modelRules, GROK);
});

function dialectOf(kind: string): HostDialect | undefined {
  return hostOf(kind)?.dialects[0];
}
