/**
 * What an account or a key has used of its limits, and how calls change it. Pure: each
 * function returns the next state. The use of an account is always counted, that of a key
 * while the key has limits.
 */
import type { Limits, LimitState } from "../accounts.ts";
import type { Charge, LimitSettings, ReservedCall } from "../records.ts";
import { type Bucket, consume, leak, limitState } from "./bucket.ts";
import {
  DAY_MS,
  dayAfter,
  dayOf,
  firstDayOf,
  perWindow,
  type WindowName,
  WINDOWS,
} from "./calendar_window.ts";
import type { LateAmount } from "../ledger/correction.ts";
import { type Amount, WINDOW_BITS, WINDOW_LIMITS } from "./window_limits.ts";

/** What was used of the limits. */
export interface LimitUse {
  /** Bucket of the requests-per-minute limit. */
  readonly requests: Bucket;
  /** Bucket of the tokens-per-minute limit. */
  readonly tokens: Bucket;
  /** Number of active calls. */
  readonly openRequests: number;
  /** Worst case of the active calls. */
  readonly reserved: Amount;
  /** The day to which `used` applies, in days since 1970 (UTC). */
  readonly day: number;
  /** Used in the windows that contain `day`. */
  readonly used: Readonly<Record<WindowName, Amount>>;
  /** Bits of the warnings that were sent in these windows, see `window_limits.ts`. */
  readonly warned: number;
}

const NOTHING: Amount = { microUsd: 0, tokens: 0 };
const EMPTY: Bucket = { level: 0, atMs: 0 };

/** The use before the first call. */
export const UNUSED: LimitUse = {
  requests: EMPTY,
  tokens: EMPTY,
  openRequests: 0,
  reserved: NOTHING,
  day: 0,
  used: perWindow(() => NOTHING),
  warned: 0,
};

/**
 * The use at a later time: the buckets leak, and a new window has nothing used. A stored day later
 * than tomorrow comes from a wrong clock: its use counts in today's windows.
 */
export function useAt(
  use: LimitUse,
  limits: LimitSettings,
  nowMs: number,
): LimitUse {
  const requests = leak(use.requests, limits.requestsPerMinute, nowMs);
  const tokens = leak(use.tokens, limits.tokensPerMinute, nowMs);
  const day = dayOf(nowMs);
  if (day <= use.day) {
    const isFuture = use.day > day + 1;
    return { ...use, requests, tokens, day: isFuture ? day : use.day };
  }
  let { warned } = use;
  const used = perWindow((window) => {
    if (firstDayOf(window, day) === firstDayOf(window, use.day)) {
      return use.used[window];
    }
    warned &= ~WINDOW_BITS[window];
    return NOTHING;
  });
  return {
    ...use,
    requests,
    tokens,
    day,
    used,
    warned,
  };
}

/**
 * The use with a granted call: it takes its worst case of the tokens per minute, so that calls at
 * one time pass the limit by one of them at most.
 */
export function withCall(
  use: LimitUse,
  limits: LimitSettings,
  call: ReservedCall,
): LimitUse {
  return {
    ...use,
    requests: limits.requestsPerMinute === undefined
      ? use.requests
      : consume(use.requests, 1),
    tokens: limits.tokensPerMinute === undefined
      ? use.tokens
      : consume(use.tokens, worstCase(call).tokens),
    openRequests: use.openRequests + 1,
    reserved: sum(use.reserved, worstCase(call)),
  };
}

/** The use without a call that has ended: nothing is reserved for it any more. */
export function withoutCall(use: LimitUse, call: ReservedCall): LimitUse {
  const { microUsd, tokens } = worstCase(call);
  return {
    ...use,
    openRequests: use.openRequests - 1,
    reserved: sum(use.reserved, { microUsd: -microUsd, tokens: -tokens }),
  };
}

/** The use as if an ended call had never been made. */
export function withoutTrace(use: LimitUse, call: ReservedCall): LimitUse {
  return {
    ...use,
    requests: consume(use.requests, -1),
    tokens: consume(use.tokens, -worstCase(call).tokens),
  };
}

/** The use with a charge. `wasReserved`: whether {@linkcode withCall} counted the call. */
export function withCharge(
  use: LimitUse,
  limits: LimitSettings,
  call: ReservedCall,
  charge: Charge,
  wasReserved: boolean,
): LimitUse {
  const amount: Amount = {
    microUsd: charge.costMicroUsd,
    tokens: charge.tokens.input + charge.tokens.cacheRead +
      charge.tokens.cacheWrite + charge.tokens.output,
  };
  return {
    ...use,
    // Replaces the worst case consumed at admission with the actual token count.
    tokens: limits.tokensPerMinute === undefined ? use.tokens : consume(
      use.tokens,
      amount.tokens - (wasReserved ? worstCase(call).tokens : 0),
    ),
    used: perWindow((window) => sum(use.used[window], amount)),
  };
}

/** Adds what a call used beyond its estimate to the windows that counted the call. */
export function withLateAmount(
  use: LimitUse,
  limits: LimitSettings,
  late: LateAmount,
): LimitUse {
  const used = { ...use.used };
  for (const window of WINDOWS) {
    if (firstDayOf(window, late.day) === firstDayOf(window, use.day)) {
      used[window] = sum(used[window], late);
    }
  }
  return {
    ...use,
    tokens: limits.tokensPerMinute === undefined
      ? use.tokens
      : consume(use.tokens, late.tokens),
    used,
  };
}

export function worstCase(call: ReservedCall): Amount {
  return {
    microUsd: call.reservedMicroUsd,
    tokens: call.reservedTokens ?? 0,
  };
}

/** The limits per minute and their state. */
export function minuteLimits(use: LimitUse, limits: LimitSettings): Limits {
  const { requestsPerMinute, tokensPerMinute } = limits;
  return {
    ...(requestsPerMinute === undefined
      ? {}
      : { requests: limitState(use.requests, requestsPerMinute) }),
    ...(tokensPerMinute === undefined
      ? {}
      : { tokens: limitState(use.tokens, tokensPerMinute) }),
  };
}

/** The limits of requests and of tokens with the least left, of every window, for headers. */
export function nearestLimits(use: LimitUse, limits: LimitSettings): Limits {
  const minute = minuteLimits(use, limits);
  let { tokens } = minute;
  for (const { field, unit, window } of WINDOW_LIMITS) {
    const limit = limits[field];
    if (limit === undefined || unit !== "tokens") continue;
    const left = limit - use.used[window].tokens - use.reserved.tokens;
    tokens = nearer(tokens, {
      limit,
      remaining: Math.max(0, left),
      resetAtMs: dayAfter(window, use.day) * DAY_MS,
    });
  }
  return tokens === undefined ? minute : { ...minute, tokens };
}

/** The limit with less left; of two with as much, the one that opens later. */
export function nearer(
  one: LimitState | undefined,
  other: LimitState | undefined,
): LimitState | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  if (one.remaining !== other.remaining) {
    return one.remaining < other.remaining ? one : other;
  }
  return one.resetAtMs < other.resetAtMs ? other : one;
}

function sum(a: Amount, b: Amount): Amount {
  return { microUsd: a.microUsd + b.microUsd, tokens: a.tokens + b.tokens };
}
