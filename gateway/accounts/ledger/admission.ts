/**
 * Decides whether a call may be made. Pure: takes an account's state and returns the state
 * after the call, or the refusal. A refusal changes nothing, so refused calls consume no
 * limit.
 *
 * Checks run in the order in which the client can act on them: account, plan, balance, then
 * the limits that pass with time.
 *
 * @module
 */
import type { LimitFill } from "../../../translate/model/error.ts";
import type { Limits } from "../accounts.ts";
import { consume, usedUnits, waitMs } from "./bucket.ts";
import { usdText } from "./money.ts";
import type { ReservedCall } from "../records.ts";
import {
  type AccountState,
  addReserved,
  advanceTo,
  type Balance,
  DAY_MS,
  limitsOf,
  totalReservedMicroUsd,
} from "./account_state.ts";

/** Why a call is refused. */
export interface Refusal {
  /** `permission`: until an operator acts. `rate_limit`: until the limit has room again. */
  readonly kind: "permission" | "rate_limit";
  /** The reason, for programs. */
  readonly code:
    | "account_disabled"
    | "model_not_in_plan"
    | "insufficient_balance"
    | "requests_per_minute"
    | "tokens_per_minute"
    | "concurrent_requests"
    | "spending_per_day";
  /** The reason, for the client. */
  readonly message: string;
  /** 1 to 60 whole seconds; limits only. */
  readonly retryAfterSeconds?: number;
  /** How full the limit or the balance was. */
  readonly fill?: LimitFill;
  /** Whether a retry may succeed. */
  readonly retryable: boolean;
  /** Limits at the time of the refusal; a refusal consumes nothing. */
  readonly limits: Limits;
}

/** The decision, and the account's state after it. */
export type Admission =
  | {
    readonly granted: true;
    readonly state: AccountState;
    /** Model whose own balance pays; empty: the account's balance. */
    readonly balanceModel: string;
    readonly limits: Limits;
  }
  | { readonly granted: false; readonly refusal: Refusal };

const MAX_RETRY_SECONDS = 60;
/** Retry interval while a limit waits for other calls to end: their end is not known. */
const BUSY_RETRY_SECONDS = 1;

/** Decides on a call at `nowMs`. */
export function admit(
  before: AccountState,
  call: ReservedCall,
  nowMs: number,
): Admission {
  const state = advanceTo(before, nowMs);
  const { account, plan } = state;
  const limits = limitsOf(state);
  const deny = (
    code: Refusal["code"],
    message: string,
    fill?: LimitFill,
  ): Admission => ({
    granted: false,
    refusal: {
      kind: "permission",
      code,
      message,
      retryable: false,
      limits,
      ...(fill === undefined ? {} : { fill }),
    },
  });
  if (account.status === "disabled") {
    return deny("account_disabled", "the account is disabled");
  }
  if (plan.models !== undefined && !plan.models.includes(call.model)) {
    return deny("model_not_in_plan", notInPlan(call.model));
  }
  const modelBalance = state.modelBalances.get(call.model);
  const payer = modelBalance ?? account;
  if (
    (modelBalance !== undefined || account.billing === "prepaid") &&
    payer.balanceMicroUsd - payer.reservedMicroUsd < call.reservedMicroUsd
  ) {
    return deny(
      "insufficient_balance",
      outOfBalance(payer, call, modelBalance),
      {
        limit: payer.balanceMicroUsd,
        used: payer.reservedMicroUsd,
        needed: call.reservedMicroUsd,
      },
    );
  }
  const limited = exceededLimit(state, call, nowMs);
  if (limited !== undefined) {
    return {
      granted: false,
      refusal: { kind: "rate_limit", ...limited, limits },
    };
  }
  const granted = addReserved(
    {
      ...state,
      requests: plan.requestsPerMinute === undefined
        ? state.requests
        : consume(state.requests, 1),
      tokens: plan.tokensPerMinute === undefined
        ? state.tokens
        : consume(state.tokens, call.inputTokens),
    },
    modelBalance === undefined ? "" : call.model,
    call.reservedMicroUsd,
    1,
  );
  return {
    granted: true,
    state: granted,
    balanceModel: modelBalance === undefined ? "" : call.model,
    limits: limitsOf(granted),
  };
}

type ExceededLimit = Pick<
  Refusal,
  "code" | "message" | "retryAfterSeconds" | "retryable" | "fill"
>;

function exceededLimit(
  state: AccountState,
  call: ReservedCall,
  nowMs: number,
): ExceededLimit | undefined {
  const { account, plan } = state;
  const wait = (
    code: ExceededLimit["code"],
    what: string,
    ms: number,
    fill: LimitFill,
  ): ExceededLimit => ({
    code,
    message: `the limit of ${what} is reached`,
    retryAfterSeconds: seconds(ms),
    retryable: true,
    fill,
  });
  const perMinute = plan.requestsPerMinute;
  if (perMinute !== undefined) {
    const ms = waitMs(state.requests, perMinute, 1);
    if (ms > 0) {
      return wait(
        "requests_per_minute",
        `${perMinute} requests per minute`,
        ms,
        { limit: perMinute, used: usedUnits(state.requests), needed: 1 },
      );
    }
  }
  const tokens = plan.tokensPerMinute;
  if (tokens !== undefined) {
    const ms = waitMs(state.tokens, tokens, call.inputTokens);
    if (ms > 0) {
      return wait("tokens_per_minute", `${tokens} tokens per minute`, ms, {
        limit: tokens,
        used: usedUnits(state.tokens),
        needed: call.inputTokens,
      });
    }
  }
  const maximum = plan.concurrentRequests;
  if (maximum !== undefined && account.openRequests >= maximum) {
    return wait(
      "concurrent_requests",
      `${maximum} concurrent requests`,
      BUSY_RETRY_SECONDS * 1000,
      { limit: maximum, used: account.openRequests, needed: 1 },
    );
  }
  const perDay = plan.spendPerDayMicroUsd;
  if (perDay === undefined) return undefined;
  const spent = state.daySpentMicroUsd;
  const reserved = totalReservedMicroUsd(state);
  if (spent + reserved + call.reservedMicroUsd <= perDay) return undefined;
  const untilTomorrowMs = (state.day + 1) * DAY_MS - nowMs;
  // Amounts reserved for active calls may be released at any moment; what is spent stays
  // spent until midnight.
  const mayPassSoon = spent + call.reservedMicroUsd <= perDay;
  return {
    code: "spending_per_day",
    message: `the limit of ${usdText(perDay)} per day (UTC) is reached: ${
      usdText(spent)
    } is spent, ${
      usdText(reserved)
    } is reserved for active requests, and this request may cost up to ${
      usdText(call.reservedMicroUsd)
    }`,
    retryAfterSeconds: mayPassSoon
      ? BUSY_RETRY_SECONDS
      : seconds(untilTomorrowMs),
    retryable: mayPassSoon || untilTomorrowMs <= MAX_RETRY_SECONDS * 1000,
    fill: {
      limit: perDay,
      used: spent + reserved,
      needed: call.reservedMicroUsd,
    },
  };
}

function seconds(ms: number): number {
  return Math.min(MAX_RETRY_SECONDS, Math.max(1, Math.ceil(ms / 1000)));
}

/** Error text for a model outside the plan or the key's own list. */
export function notInPlan(model: string): string {
  return `the model ${model} is not in the plan of this key: GET /v1/models lists what it can call`;
}

function outOfBalance(
  payer: Balance,
  call: ReservedCall,
  modelBalance: Balance | undefined,
): string {
  const name = modelBalance === undefined
    ? "the balance"
    : `the balance for ${call.model}`;
  const held = payer.reservedMicroUsd === 0
    ? ""
    : ` (${
      usdText(payer.reservedMicroUsd)
    } of it reserved for active requests)`;
  return `${name} of ${
    usdText(payer.balanceMicroUsd)
  }${held} does not cover this request, which may cost up to ${
    usdText(call.reservedMicroUsd)
  } (${call.inputTokens} tokens in, at most ${call.maxOutputTokens} out): top up the account, or lower max_tokens`;
}
