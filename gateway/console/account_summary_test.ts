import assert from "node:assert/strict";
import { dayOf, perWindow } from "../accounts/limits/calendar_window.ts";
import { type LimitUse, UNUSED } from "../accounts/limits/limit_use.ts";
import type { LimitSettings } from "../accounts/records.ts";
import type { CredentialState } from "../accounts/repositories/credential_state.ts";
import { firstLimit } from "./account_summary.ts";

/** A Wednesday. */
const NOON_MS = Date.parse("2026-11-25T12:00:00Z");

const USED = { microUsd: 1000, tokens: 200 };
const USE: LimitUse = {
  ...UNUSED,
  day: dayOf(NOON_MS),
  requests: { level: 2 * 60_000, atMs: NOON_MS },
  openRequests: 3,
  used: perWindow(() => USED),
};

function state(
  plan: LimitSettings,
  keyLimits: LimitSettings | undefined,
  balanceMicroUsd: number,
): CredentialState {
  return {
    atMs: NOON_MS,
    account: {
      account: {
        id: "search",
        name: "search",
        status: "active",
        planId: "team",
        billing: "prepaid",
        balanceMicroUsd,
        reservedMicroUsd: 500,
        createdAtMs: 0,
      },
      plan: { id: "team", createdAtMs: 0, ...plan },
      modelBalances: new Map(),
      use: USE,
    },
    ...(keyLimits === undefined
      ? {}
      : { key: { id: "key_1", limits: keyLimits, use: USE } }),
  };
}

Deno.test("firstLimit() names the limit of account, key or balance that is reached first", () => {
  for (
    const [plan, keyLimits, balance, limit, at] of [
      [{}, undefined, 1e9, undefined, ""],
      [{}, undefined, 1500, "balance", "2026-11-26T00:00"],
      [
        { spendPerDayMicroUsd: 1500 },
        undefined,
        1e9,
        "day",
        "2026-11-25T18:00",
      ],
      // Not before midnight.
      [{ spendPerDayMicroUsd: 2000 }, undefined, 1e9, undefined, ""],
      [{ tokensPerWeek: 400 }, {}, 1e9, "tokens_per_week", "2026-11-26T00:00"],
      // Not before Monday.
      [{ tokensPerWeek: 2001 }, {}, 1e9, undefined, ""],
      [
        { spendPerMonthMicroUsd: 3000 },
        { tokensPerMonth: 300 },
        1e9,
        "key_tokens_per_month",
        "2026-11-25T18:00",
      ],
      [{ requestsPerMinute: 3 }, {}, 1e9, undefined, ""],
      [
        { requestsPerMinute: 2 },
        {},
        1e9,
        "requests_per_minute",
        "2026-11-25T12:00",
      ],
      [
        {},
        { concurrentRequests: 3 },
        1e9,
        "key_concurrent",
        "2026-11-25T12:00",
      ],
      // Of two that are reached, the one that opens later.
      [
        { concurrentRequests: 3, spendPerDayMicroUsd: 1000 },
        {},
        1e9,
        "day",
        "2026-11-25T12:00",
      ],
      // The limit that a refusal names, be it of the account or of the key.
      [
        { tokensPerMinute: 1, concurrentRequests: 3 },
        { spendPerDayMicroUsd: 1000 },
        1e9,
        "key_day",
        "2026-11-25T12:00",
      ],
      [
        { spendPerWeekMicroUsd: 1000 },
        { spendPerDayMicroUsd: 1000, tokensPerMonth: 200 },
        1e9,
        "key_tokens_per_month",
        "2026-11-25T12:00",
      ],
      // A balance opens when somebody acts.
      [
        { spendPerMonthMicroUsd: 1000 },
        undefined,
        500,
        "balance",
        "2026-11-25T12:00",
      ],
    ] as const
  ) {
    const stop = firstLimit(state(plan, keyLimits, balance));
    assert.equal(stop?.limit, limit);
    if (stop === undefined) continue;
    assert.equal(new Date(stop.atMs).toISOString(), `${at}:00.000Z`);
  }
});
