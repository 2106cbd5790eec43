import assert from "node:assert/strict";
import { dayOf, perWindow } from "../accounts/limits/calendar_window.ts";
import { type LimitUse, UNUSED } from "../accounts/limits/limit_use.ts";
import type { LimitSettings } from "../accounts/records.ts";
import type { CredentialState } from "../accounts/repositories/credential_state.ts";
import { firstLimit } from "./account_summary.ts";

/** A Wednesday. */
const NOON = "2026-11-25T12:00";
const SIX = "2026-11-25T18:00";
const MIDNIGHT = "2026-11-26T00:00";
const NOON_MS = Date.parse(`${NOON}Z`);

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
    ...(keyLimits && { key: { id: "key_1", limits: keyLimits, use: USE } }),
  };
}

Deno.test("firstLimit() names the limit of account, key or balance that is reached first", () => {
  const day = { spendPerDayMicroUsd: 1000 };
  const month = { ...day, tokensPerMonth: 200 };
  for (
    const [plan, keyLimits, limit, at, balance = 1e9] of [
      [{}, undefined, undefined, ""],
      [{}, undefined, "balance", MIDNIGHT, 1500],
      [{ spendPerDayMicroUsd: 1500 }, undefined, "day", SIX],
      // Not before midnight.
      [{ spendPerDayMicroUsd: 2000 }, undefined, undefined, ""],
      [{ tokensPerWeek: 400 }, {}, "tokens_per_week", MIDNIGHT],
      // Not before Monday.
      [{ tokensPerWeek: 2001 }, {}, undefined, ""],
      [
        { spendPerMonthMicroUsd: 3000 },
        { tokensPerMonth: 300 },
        "key_tokens_per_month",
        SIX,
      ],
      [{ requestsPerMinute: 3 }, {}, undefined, ""],
      [{ requestsPerMinute: 2 }, {}, "requests_per_minute", NOON],
      [{}, { concurrentRequests: 3 }, "key_concurrent", NOON],
      // Of two that are reached, the one that opens later.
      [{ concurrentRequests: 3, ...day }, {}, "day", NOON],
      // The limit that a refusal names, be it of the account or of the key.
      [{ tokensPerMinute: 1, concurrentRequests: 3 }, day, "key_day", NOON],
      [{ spendPerWeekMicroUsd: 1000 }, month, "key_tokens_per_month", NOON],
      // A balance opens when somebody acts.
      [{ spendPerMonthMicroUsd: 1000 }, undefined, "balance", NOON, 500],
    ] as const
  ) {
    const stop = firstLimit(state(plan, keyLimits, balance));
    assert.equal(stop?.limit, limit);
    if (stop === undefined) continue;
    assert.equal(new Date(stop.atMs).toISOString(), `${at}:00.000Z`);
  }
});
