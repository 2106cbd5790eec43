/**
 * An account as the holder of a credential sees it: what is left, what is used of each limit, and
 * which limit stops its calls first.
 *
 * @module
 */
import { z } from "zod";
import type { JsonObject } from "../../translate/bytes/json.ts";
import type { Holder } from "../accounts/credential_kind.ts";
import {
  DAY_MS,
  dayAfter,
  type WindowName,
  WINDOWS,
} from "../accounts/ledger/calendar_window.ts";
import { type LimitUse, minuteLimits } from "../accounts/ledger/limit_use.ts";
import { WINDOW_LIMITS } from "../accounts/ledger/window_limits.ts";
import type { LimitSettings } from "../accounts/records.ts";
import type { CredentialState } from "../accounts/repositories/credential_state.ts";
import {
  type Allowance,
  type FirstStop,
  firstStop,
  minuteFullInMs,
  placesFullInMs,
  type RecentPace,
} from "./pace.ts";

const LIMIT_STOPS = [
  "month",
  "week",
  "day",
  "tokens_per_month",
  "tokens_per_week",
  "tokens_per_day",
  "tokens_per_minute",
  "requests_per_minute",
  "concurrent",
] as const;

type LimitStop = typeof LIMIT_STOPS[number];

/** What can stop calls. `day`, `week` and `month` are limits of money. */
export type StopName = "balance" | LimitStop | `key_${LimitStop}`;

const STOP_NAMES: readonly StopName[] = [
  "balance",
  ...LIMIT_STOPS,
  ...LIMIT_STOPS.map((name): StopName => `key_${name}`),
];

/** The pace of the last minute; absent where it is not known. */
export interface RecentPaces {
  readonly account?: RecentPace;
  readonly key?: RecentPace;
}

/**
 * The limit that stops the calls of a credential first; undefined if none is in sight. `recent`
 * predicts the limits a minute and at once.
 */
export function firstLimit(
  { atMs, account: { account, plan, use }, key }: CredentialState,
  recent: RecentPaces = {},
): FirstStop<StopName> | undefined {
  // Of limits that are reached already, the first one takes the longest to open.
  return firstStop<StopName>(atMs, [
    ...(account.billing === "prepaid"
      ? [
        {
          limit: "balance",
          left: account.balanceMicroUsd - account.reservedMicroUsd,
          today: use.used.day.microUsd,
        } as const,
      ]
      : []),
    ...allowances(use, plan, recent.account),
    ...(key === undefined
      ? []
      : allowances(key.use, key.limits, recent.key).map((
        one,
      ): Allowance<StopName> => ({ ...one, limit: `key_${one.limit}` }))),
  ]);
}

function allowances(
  use: LimitUse,
  limits: LimitSettings,
  recent: RecentPace | undefined,
): readonly Allowance<LimitStop>[] {
  const found: Allowance<LimitStop>[] = [];
  for (const { field, unit, window } of WINDOW_LIMITS) {
    const limit = limits[field];
    if (limit === undefined) continue;
    found.push({
      limit: unit === "microUsd" ? window : `tokens_per_${window}`,
      left: limit - use.used[window][unit],
      today: use.used.day[unit],
      resetsAtMs: resetsAtMs(window, use.day),
    });
  }
  const { requests, tokens } = minuteLimits(use, limits);
  // They have room again within a minute: no pace of a day applies.
  const add = (
    limit: LimitStop,
    left: number,
    fullInMs: number | undefined,
  ): void => {
    found.push({ limit, left, today: 0, fullInMs });
  };
  if (tokens !== undefined) {
    const { remaining, limit } = tokens;
    add(
      "tokens_per_minute",
      remaining,
      recent && minuteFullInMs(remaining, limit, recent.tokensPerMinute),
    );
  }
  if (requests !== undefined) {
    const { remaining, limit } = requests;
    add(
      "requests_per_minute",
      remaining,
      recent && minuteFullInMs(remaining, limit, recent.requestsPerMinute),
    );
  }
  const { concurrentRequests: places } = limits;
  if (places !== undefined) {
    const { openRequests: open } = use;
    add(
      "concurrent",
      places - open,
      recent && placesFullInMs(open, places, recent),
    );
  }
  return found.toSorted((a, b) =>
    LIMIT_STOPS.indexOf(a.limit) - LIMIT_STOPS.indexOf(b.limit)
  );
}

function resetsAtMs(window: WindowName, day: number): number {
  return dayAfter(window, day) * DAY_MS;
}

const NO_LIMIT = "null: no limit";
const windowReply = z.object({
  spent_micro_usd: z.int(),
  limit_micro_usd: z.int().nullable().describe(NO_LIMIT),
  used_tokens: z.int(),
  limit_tokens: z.int().nullable().describe(NO_LIMIT),
  resets_at: z.string(),
});
const minuteReply = z.object({ limit: z.int(), remaining: z.int() })
  .nullable().describe(NO_LIMIT);
const USE_REPLY = {
  day: windowReply,
  week: windowReply,
  month: windowReply,
  minute: z.object({ requests: minuteReply, tokens: minuteReply }),
  concurrent: z.object({
    limit: z.int().nullable().describe(NO_LIMIT),
    open: z.int(),
  }),
};

/** JSON form of {@linkcode accountJson}. */
export const accountReply: z.ZodType = z.object({
  object: z.literal("account"),
  id: z.string(),
  plan: z.string(),
  billing: z.enum(["prepaid", "postpaid"]),
  status: z.enum(["active", "disabled"]),
  credential: z.object({
    kind: z.enum(["key", "read", "manage"]),
    id: z.string(),
    expires_at: z.string().nullable().describe("null: it does not expire"),
  }),
  balance_micro_usd: z.int(),
  reserved_micro_usd: z.int().describe(
    "part of the balance reserved for active calls",
  ),
  ...USE_REPLY,
  key: z.object(USE_REPLY).nullable().describe(
    "the limits of the key itself; null: a token, or a key without limits of its own",
  ),
  first_limit: z.enum(STOP_NAMES).nullable().describe(
    "the limit that stops calls first at today's pace, limits a minute and at once at that of the last minute; null: none within 30 days",
  ),
  first_limit_at: z.string().nullable().describe(
    "when it does; not after the present if it is reached",
  ),
});

/** The summary in its JSON form. */
export function accountJson(
  { kind, id }: Holder,
  state: CredentialState,
  recent: RecentPaces = {},
): JsonObject {
  const { account: { account, plan, use }, key, expiresAtMs } = state;
  const stop = firstLimit(state, recent);
  return {
    object: "account",
    id: account.id,
    plan: plan.id,
    billing: account.billing,
    status: account.status,
    credential: { kind, id, expires_at: timeOrNull(expiresAtMs) },
    balance_micro_usd: account.balanceMicroUsd,
    reserved_micro_usd: account.reservedMicroUsd,
    ...useJson(use, plan),
    key: key === undefined ? null : useJson(key.use, key.limits),
    first_limit: stop?.limit ?? null,
    first_limit_at: timeOrNull(stop?.atMs),
  };
}

function useJson(use: LimitUse, limits: LimitSettings): JsonObject {
  const { requests, tokens } = minuteLimits(use, limits);
  const limitOf = (
    window: WindowName,
    unit: "microUsd" | "tokens",
  ): number | null => {
    const row = WINDOW_LIMITS.find((one) =>
      one.window === window && one.unit === unit
    );
    return row === undefined ? null : limits[row.field] ?? null;
  };
  return {
    ...Object.fromEntries(WINDOWS.map((window) => [window, {
      spent_micro_usd: use.used[window].microUsd,
      limit_micro_usd: limitOf(window, "microUsd"),
      used_tokens: use.used[window].tokens,
      limit_tokens: limitOf(window, "tokens"),
      resets_at: timeOrNull(resetsAtMs(window, use.day)),
    }])),
    minute: {
      requests: requests === undefined
        ? null
        : { limit: requests.limit, remaining: requests.remaining },
      tokens: tokens === undefined
        ? null
        : { limit: tokens.limit, remaining: tokens.remaining },
    },
    concurrent: {
      limit: limits.concurrentRequests ?? null,
      open: use.openRequests,
    },
  };
}

function timeOrNull(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
