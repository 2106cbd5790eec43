/**
 * Finds the limit that a call exceeds, and words the refusal: whose limit it is, which
 * window it has and when it opens.
 */
import type { LimitSettings, ReservedCall } from "../records.ts";
import { consume, waitMs } from "./bucket.ts";
import { DAY_MS, dayAfter, dayText } from "./calendar_window.ts";
import { type LimitUse, worstCase } from "./limit_use.ts";
import { usdText } from "../charges/money.ts";
import { WINDOW_LIMITS, type WindowLimit } from "./window_limits.ts";

/** Whose limit it is. */
export type LimitHolder = "account" | "key";

type LimitName =
  | "requests_per_minute"
  | "tokens_per_minute"
  | "concurrent_requests"
  | WindowLimit["code"];

/** The limit, for programs; one of a key begins with `key_`. */
export type LimitCode = LimitName | `key_${LimitName}`;

/** A limit that has no room for a call. */
export interface ExceededLimit {
  readonly holder: LimitHolder;
  /** The limit, for programs. */
  readonly code: LimitCode;
  /** The limit, its window and when it opens, for people. */
  readonly message: string;
  /** Time until the call may fit, in milliseconds. */
  readonly waitMs: number;
  /** Whether a retry within a minute may succeed. */
  readonly retryable: boolean;
  /** The limit: requests, tokens or micro-dollars. */
  readonly limit: number;
  /** The part of it that is used or reserved, in the same unit. */
  readonly used: number;
  /** What the call needs of it at most, in the same unit. */
  readonly needed: number;
  /** The limit of a calendar window that was reached: its place in {@linkcode WINDOW_LIMITS}. */
  readonly window?: number;
}

/** The longest time that `retry-after` suggests. */
export const MAX_RETRY_MS = 60_000;
/** Retry interval where a limit opens when other calls end, which cannot be predicted. */
const BUSY_RETRY_MS = 1000;
const MINUTE_MS = 60_000;

/**
 * The exceeded limit that takes the longest to open; undefined if the call fits. `use` is
 * that of {@linkcode useAt} at `nowMs`.
 */
export function exceededLimit(
  holder: LimitHolder,
  use: LimitUse,
  limits: LimitSettings,
  call: ReservedCall,
  nowMs: number,
): ExceededLimit | undefined {
  let longest: ExceededLimit | undefined;
  const add = (found: ExceededLimit): void => {
    if (longest === undefined || found.waitMs > longest.waitMs) longest = found;
  };
  const { requestsPerMinute, tokensPerMinute, concurrentRequests } = limits;
  if (requestsPerMinute !== undefined) {
    const ms = waitMs(use.requests, requestsPerMinute, 1);
    if (ms > 0) {
      add(perMinute(holder, "requests", requestsPerMinute, use, ms, 1));
    }
  }
  if (tokensPerMinute !== undefined) {
    const exceeded = tokensThisMinute(holder, tokensPerMinute, use, call);
    if (exceeded !== undefined) add(exceeded);
  }
  if (
    concurrentRequests !== undefined && use.openRequests >= concurrentRequests
  ) {
    add({
      holder,
      code: codeOf(holder, "concurrent_requests"),
      message: `${
        ownerOf(holder)
      } limit of ${concurrentRequests} concurrent requests is reached; it has room when one of them ends`,
      waitMs: BUSY_RETRY_MS,
      retryable: true,
      limit: concurrentRequests,
      used: use.openRequests,
      needed: 1,
    });
  }
  for (let index = 0; index < WINDOW_LIMITS.length; index++) {
    const row = WINDOW_LIMITS[index];
    const limit = row === undefined ? undefined : limits[row.field];
    if (row === undefined || limit === undefined) continue;
    const used = use.used[row.window][row.unit];
    const reserved = use.reserved[row.unit];
    if (used + reserved + worstCase(call)[row.unit] > limit) {
      add(inWindow(holder, use, { row, index, limit }, call, nowMs));
    }
  }
  return longest;
}

function perMinute(
  holder: LimitHolder,
  unit: "requests" | "tokens",
  limit: number,
  use: LimitUse,
  ms: number,
  needed: number,
): ExceededLimit {
  return {
    holder,
    code: codeOf(holder, `${unit}_per_minute`),
    message: `${
      ownerOf(holder)
    } limit of ${limit} ${unit} per minute is reached; it has room for this request in ${
      Math.ceil(ms / 1000)
    } s`,
    waitMs: ms,
    retryable: true,
    limit,
    used: Math.ceil(use[unit].level / MINUTE_MS),
    needed,
  };
}

/**
 * The limit of tokens a minute, if it has no room for the call's prompt. Active calls hold their
 * worst case of it; most of that is given back when they end.
 */
function tokensThisMinute(
  holder: LimitHolder,
  limit: number,
  use: LimitUse,
  { inputTokens }: ReservedCall,
): ExceededLimit | undefined {
  const inMs = (ms: number): ExceededLimit =>
    perMinute(holder, "tokens", limit, use, ms, inputTokens);
  const owner = ownerOf(holder);
  if (inputTokens > limit) {
    return {
      ...inMs(Infinity),
      message:
        `${owner} limit of ${limit} tokens per minute is too small for this request, whose prompt has about ${inputTokens} tokens: shorten it`,
      retryable: false,
    };
  }
  if (waitMs(use.tokens, limit, inputTokens) === 0) return undefined;
  const without = consume(use.tokens, -use.reserved.tokens);
  const ms = waitMs(without, limit, inputTokens);
  return ms > 0 ? inMs(ms) : {
    ...inMs(BUSY_RETRY_MS),
    message:
      `${owner} limit of ${limit} tokens per minute is reached while other requests are active, which may use up to ${use.reserved.tokens}; it has room when they end`,
  };
}

function inWindow(
  holder: LimitHolder,
  use: LimitUse,
  { row, index, limit }: {
    readonly row: WindowLimit;
    readonly index: number;
    readonly limit: number;
  },
  call: ReservedCall,
  nowMs: number,
): ExceededLimit {
  const { unit, window, code } = row;
  const used = use.used[window][unit];
  const reserved = use.reserved[unit];
  const worst = worstCase(call)[unit];
  const opensOn = dayAfter(window, use.day);
  const untilOpenMs = opensOn * DAY_MS - nowMs;
  // Amounts reserved for active calls may be released at any moment; what is used stays used
  // until the window ends.
  const mayPassSoon = used + worst <= limit;
  const neverFits = worst > limit;
  const text = unit === "microUsd"
    ? usdText
    : (tokens: number) => `${tokens} tokens`;
  const details = `${text(used)} ${unit === "microUsd" ? "spent" : "used"}, ${
    text(reserved)
  } reserved for active requests, and this request may ${
    unit === "microUsd" ? "cost" : "use"
  } up to ${text(worst)}`;
  return {
    holder,
    code: codeOf(holder, code),
    message: `${ownerOf(holder)} limit of ${text(limit)} a ${window} ${
      neverFits
        ? `is too small for this request (${details}): lower max_tokens`
        : mayPassSoon
        ? `is reached while other requests are active (${details}); it has room when they end`
        : `is reached; it opens on ${dayText(opensOn)} (${details})`
    }`,
    waitMs: mayPassSoon ? BUSY_RETRY_MS : untilOpenMs,
    retryable: mayPassSoon || (!neverFits && untilOpenMs <= MAX_RETRY_MS),
    limit,
    used: used + reserved,
    needed: worst,
    ...(mayPassSoon ? {} : { window: index }),
  };
}

function codeOf(holder: LimitHolder, name: LimitName): LimitCode {
  return holder === "key" ? `key_${name}` : name;
}

function ownerOf(holder: LimitHolder): string {
  return holder === "key" ? "this key's" : "the account's";
}
