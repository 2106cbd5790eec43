import assert from "node:assert/strict";
import { otherModels, RepeatAllowance } from "./other_models.ts";

const ROUTE = { name: "model", via: undefined, model: "vendora-2" } as const;

Deno.test("otherModels() selects models of other owners first, and no more than two", () => {
  const others = (...models: readonly string[]) =>
    otherModels(ROUTE, models).map(({ model }) => model);
  assert.deepEqual(
    others("vendora-1", "vendora-2", "vendorb-1", "vendorb-2", "vendorc-1"),
    ["vendorb-1", "vendorc-1"],
  );
  assert.deepEqual(
    others("vendora-1", "vendora-2", "vendorb-1", "vendorb-2"),
    ["vendorb-1", "vendora-1"],
  );
  assert.deepEqual(others("vendora-2"), []);
});

Deno.test("a RepeatAllowance is used up", () => {
  const allowance = new RepeatAllowance(1);
  assert.ok(allowance.take());
  assert.ok(!allowance.take());
});
