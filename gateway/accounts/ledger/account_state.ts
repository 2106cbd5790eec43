/**
 * An account's balances and limits, and how calls and top-ups change them. Pure: each
 * function returns the next state. `admission.ts` decides whether a call may be made;
 * `transaction.ts` stores the state.
 */
import type { AccountRow, Charge, Plan, ReservedCall } from "../records.ts";
import type { LateAmount } from "./correction.ts";
import {
  type LimitUse,
  useAt,
  withCharge,
  withLateAmount,
  withoutCall,
  withoutTrace,
} from "../limits/limit_use.ts";

/** The state of an account on which admission is decided. */
export interface AccountState {
  /** The account's row; the number of its active calls is in `use`. */
  readonly account: Omit<AccountRow, "openRequests">;
  readonly plan: Plan;
  /** Balances of single models, by model. */
  readonly modelBalances: ReadonlyMap<string, Balance>;
  /** What is used of the plan's limits. */
  readonly use: LimitUse;
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
  const charged = applyTopUp(state, balanceModel, -charge.costMicroUsd);
  return {
    ...charged,
    use: withCharge(charged.use, charged.plan, call, charge, wasReserved),
  };
}

/** The state after the estimate that a call was charged by is corrected. */
export function applyCorrection(
  before: AccountState,
  balanceModel: string,
  late: LateAmount,
  nowMs: number,
): AccountState {
  const state = advanceTo(before, nowMs);
  return {
    ...applyTopUp(state, balanceModel, -late.microUsd),
    use: withLateAmount(state.use, state.plan, late),
  };
}

/** The state after a reservation is undone as if it had never been made. */
export function applyVoid(
  before: AccountState,
  call: ReservedCall,
  balanceModel: string,
  nowMs: number,
  wasMade?: true,
): AccountState {
  const state = release(before, call, balanceModel, nowMs);
  return wasMade === true
    ? state
    : { ...state, use: withoutTrace(state.use, call) };
}

/** The state with an amount added to the account's balance, or to a model's own. */
export function applyTopUp(
  state: AccountState,
  balanceModel: string,
  microUsd: number,
): AccountState {
  return changeBalance(state, balanceModel, microUsd, 0);
}

function release(
  state: AccountState,
  call: ReservedCall,
  balanceModel: string,
  nowMs: number,
): AccountState {
  const later = advanceTo(state, nowMs);
  const released = addReserved(later, balanceModel, -call.reservedMicroUsd);
  return { ...released, use: withoutCall(later.use, call) };
}

/** The state with more of a balance reserved (less, if negative). */
export function addReserved(
  state: AccountState,
  balanceModel: string,
  microUsd: number,
): AccountState {
  return changeBalance(state, balanceModel, 0, microUsd);
}

function changeBalance(
  state: AccountState,
  balanceModel: string,
  balance: number,
  reserved: number,
): AccountState {
  const change = <H extends Balance>(before: H): H => ({
    ...before,
    balanceMicroUsd: before.balanceMicroUsd + balance,
    reservedMicroUsd: before.reservedMicroUsd + reserved,
  });
  if (balanceModel === "") {
    return { ...state, account: change(state.account) };
  }
  const modelBalances = new Map(state.modelBalances);
  modelBalances.set(
    balanceModel,
    change(
      modelBalances.get(balanceModel) ??
        { balanceMicroUsd: 0, reservedMicroUsd: 0 },
    ),
  );
  return { ...state, modelBalances };
}

/** The state at a later time, see {@linkcode useAt}. */
export function advanceTo(state: AccountState, nowMs: number): AccountState {
  return { ...state, use: useAt(state.use, state.plan, nowMs) };
}
