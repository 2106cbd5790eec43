import assert from "node:assert/strict";
import { DEPOSIT_PER_CALL, MAX_BALANCE, RetryBudget } from "./retry_budget.ts";

const START = 1_800_000_000_000;

Deno.test("withdraw() grants the initial balance, then a share of the calls", () => {
  const budget = new RetryBudget();
  let granted = 0;
  const calls = 1_000;
  for (let i = 0; i < calls; i++) {
    budget.deposit();
    if (budget.withdraw(START)) granted++;
  }
  assert.equal(granted, MAX_BALANCE + calls * DEPOSIT_PER_CALL - 1);
});

Deno.test("calls without a retry accumulate at most the maximum balance", () => {
  const budget = new RetryBudget();
  for (let i = 0; i < 10_000; i++) budget.deposit();
  let granted = 0;
  while (budget.withdraw(START)) granted++;
  assert.equal(granted, MAX_BALANCE);
});

Deno.test("the balance also grows with time, and a clock that runs backwards removes nothing", () => {
  const budget = new RetryBudget();
  while (budget.withdraw(START));
  assert.equal(budget.withdraw(START - 60_000), false);
  assert.equal(budget.withdraw(START - 50_000), true);
  assert.equal(budget.withdraw(START - 50_000), false);
});
