import assert from "node:assert/strict";
import { DAY_MS } from "./calendar_window.ts";
import { nearestLimits, UNUSED, useAt } from "./limit_use.ts";

const amount = (microUsd: number) => ({ microUsd, tokens: microUsd });

Deno.test("use that a wrong clock dated a year ahead counts in today's windows, and opens with them", () => {
  // A Thursday in the middle of a month.
  const today = 20_783;
  const ahead = {
    ...UNUSED,
    day: today + 400,
    used: { day: amount(1), week: amount(2), month: amount(3) },
    requests: { level: 60_000, atMs: (today + 400) * DAY_MS },
  };
  const use = useAt(ahead, { requestsPerMinute: 1 }, today * DAY_MS);
  assert.equal(use.day, today);
  assert.deepEqual(use.used, ahead.used);
  assert.deepEqual(use.requests, { level: 60_000, atMs: today * DAY_MS });
  const tomorrow = useAt(use, { requestsPerMinute: 1 }, (today + 1) * DAY_MS);
  assert.deepEqual(tomorrow.used.day, amount(0));
  assert.equal(tomorrow.requests.level, 0);
});

Deno.test("use of a process that is a little ahead at midnight stays in its windows", () => {
  const use = { ...UNUSED, day: 101, used: { ...UNUSED.used, day: amount(1) } };
  assert.deepEqual(useAt(use, {}, 101 * DAY_MS - 10).day, 101);
});

Deno.test("of the limits of tokens the one with the least left is the nearest, with its own reset", () => {
  // A Thursday.
  const day = 20_783;
  const use = {
    ...UNUSED,
    day,
    reserved: { microUsd: 0, tokens: 100 },
    used: {
      day: { microUsd: 0, tokens: 1_000 },
      week: { microUsd: 0, tokens: 9_000 },
      month: { microUsd: 0, tokens: 9_500 },
    },
    tokens: { level: 200 * 60_000, atMs: day * DAY_MS },
  };
  const state = (limit: number, remaining: number, resetDay: number) => ({
    limit,
    remaining,
    resetAtMs: resetDay * DAY_MS,
  });
  assert.deepEqual(nearestLimits(use, {}), {});
  assert.deepEqual(nearestLimits(use, { spendPerDayMicroUsd: 5 }), {});
  assert.deepEqual(nearestLimits(use, { tokensPerDay: 5_000 }), {
    tokens: state(5_000, 3_900, day + 1),
  });
  const many = { tokensPerDay: 5_000, tokensPerWeek: 12_000 };
  assert.deepEqual(nearestLimits(use, many), {
    tokens: state(12_000, 2_900, day + 4),
  });
  assert.deepEqual(
    nearestLimits(use, { ...many, tokensPerMinute: 2_000 }).tokens?.limit,
    2_000,
  );
  assert.deepEqual(nearestLimits(use, { tokensPerDay: 1_050 }), {
    tokens: state(1_050, 0, day + 1),
  });
});
