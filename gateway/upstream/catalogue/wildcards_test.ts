import assert from "node:assert/strict";
import { catalogue } from "./catalogue.ts";
import { type CatalogueFile, parseCatalogueFile } from "./catalogue_file.ts";

const GROQ = {
  kind: "openai_compatible",
  preset: "groq",
  api_key_env: "GROQ_KEY",
};

function parsed(models: unknown, vendors: unknown = { groq: GROQ }) {
  return parseCatalogueFile(JSON.stringify({ vendors, models }));
}

const price = (each: number) => ({ input: each, output: each });

const FORM =
  "a wildcard is VENDOR/* or VENDOR/PREFIX*, with one star at its end";

/** Prices of the listed models by id; `refused` for those without one. */
function offered(
  file: CatalogueFile,
  lists: Record<string, readonly string[]>,
): unknown {
  assert.ok(file.ok);
  const { models } = catalogue(file.overrides, lists);
  return Object.fromEntries(
    models.filter(({ id }) => id.startsWith("groq/") || id === "fast").map(
      (one) => [one.id, one.unpriced === true ? "refused" : one.price.input],
    ),
  );
}

Deno.test("the longest pattern decides the price, a row of its own wins, and a pattern without a price is refused", () => {
  const file = parsed({
    "groq/*": { vendor: "groq" },
    "groq/llama-*": { price: price(2) },
    "groq/llama-4-*": { price: price(4) },
    "groq/gpt-*": { price: "free" },
    "groq/whisper-*": null,
    "groq/llama-own": { vendor: "groq", upstream_model: "x", price: price(9) },
    "groq/llama-off": null,
    fast: { alias: "groq/llama-3" },
  });
  const groq =
    "llama-3 llama-4-x llama-own llama-off gpt-oss whisper-1 other __proto__"
      .split(" ");
  assert.deepEqual(
    offered(file, { groq, elsewhere: ["m"] }),
    {
      "groq/llama-own": 9,
      "groq/llama-3": 2,
      "groq/llama-4-x": 4,
      "groq/gpt-oss": 0,
      "groq/other": "refused",
      "groq/__proto__": "refused",
      fast: 2,
    },
  );
  assert.deepEqual(offered(file, {}), { "groq/llama-own": 9 });
});

Deno.test("problems of wildcard rows name the row and the field", () => {
  const cases: readonly (readonly [string, unknown, string])[] = [
    ["*", {}, FORM],
    ["groq/*-x", {}, FORM],
    ["groq/**", {}, FORM],
    [
      "x/*",
      {},
      "a wildcard needs a vendor of the kind openai_compatible in vendors; there is no vendor x",
    ],
    [
      "aws/*",
      null,
      "a wildcard needs a vendor of the kind openai_compatible in vendors; aws is of the kind bedrock_chat",
    ],
    [
      "groq/*",
      { upstream_model: "m", display_name: "M" },
      "a wildcard does not take display_name, upstream_model",
    ],
  ];
  const aws = { kind: "bedrock_chat", region: "eu-west-1", api_key_env: "K" };
  const check = (file: CatalogueFile, ...problems: string[]): void =>
    assert.deepEqual(file, { ok: false, problems });
  for (const [id, row, problem] of cases) {
    const file = parsed({ [id]: row }, { groq: GROQ, aws });
    check(file, `models.${id}: ${problem}`);
  }
  check(
    parsed({ "groq/*": { vendor: "aws" } }),
    "models.groq/*.vendor: must be groq, as in the row's id",
  );
  check(
    parsed({ "groq/a*": {}, f: { alias: "groq/b" }, g: { alias: "groq/a*" } }),
    "models.f.alias: there is no model groq/b",
    "models.g.alias: there is no model groq/a*",
  );
});
