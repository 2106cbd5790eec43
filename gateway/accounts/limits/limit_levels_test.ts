import assert from "node:assert/strict";
import { LIMIT_NAMES, type LimitSettings } from "../records.ts";
import { dayOf } from "./calendar_window.ts";
import { limitLevels, limitWords } from "./limit_levels.ts";
import { type LimitUse, UNUSED } from "./limit_use.ts";

/** A Wednesday. */
const NOON_MS = Date.parse("2026-11-25T12:00:00Z");
const THURSDAY = Date.parse("2026-11-26");
const MONDAY = Date.parse("2026-11-30");
const DECEMBER = Date.parse("2026-12-01");
const USED = { microUsd: 800, tokens: 80 };
const USE: LimitUse = {
  ...UNUSED,
  day: dayOf(NOON_MS),
  requests: { level: 3 * 60_000, atMs: NOON_MS },
  tokens: { level: 80 * 60_000, atMs: NOON_MS },
  openRequests: 2,
  reserved: { microUsd: 200, tokens: 10 },
  used: { day: USED, week: USED, month: USED },
};

Deno.test("limitLevels() has every limit, and when it opens by the rule of the refusal", () => {
  for (
    const [limits, code, share, opens] of [
      [{ concurrentRequests: 4 }, "concurrent_requests", 0.5, undefined],
      [{ concurrentRequests: 2 }, "concurrent_requests", 1, "call_ends"],
      [{ requestsPerMinute: 4 }, "requests_per_minute", 0.75, undefined],
      [{ requestsPerMinute: 3 }, "requests_per_minute", 1, NOON_MS + 20_000],
      [{ tokensPerMinute: 100 }, "tokens_per_minute", 0.8, undefined],
      [{ spendPerDayMicroUsd: 2000 }, "spending_per_day", 0.5, undefined],
      [{ spendPerDayMicroUsd: 1000 }, "spending_per_day", 1, "call_ends"],
      [{ spendPerDayMicroUsd: 800 }, "spending_per_day", 1.25, THURSDAY],
      [{ spendPerWeekMicroUsd: 500 }, "spending_per_week", 2, MONDAY],
      [{ spendPerMonthMicroUsd: 0 }, "spending_per_month", 1, DECEMBER],
      [{ tokensPerDay: 100 }, "tokens_per_day", 0.9, undefined],
      [{ tokensPerWeek: 90 }, "tokens_per_week", 1, "call_ends"],
      [{ tokensPerMonth: 80 }, "tokens_per_month", 90 / 80, DECEMBER],
    ] as const
  ) {
    const [level, more] = limitLevels("account", USE, limits, NOON_MS);
    assert.equal(level?.code, code);
    assert.equal(level?.share, share, code);
    assert.equal(level?.opens, opens, code);
    assert.equal(more, undefined);
  }
  const all: LimitSettings = Object.fromEntries(
    LIMIT_NAMES.map((name) => [name, 9]),
  );
  const levels = limitLevels("key", USE, all, NOON_MS);
  assert.equal(levels.length, LIMIT_NAMES.length);
  assert.ok(levels.every(({ code }) => code.startsWith("key_")));
});

Deno.test("limitWords() names a limit as people do", () => {
  for (
    const [code, words] of [
      ["concurrent_requests", "the account's limit of concurrent requests"],
      ["key_requests_per_minute", "this key's limit of requests per minute"],
      ["tokens_per_minute", "the account's limit of tokens per minute"],
      ["key_spending_per_day", "this key's daily budget"],
      ["spending_per_month", "the account's monthly budget"],
      ["key_tokens_per_week", "this key's weekly token limit"],
    ] as const
  ) assert.equal(limitWords(code), words);
});
