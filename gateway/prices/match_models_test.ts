import assert from "node:assert/strict";
import { catalogue } from "../upstream/catalogue/catalogue.ts";
import { parseCatalogueFile } from "../upstream/catalogue/catalogue_file.ts";
import { matchModel, type ModelMatch } from "./match_models.ts";
import { readPriceTable } from "./price_table.ts";

const BEDROCK = { kind: "bedrock_messages", api_key_env: "K" };
const OPENAI = { kind: "openai_compatible", api_key_env: "K" };
const PRICE = { input: 1, output: 1, cache_read: 1, cache_write: 1 };

const FILE = parseCatalogueFile(JSON.stringify({
  vendors: {
    east: { ...BEDROCK, region: "us-east-1" },
    west: { ...BEDROCK, region: "us-west-2" },
    vertex: {
      kind: "vertex_claude",
      project: "p",
      location: "global",
      auth: { google: "metadata" },
    },
    groq: { ...OPENAI, preset: "groq" },
    router: { ...OPENAI, preset: "openrouter" },
    own: { ...OPENAI, base_url: "https://models.example.com/v1" },
  },
  models: Object.fromEntries(
    Object.entries({
      plain: ["vendora", "house-4-8"],
      dated: ["vendora", "house-2"],
      east: ["east", "maker.house-1:0"],
      west: ["west", "maker.house-1:0"],
      profile: ["east", "us.maker.house-9-v1:0"],
      vertex: ["vertex", "house-4-8@20260528"],
      groq: ["groq", "maker/open-70b"],
      router: ["router", "maker/open-70b"],
      own: ["own", "open-70b"],
      mixed: ["vendora", "house-4-8", "groq", "maker/open-70b"],
      partly: ["vendora", "house-4-8", "groq", "maker/open-71b"],
      twice: ["vertex", "house-twice"],
      same: ["vertex", "house-same"],
      broken: ["vendora", "house-broken"],
    }).map(([id, [vendor, upstream_model, other, second]]) => {
      const candidates = [{ vendor, upstream_model }];
      if (other) candidates.push({ vendor: other, upstream_model: second });
      return [id, { price: PRICE, candidates }];
    }),
  ),
}));

/** A row of LiteLLM's shape. */
function row(provider: string, input: number): unknown {
  return {
    litellm_provider: provider,
    mode: "chat",
    input_cost_per_token: input,
    output_cost_per_token: 0.001,
  };
}

const LITELLM = {
  "house-4.8": row("anthropic", 1e-6),
  "anthropic.house-4-8": row("bedrock", 9e-6),
  "house-2-20260101": row("anthropic", 2e-6),
  "maker.house-1:0": row("bedrock", 3e-6),
  "bedrock/us-east-1/maker.house-1:0": row("bedrock_converse", 4e-6),
  "maker.house-9-v1:0": row("bedrock", 5e-6),
  "vertex_ai/house-4-8@20260528": row("vertex_ai-anthropic_models", 6e-6),
  "groq/maker/open-70b": row("groq", 7e-6),
  "groq/maker/open-71b-preview": row("groq", 7e-6),
  "vertex_ai/house-twice": row("vertex_ai-anthropic_models", 1e-6),
  "house-twice": row("vertex_ai-language-models", 2e-6),
  "vertex_ai/house-same": row("vertex_ai-anthropic_models", 1e-6),
  "house-same": {
    output_cost_per_token: 0.001,
    ...row("vertex_ai-language-models", 1e-6) as object,
  },
  "anthropic/house-broken": row("anthropic", 1.23456789e-9),
};

function match(table: unknown, id: string, name?: string): ModelMatch {
  assert.ok(FILE.ok, FILE.ok ? "" : FILE.problems.join("\n"));
  const { overrides } = FILE;
  const models = catalogue(overrides);
  const model = models.models.find((one) => one.id === id);
  assert.ok(model);
  return matchModel(
    { catalogue: models, overrides },
    readPriceTable(JSON.stringify(table)),
    model,
    name,
  );
}

Deno.test("matchModel() finds a row by the vendor and upstream model of the candidates", async (t) => {
  const expected: Readonly<Record<string, string>> = {
    plain: "house-4.8",
    east: "bedrock/us-east-1/maker.house-1:0",
    west: "maker.house-1:0",
    vertex: "vertex_ai/house-4-8@20260528",
    groq: "groq/maker/open-70b",
    same: "vertex_ai/house-same",
  };
  for (const [id, name] of Object.entries(expected)) {
    await t.step(id, () => {
      const found = match(LITELLM, id);
      assert.equal(found.type, "found");
      assert.equal(found.type === "found" && found.row.name, name);
    });
  }
});

Deno.test("matchModel() never guesses between prices or names", async (t) => {
  const expected: Readonly<
    Record<string, readonly [RegExp, readonly string[]]>
  > = {
    dated: [/no such model/, ["house-2-20260101"]],
    profile: [/no such model/, ["maker.house-9-v1:0"]],
    own: [/no such model/, []],
    router: [/no such model/, []],
    mixed: [/several prices/, ["house-4.8", "groq/maker/open-70b"]],
    partly: [/only some/, ["house-4.8", "groq/maker/open-71b-preview"]],
    twice: [/several prices/, ["vertex_ai/house-twice", "house-twice"]],
    broken: [/input_cost_per_token: 1\.23456789e-9 is no whole number/, []],
  };
  for (const [id, [reason, names]] of Object.entries(expected)) {
    await t.step(id, () => {
      const found = match(LITELLM, id);
      assert.ok(found.type === "unclear");
      assert.match(found.reason, reason);
      assert.deepEqual(found.names, names);
    });
  }
});

Deno.test("matchModel() takes the row that the operator names", () => {
  const found = match(LITELLM, "own", "groq/maker/open-70b");
  assert.equal(found.type === "found" && found.card.rates["input"], 7_000_000);
  const absent = match(LITELLM, "own", "nothing");
  assert.equal(
    absent.type === "unclear" && absent.reason,
    "the table has no row nothing",
  );
});

Deno.test("matchModel() finds models of models.dev and OpenRouter by their own names", () => {
  const cost = { input: 1, output: 2 };
  const modelsDev = {
    anthropic: { models: { "house-4-8": { cost } } },
    groq: { models: { "maker/open-70b": { cost } } },
  };
  const pricing = { prompt: "0.000001", completion: "0.000002" };
  const openRouter = {
    data: [
      { id: "anthropic/house-4.8", pricing },
      { id: "anthropic/house-4.8:free", pricing },
      { id: "maker/open-70b", pricing },
    ],
  };
  for (
    const [table, id, name] of [
      [modelsDev, "plain", "anthropic/house-4-8"],
      [modelsDev, "groq", "groq/maker/open-70b"],
      [openRouter, "plain", "anthropic/house-4.8"],
      [openRouter, "router", "maker/open-70b"],
    ] as const
  ) {
    const found = match(table, id);
    assert.equal(found.type === "found" && found.row.name, name);
  }
  assert.equal(match(openRouter, "groq").type, "unclear");
});
