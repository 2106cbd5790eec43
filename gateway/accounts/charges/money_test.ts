import assert from "node:assert/strict";
import fc from "fast-check";
import { costMicroUsd, parsePrice, priceText, usdText } from "./money.ts";
import { worstCostMicroUsd } from "./worst_cost.ts";

const PRICE = parsePrice("3000000/300000/3750000/15000000");
const NONE = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };

Deno.test("costMicroUsd() charges every kind of token at its own price", () => {
  const tokens = parsePrice("1000/1000/1000/1000");
  assert.equal(costMicroUsd(PRICE, tokens), 3000 + 300 + 3750 + 15_000);
});

Deno.test("costMicroUsd() rounds up, once for the whole request", () => {
  assert.equal(costMicroUsd(PRICE, { ...NONE, cacheRead: 1 }), 1);
  // 0.3 + 7.5 = 7.8; each rounded up alone, they would be 9.
  assert.equal(
    costMicroUsd(PRICE, { ...NONE, cacheRead: 1, cacheWrite: 2 }),
    8,
  );
  assert.equal(costMicroUsd(PRICE, NONE), 0);
});

Deno.test("costMicroUsd() rounds up at every boundary, small or large", () => {
  const price = { input: 1, cacheRead: 0, cacheWrite: 0, output: 999_999_937 };
  for (const output of [0, 1, 999, 9_007_198, 9_007_199, 9_007_200]) {
    for (const input of [0, 1, 63, 999_999, 1_000_000]) {
      const sum = BigInt(input) + BigInt(output) * 999_999_937n;
      assert.equal(
        BigInt(costMicroUsd(price, { ...NONE, input, output })),
        (sum + 999_999n) / 1_000_000n,
        `${input} ${output}`,
      );
    }
  }
});

Deno.test("costMicroUsd() is exact beyond what a float can hold", () => {
  const tokens = { ...NONE, input: 999_999_999, output: 1 };
  const price = { ...NONE, input: 75_000_001, output: 1 };
  assert.equal(
    BigInt(costMicroUsd(price, tokens)),
    (999_999_999n * 75_000_001n + 1n + 999_999n) / 1_000_000n,
  );
});

Deno.test("no call with the prompt as estimated costs more than its worst case", () => {
  const upTo = (max: number) => {
    const one = fc.nat(max);
    return fc.record({
      input: one,
      cacheRead: one,
      cacheWrite: one,
      output: one,
    });
  };
  fc.assert(fc.property(
    upTo(100_000_000),
    upTo(1_000_000),
    (price, used) => {
      const prompt = used.input + used.cacheRead + used.cacheWrite;
      const worst = worstCostMicroUsd(price, prompt, used.output);
      assert.ok(costMicroUsd(price, used) <= worst);
    },
  ));
});

Deno.test("parsePrice() parses the output of priceText()", () => {
  assert.deepEqual(PRICE, {
    input: 3_000_000,
    cacheRead: 300_000,
    cacheWrite: 3_750_000,
    output: 15_000_000,
  });
  assert.deepEqual(parsePrice(priceText(PRICE)), PRICE);
  assert.throws(() => parsePrice("1/2/3"), /could not read the price/);
});

for (
  const [microUsd, text] of [
    [0, "$0.00"],
    [1, "$0.000001"],
    [12_500_000, "$12.50"],
    [12_340_000, "$12.34"],
    [1_234_500, "$1.2345"],
    [-123, "-$0.000123"],
    [1_000_000_000_000, "$1000000.00"],
  ] as const
) {
  Deno.test(`usdText() writes ${microUsd} as ${text}`, () => {
    assert.equal(usdText(microUsd), text);
  });
}
