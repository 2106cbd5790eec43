import assert from "node:assert/strict";
import { nearestModel } from "./nearest_model.ts";
import { catalogue } from "../upstream/catalogue/catalogue.ts";

const IDS = catalogue().models.map(({ id }) => id);

Deno.test("nearestModel() finds the intended model", async (t) => {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ["vendora-opus-4.8", "vendora-opus-4-8"],
    ["vendora-opus-48", "vendora-opus-4-8"],
    ["VENDORA-OPUS-4-8", "vendora-opus-4-8"],
    [" vendorb-5", "vendorb-5"],
    ["vendorb-5.4", "vendorb-5.5"],
    ["vendorb5", "vendorb-5"],
    ["vendora/vendora-haiku-4-5", "vendora-haiku-4-5"],
    ["vendorc-3-falsh", "vendorc-3-flash"],
    // The vendors' own names, sent by clients that were configured for the vendor.
    ["claude-haiku-4-5-20251001", "vendora-haiku-4-5"],
    ["claude-sonnet-4-6", "vendora-sonnet-4-6"],
    ["anthropic/claude-opus-4-8", "vendora-opus-4-8"],
    ["gpt-5-2025-08-07", "vendorb-5"],
    ["acme-1", undefined],
    ["gpt-3.5-turbo", undefined],
    ["", undefined],
    ["vendora-opus-4-8".repeat(100), undefined],
  ];
  for (const [wanted, id] of rows) {
    await t.step(wanted.slice(0, 40), () => {
      assert.equal(nearestModel(wanted, IDS), id);
    });
  }
});

Deno.test("nearestModel() returns only ids that it is given", () => {
  assert.equal(nearestModel("claude-opus-4-8", ["vendorb-5"]), undefined);
  assert.equal(nearestModel("vendora-opus-4-9", ["vendorb-5"]), undefined);
  assert.equal(nearestModel("vendora-opus-4-8", []), undefined);
});
