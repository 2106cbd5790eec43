import assert from "node:assert/strict";
import { exponent, median, quantile, spreadOf } from "./statistics.ts";

Deno.test("median() is the middle value, or the mean of the two middle values", () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 3]), 2.5);
  assert.ok(Number.isNaN(median([])));
});

Deno.test("quantile() interpolates between the lowest and the highest value", () => {
  const values = Array.from({ length: 101 }, (_, index) => 100 - index);
  assert.equal(quantile(values, 0), 0);
  assert.equal(quantile(values, 0.99), 99);
  assert.equal(quantile(values, 1), 100);
});

Deno.test("spreadOf() returns median and range, and undefined without values", () => {
  assert.deepEqual(spreadOf([2, 9, 4]), { median: 4, low: 2, high: 9 });
  assert.equal(spreadOf([]), undefined);
});

Deno.test("exponent() returns the power of a growth", () => {
  const of = (power: number) =>
    exponent([1, 2, 4, 8].map((x) => ({ x, y: 3 * x ** power })));
  for (const power of [0, 0.5, 1, 2]) {
    assert.ok(Math.abs(of(power) - power) < 1e-9);
  }
});
