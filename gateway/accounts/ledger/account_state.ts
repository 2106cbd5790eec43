/**
 * An account's balances and limits, and how calls and top-ups change them. Pure: each
 * function returns the next state. `admission.ts` decides whether a call may be made;
 * `transaction.ts` stores the state.
 *
 * @module
 */
import type { Limits } from "../accounts.ts";
import { type Bucket, consume, leak, limitState } from "./bucket.ts";
import type { AccountRow, Charge, Plan, ReservedCall } from "../records.ts";

/** A day in milliseconds. Days are UTC. */
export const DAY_MS = 86_400_000;

/** The state of an account on which admission is decided. */
export interface AccountState {
  readonly account: AccountRow;
  /** The account's plan. */
  readonly plan: Plan;
  /** Balances of single models, by model. */
  readonly modelBalances: ReadonlyMap<string, Balance>;
  /** Bucket of the requests-per-minute limit. */
  readonly requests: Bucket;
  /** Bucket of the tokens-per-minute limit. */
  readonly tokens: Bucket;
  /** The day to which `daySpentMicroUsd` applies, in days since 1970 (UTC). */
  readonly day: number;
  /** Spent on `day`, in micro-dollars. */
  readonly daySpentMicroUsd: number;
}

/** A balance, and the part of it that is reserved. */
export interface Balance {
  /** Balance in micro-dollars, including the reserved part. */
  readonly balanceMicroUsd: number;
  /** Part reserved for active calls. */
  readonly reservedMicroUsd: number;
}

/**
 * The state after a call is charged. `wasReserved`: whether its reservation still existed and is
 * released.
 */
export function applySettlement(
  before: AccountState,
  call: ReservedCall,
  balanceModel: string,
  charge: Charge,
  wasReserved: boolean,
  nowMs: number,
): AccountState {
  const state = wasReserved
    ? release(before, call, balanceModel, nowMs)
    : advanceTo(before, nowMs);
  const { tokens } = charge;
  const total = tokens.input + tokens.cacheRead + tokens.cacheWrite +
    tokens.output;
  const charged = applyTopUp(state, balanceModel, -charge.costMicroUsd);
  return {
    ...charged,
    // Replaces the estimate consumed at admission with the actual token count.
    tokens: charged.plan.tokensPerMinute === undefined
      ? charged.tokens
      : consume(charged.tokens, total - (wasReserved ? call.inputTokens : 0)),
    daySpentMicroUsd: charged.daySpentMicroUsd + charge.costMicroUsd,
  };
}

/** The state after a reservation is undone as if it had never been made. */
export function applyVoid(
  before: AccountState,
  call: ReservedCall,
  balanceModel: string,
  nowMs: number,
): AccountState {
  const state = release(before, call, balanceModel, nowMs);
  return {
    ...state,
    requests: consume(state.requests, -1),
    tokens: consume(state.tokens, -call.inputTokens),
  };
}

/** The state with an amount added to the account's balance, or to a model's own. */
export function applyTopUp(
  state: AccountState,
  balanceModel: string,
  microUsd: number,
): AccountState {
  return changeBalance(state, balanceModel, microUsd, 0, 0);
}

function release(
  state: AccountState,
  call: ReservedCall,
  balanceModel: string,
  nowMs: number,
): AccountState {
  return addReserved(
    advanceTo(state, nowMs),
    balanceModel,
    -call.reservedMicroUsd,
    -1,
  );
}

/**
 * The state with more reserved (less, if negative) and more active requests (fewer, if
 * negative).
 */
export function addReserved(
  state: AccountState,
  balanceModel: string,
  microUsd: number,
  requests: number,
): AccountState {
  return changeBalance(state, balanceModel, 0, microUsd, requests);
}

function changeBalance(
  state: AccountState,
  balanceModel: string,
  balance: number,
  reserved: number,
  requests: number,
): AccountState {
  const change = <H extends Balance>(before: H): H => ({
    ...before,
    balanceMicroUsd: before.balanceMicroUsd + balance,
    reservedMicroUsd: before.reservedMicroUsd + reserved,
  });
  const openRequests = state.account.openRequests + requests;
  if (balanceModel === "") {
    return {
      ...state,
      account: { ...change(state.account), openRequests },
    };
  }
  const modelBalances = new Map(state.modelBalances);
  modelBalances.set(
    balanceModel,
    change(
      modelBalances.get(balanceModel) ??
        { balanceMicroUsd: 0, reservedMicroUsd: 0 },
    ),
  );
  return {
    ...state,
    account: { ...state.account, openRequests },
    modelBalances,
  };
}

/** The state at a later time: the buckets leak, and a new day has nothing spent. */
export function advanceTo(state: AccountState, nowMs: number): AccountState {
  const { plan } = state;
  const day = Math.max(state.day, Math.floor(nowMs / DAY_MS));
  return {
    ...state,
    requests: leak(state.requests, plan.requestsPerMinute, nowMs),
    tokens: leak(state.tokens, plan.tokensPerMinute, nowMs),
    day,
    daySpentMicroUsd: day === state.day ? state.daySpentMicroUsd : 0,
  };
}

/** The per-minute limits and their state. */
export function limitsOf(state: AccountState): Limits {
  const { requestsPerMinute, tokensPerMinute } = state.plan;
  return {
    ...(requestsPerMinute === undefined
      ? {}
      : { requests: limitState(state.requests, requestsPerMinute) }),
    ...(tokensPerMinute === undefined
      ? {}
      : { tokens: limitState(state.tokens, tokensPerMinute) }),
  };
}

/** Sum of the reserved amounts of the account and all model balances. */
export function totalReservedMicroUsd(state: AccountState): number {
  let sum = state.account.reservedMicroUsd;
  for (const balance of state.modelBalances.values()) {
    sum += balance.reservedMicroUsd;
  }
  return sum;
}
