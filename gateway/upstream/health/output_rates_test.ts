import assert from "node:assert/strict";
import { OutputRates, usualTokens } from "./output_rates.ts";

const A = "model\nvendor/model";

Deno.test("OutputRates estimates by the median of the newest five samples of a kind", () => {
  const rates = new OutputRates();
  for (const tokens of [900, 10, 20, 100, 100, 110, 9_000]) {
    rates.add(A, "high", { tokens, ms: 1_000 });
  }
  assert.equal(rates.tokens(A, "high", 2_000), 200);
  assert.equal(rates.tokens(A, "low", 2_000), undefined);
  assert.equal(rates.tokens("other", "high", 2_000), undefined);
});

Deno.test("usualTokens() leaves out the usual delay", () => {
  assert.deepEqual([500, 1_000, 11_000].map(usualTokens), [0, 0, 600]);
});

Deno.test("OutputRates takes no rate from a time that is too short to measure one", () => {
  const rates = new OutputRates();
  rates.add(A, "default", { tokens: 500, ms: 20 });
  assert.equal(rates.tokens(A, "default", 10_000), undefined);
});

Deno.test("OutputRates keeps a bounded number of kinds and samples", () => {
  const rates = new OutputRates();
  for (let n = 0; n < 100; n++) {
    for (let sample = 0; sample < 9; sample++) {
      rates.add(A, `kind ${n}`, { tokens: 1_000, ms: 1_000 });
    }
  }
  assert.equal(rates.tokens(A, "kind 31", 1_000), 1_000);
  assert.equal(rates.tokens(A, "kind 32", 1_000), undefined);
});
