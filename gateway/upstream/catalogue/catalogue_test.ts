import assert from "node:assert/strict";
import { catalogue } from "./catalogue.ts";
import { parseCatalogueFile } from "./catalogue_file.ts";

Deno.test("a model of any id has what the built-in row of its upstream model states, whatever a cloud puts around the name", () => {
  const rows = [
    ["aws", "anthropic.claude-opus-4-8", "adaptive"],
    ["aws", "us.anthropic.claude-opus-4-8-v1:0", "adaptive"],
    ["aws", "anthropic.claude-opus-4-8-20260528-v1:0", "adaptive"],
    ["aws", "anthropic.claude-opus-4-80", undefined],
    ["openai", "gpt-5.5", "effort"],
    ["openai", "gpt-5.5-2026-04-23", "effort"],
    ["openai", "gpt-5.5-mini", undefined],
    // A host of any models: the name does not state what it is there.
    ["other", "claude-opus-4-8", undefined],
  ] as const;
  const file = parseCatalogueFile(JSON.stringify({
    vendors: {
      aws: {
        kind: "bedrock_messages",
        region: "us-east-1",
        api_key_env: "KEY",
      },
      openai: { kind: "vendorb", base_url: "https://b.test", api_key_env: "K" },
      other: {
        kind: "openai_compatible",
        base_url: "https://c.test",
        auth: "none",
      },
    },
    models: Object.fromEntries(rows.flatMap(([vendor, name], n) => [
      [`first-${n}`, { price: "free", vendor, upstream_model: name }],
      [`second-${n}`, {
        price: "free",
        candidates: [{ vendor, upstream_model: name }],
      }],
    ])),
  }));
  assert.ok(file.ok, JSON.stringify(file));
  const { models } = catalogue(file.overrides);
  for (const [n, [, name, reasoning]] of rows.entries()) {
    for (const id of [`first-${n}`, `second-${n}`]) {
      const [candidate] = models.find((one) => one.id === id)?.candidates ?? [];
      assert.equal(
        candidate?.capabilities.reasoning,
        reasoning,
        `${id}: ${name}`,
      );
    }
  }
});
