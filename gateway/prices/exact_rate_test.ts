import assert from "node:assert/strict";
import fc from "fast-check";
import { exactRate, PER_DOLLAR, PER_TOKEN } from "./exact_rate.ts";

const ROWS: readonly (readonly [string, number, number | RegExp])[] = [
  ["3e-06", PER_TOKEN, 3_000_000],
  ["6.25e-06", PER_TOKEN, 6_250_000],
  ["0.000000075", PER_TOKEN, 75_000],
  ["0.0000003", PER_TOKEN, 300_000],
  ["5.46875e-07", PER_TOKEN, 546_875],
  ["0", PER_TOKEN, 0],
  ["0.0", PER_TOKEN, 0],
  ["0e9", PER_TOKEN, 0],
  ["1.25", PER_DOLLAR, 1_250_000],
  ["0.01", PER_DOLLAR, 10_000],
  ["1.100000", PER_DOLLAR, 1_100_000],
  ["1E+1", PER_DOLLAR, 10_000_000],
  ["1.1000000000000001e-06", PER_TOKEN, /no whole number/],
  ["4.16666666666667e-08", PER_TOKEN, /no whole number/],
  ["1e-13", PER_TOKEN, /no whole number/],
  ["1e-999", PER_TOKEN, /no whole number/],
  ["1e12", PER_TOKEN, /too large/],
  ["1e999", PER_TOKEN, /too large/],
  ["-1", PER_TOKEN, /below zero/],
  ["", PER_TOKEN, /no number/],
  ["free", PER_TOKEN, /no number/],
  ["NaN", PER_TOKEN, /no number/],
  [".5", PER_TOKEN, /no number/],
];

Deno.test("exactRate() reads every notation exactly, or says why not", async (t) => {
  for (const [text, places, expected] of ROWS) {
    await t.step(`${text} by ${places}`, () => {
      const rate = exactRate(text, places);
      if (typeof expected === "number") {
        assert.deepEqual(rate, { microUsd: expected });
      } else assert.match("problem" in rate ? rate.problem : "", expected);
    });
  }
});

Deno.test("exactRate() reads back each amount in each notation", () => {
  fc.assert(fc.property(
    fc.nat(999_999_999_999),
    fc.integer({ min: -20, max: 20 }),
    (amount, exponent) => {
      const digits = amount.toString().padStart(21, "0");
      const whole = digits.slice(0, -PER_TOKEN);
      const point = `${whole}.${digits.slice(-PER_TOKEN)}`;
      const expected = { microUsd: amount };
      assert.deepEqual(exactRate(point, PER_TOKEN), expected);
      const power = exactRate(`${amount}e${exponent}`, -exponent);
      assert.deepEqual(power, expected);
    },
  ));
});
