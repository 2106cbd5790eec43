/**
 * May this call be made? Pure: from where an account stands to where it stands afterwards, or to the reason why not. A refusal
 * changes nothing, so refused calls burn no limit.
 *
 * The order is the one in which a caller can do something about it: account, plan, balance, and only then the limits that pass.
 *
 * @module
 */
import type { Limits } from "./accounts.ts";
import { drawn, waitMs } from "./bucket.ts";
import { usdText } from "./money.ts";
import type { OpenCall } from "./records.ts";
import {
  asOf,
  DAY_MS,
  type Held,
  hold,
  limitsOf,
  reservedInAll,
  type Standing,
} from "./standing.ts";

/** Why a call may not be made. */
export interface Refusal {
  /** `permission` is for good, `rate_limit` for a while. */
  readonly kind: "permission" | "rate_limit";
  /** Which of the reasons. */
  readonly code:
    | "account_disabled"
    | "model_not_in_plan"
    | "insufficient_balance"
    | "requests_per_minute"
    | "tokens_per_minute"
    | "concurrent_requests"
    | "spending_per_day";
  /** For the caller. */
  readonly message: string;
  /** Whole seconds, 1 to 60; of limits only. */
  readonly retryAfterSeconds?: number;
  /** Whether another try makes sense. */
  readonly retryable: boolean;
  /** Where the account stands; nothing was drawn. */
  readonly limits: Limits;
}

/** The answer, and where the account stands after it. */
export type Admission =
  | {
    readonly granted: true;
    readonly standing: Standing;
    /** The purse that pays; empty for the account's balance. */
    readonly purse: string;
    readonly limits: Limits;
  }
  | { readonly granted: false; readonly refusal: Refusal };

const MAX_RETRY_SECONDS = 60;
/** When a call under way will end is not known: a client asks again after this. */
const BUSY_RETRY_SECONDS = 1;

/** Decides on a call. */
export function admit(
  before: Standing,
  call: OpenCall,
  nowMs: number,
): Admission {
  const standing = asOf(before, nowMs);
  const { account, plan } = standing;
  const limits = limitsOf(standing);
  const deny = (code: Refusal["code"], message: string): Admission => ({
    granted: false,
    refusal: { kind: "permission", code, message, retryable: false, limits },
  });
  if (account.status === "disabled") {
    return deny("account_disabled", "the account is disabled");
  }
  if (plan.models !== undefined && !plan.models.includes(call.model)) {
    return deny("model_not_in_plan", notInPlan(call.model));
  }
  const purse = standing.purses.get(call.model);
  const payer = purse ?? account;
  if (
    (purse !== undefined || account.billing === "prepaid") &&
    payer.balanceMicroUsd - payer.reservedMicroUsd < call.reservedMicroUsd
  ) {
    return deny("insufficient_balance", outOfBalance(payer, call, purse));
  }
  const limited = limitReached(standing, call, nowMs);
  if (limited !== undefined) {
    return {
      granted: false,
      refusal: { kind: "rate_limit", ...limited, limits },
    };
  }
  const granted = hold(
    {
      ...standing,
      requests: plan.requestsPerMinute === undefined
        ? standing.requests
        : drawn(standing.requests, 1),
      tokens: plan.tokensPerMinute === undefined
        ? standing.tokens
        : drawn(standing.tokens, call.inputTokens),
    },
    purse === undefined ? "" : call.model,
    call.reservedMicroUsd,
    1,
  );
  return {
    granted: true,
    standing: granted,
    purse: purse === undefined ? "" : call.model,
    limits: limitsOf(granted),
  };
}

type Reached = Pick<
  Refusal,
  "code" | "message" | "retryAfterSeconds" | "retryable"
>;

function limitReached(
  standing: Standing,
  call: OpenCall,
  nowMs: number,
): Reached | undefined {
  const { account, plan } = standing;
  const wait = (code: Reached["code"], what: string, ms: number): Reached => ({
    code,
    message: `the limit of ${what} is reached`,
    retryAfterSeconds: seconds(ms),
    retryable: true,
  });
  const perMinute = plan.requestsPerMinute;
  if (perMinute !== undefined) {
    const ms = waitMs(standing.requests, perMinute, 1);
    if (ms > 0) {
      return wait("requests_per_minute", `${perMinute} requests a minute`, ms);
    }
  }
  const tokens = plan.tokensPerMinute;
  if (tokens !== undefined) {
    const ms = waitMs(standing.tokens, tokens, call.inputTokens);
    if (ms > 0) {
      return wait("tokens_per_minute", `${tokens} tokens a minute`, ms);
    }
  }
  const most = plan.concurrentRequests;
  if (most !== undefined && account.openRequests >= most) {
    return wait(
      "concurrent_requests",
      `${most} requests at once`,
      BUSY_RETRY_SECONDS * 1000,
    );
  }
  const perDay = plan.spendPerDayMicroUsd;
  if (perDay === undefined) return undefined;
  const spent = standing.daySpentMicroUsd;
  const reserved = reservedInAll(standing);
  if (spent + reserved + call.reservedMicroUsd <= perDay) return undefined;
  const untilTomorrowMs = (standing.day + 1) * DAY_MS - nowMs;
  // What calls under way hold may come back in a moment; what is spent stays spent until midnight.
  const passes = spent + call.reservedMicroUsd <= perDay;
  return {
    code: "spending_per_day",
    message: `the limit of ${usdText(perDay)} a day (UTC) is reached: ${
      usdText(spent)
    } is spent, ${
      usdText(reserved)
    } is held for requests under way, and this request may cost up to ${
      usdText(call.reservedMicroUsd)
    }`,
    retryAfterSeconds: passes ? BUSY_RETRY_SECONDS : seconds(untilTomorrowMs),
    retryable: passes || untilTomorrowMs <= MAX_RETRY_SECONDS * 1000,
  };
}

function seconds(ms: number): number {
  return Math.min(MAX_RETRY_SECONDS, Math.max(1, Math.ceil(ms / 1000)));
}

/** The words for a model outside the plan or the key's own list. */
export function notInPlan(model: string): string {
  return `the model ${model} is not in the plan of this key: GET /v1/models lists what it can call`;
}

function outOfBalance(
  payer: Held,
  call: OpenCall,
  purse: Held | undefined,
): string {
  const of = purse === undefined
    ? "the balance"
    : `the balance for ${call.model}`;
  const held = payer.reservedMicroUsd === 0
    ? ""
    : `, of which ${
      usdText(payer.reservedMicroUsd)
    } is held for requests under way,`;
  return `${of} of ${
    usdText(payer.balanceMicroUsd)
  }${held} does not cover this request, which may cost up to ${
    usdText(call.reservedMicroUsd)
  } (${call.inputTokens} tokens in, at most ${call.maxOutputTokens} out): top up, or lower the most tokens that it may generate`;
}
