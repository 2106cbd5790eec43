import assert from "node:assert/strict";
import { MOST_SAVED, RETRY_SHARE, RetryBudget } from "./retry_budget.ts";

const START = 1_800_000_000_000;

Deno.test("withdraw() grants what is saved at the start, then a share of the calls", () => {
  const budget = new RetryBudget();
  let granted = 0;
  const calls = 1_000;
  for (let i = 0; i < calls; i++) {
    budget.deposit();
    if (budget.withdraw(START)) granted++;
  }
  assert.equal(granted, MOST_SAVED + calls * RETRY_SHARE - 1);
});

Deno.test("calls that need no retry save up no more than the most", () => {
  const budget = new RetryBudget();
  for (let i = 0; i < 10_000; i++) budget.deposit();
  let granted = 0;
  while (budget.withdraw(START)) granted++;
  assert.equal(granted, MOST_SAVED);
});

Deno.test("time pays in too, and a clock that goes back takes nothing", () => {
  const budget = new RetryBudget();
  while (budget.withdraw(START));
  assert.equal(budget.withdraw(START - 60_000), false);
  assert.equal(budget.withdraw(START - 50_000), true);
  assert.equal(budget.withdraw(START - 50_000), false);
});
