import assert from "node:assert/strict";
import { DAY_MS } from "./calendar_window.ts";
import { UNUSED, useAt } from "./limit_use.ts";

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
