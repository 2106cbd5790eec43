/**
 * An account as the holder of a credential sees it: what is left, what is used of each limit, and
 * which limit stops its calls first.
 */
import { z } from "zod";
import { compact } from "../../translate/bytes/compact.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import type { Holder } from "../accounts/credential_kind.ts";
import {
  DAY_MS,
  dayAfter,
  perWindow,
  type WindowName,
  WINDOWS,
} from "../accounts/limits/calendar_window.ts";
import { type LimitUse, minuteLimits } from "../accounts/limits/limit_use.ts";
import type { LimitCode } from "../accounts/limits/exceeded_limit.ts";
import {
  type LimitLevel,
  limitLevels,
  limitWords,
} from "../accounts/limits/limit_levels.ts";
import { WINDOW_LIMITS } from "../accounts/limits/window_limits.ts";
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

type LimitStop =
  | WindowName
  | `tokens_per_${WindowName | "minute"}`
  | "requests_per_minute"
  | "concurrent";

const LONGEST_FIRST = [...WINDOWS].reverse();
const LIMIT_STOPS: readonly LimitStop[] = [
  ...LONGEST_FIRST,
  ...LONGEST_FIRST.map((window): LimitStop => `tokens_per_${window}`),
  "tokens_per_minute",
  "requests_per_minute",
  "concurrent",
];

/** What can stop calls. The name of a window alone is a limit of money. */
export type StopName = "balance" | LimitStop | `key_${LimitStop}`;

const STOP_NAMES: readonly StopName[] = [
  "balance",
  ...LIMIT_STOPS,
  ...LIMIT_STOPS.map((name): StopName => `key_${name}`),
];

function stopOf(code: LimitCode): StopName {
  const name = code.replace("spending_per_", "").replace(/_requests$/, "");
  const stop = STOP_NAMES.find((one) => one === name);
  if (stop === undefined) throw new Error(`no name for the limit ${code}`);
  return stop;
}

/** What stops calls, in words: `the balance`, `this key's daily budget`. */
export function stopWords(
  stop: StopName,
  levels: readonly LimitLevel[],
): string {
  const level = levels.find(({ code }) => stopOf(code) === stop);
  return level === undefined ? "the balance" : limitWords(level.code);
}

/** How full the limits of the account and of the key are. */
export function levelsOf(
  { atMs, account: { plan, use }, key }: CredentialState,
): readonly LimitLevel[] {
  return [
    ...limitLevels("account", use, plan, atMs),
    ...(key === undefined ? [] : limitLevels("key", key.use, key.limits, atMs)),
  ];
}

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
  state: CredentialState,
  recent: RecentPaces = {},
): FirstStop<StopName> | undefined {
  const { atMs, account: { account, use } } = state;
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
    ...levelsOf(state).map((level) => allowanceOf(level, state, recent)),
  ]);
}

function allowanceOf(
  { code, window, unit, limit, used, reserved, opens }: LimitLevel,
  { account, key }: CredentialState,
  recent: RecentPaces,
): Allowance<StopName> {
  const isKeys = code.startsWith("key_");
  const use = isKeys && key !== undefined ? key.use : account.use;
  const pace = isKeys ? recent.key : recent.account;
  const left = opens === undefined ? limit - used - reserved : 0;
  const allowance = {
    limit: stopOf(code),
    left,
    ...compact({ opens }),
  };
  if (window === "at_once") {
    return {
      ...allowance,
      today: 0,
      fullInMs: pace && placesFullInMs(used, limit, pace),
    };
  }
  if (window === "minute") {
    // It has room again within a minute, so the pace of a day does not apply.
    return {
      ...allowance,
      today: 0,
      fullInMs: pace && minuteFullInMs(
        left,
        limit,
        unit === "tokens" ? pace.tokensPerMinute : pace.requestsPerMinute,
      ),
    };
  }
  return {
    ...allowance,
    today: use.used.day[unit === "tokens" ? "tokens" : "microUsd"],
    resetsAtMs: resetsAtMs(window, use.day),
  };
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
  ...perWindow(() => windowReply),
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
