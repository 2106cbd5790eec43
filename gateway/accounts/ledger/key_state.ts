/**
 * A key's limits and what is used of them, and how calls change it. A key without limits
 * has no such state. Pure, like `account_state.ts`.
 */
import type { Charge, LimitSettings, ReservedCall } from "../records.ts";
import type { LateAmount } from "./correction.ts";
import {
  type LimitUse,
  useAt,
  withCharge,
  withLateAmount,
  withoutCall,
  withoutTrace,
} from "../limits/limit_use.ts";

/** The state of a key on which admission is decided. */
export interface KeyState {
  /** Id of the key. */
  readonly id: string;
  /** The key's own limits, in addition to the plan's. */
  readonly limits: LimitSettings;
  /** What is used of them. */
  readonly use: LimitUse;
}

/** The state at a later time, see {@linkcode useAt}. */
export function keyAt(state: KeyState, nowMs: number): KeyState {
  return { ...state, use: useAt(state.use, state.limits, nowMs) };
}

/** The state after a call is charged, as {@linkcode applySettlement}. */
export function settleOnKey(
  before: KeyState,
  call: ReservedCall,
  charge: Charge,
  wasReserved: boolean,
  nowMs: number,
): KeyState {
  const state = wasReserved
    ? release(before, call, nowMs)
    : keyAt(before, nowMs);
  return {
    ...state,
    use: withCharge(state.use, state.limits, call, charge, wasReserved),
  };
}

/** The state after an estimate is corrected, as {@linkcode applyCorrection}. */
export function correctOnKey(
  before: KeyState,
  late: LateAmount,
  nowMs: number,
): KeyState {
  const state = keyAt(before, nowMs);
  return { ...state, use: withLateAmount(state.use, state.limits, late) };
}

/** The state after a reservation is undone as if it had never been made. */
export function voidOnKey(
  before: KeyState,
  call: ReservedCall,
  nowMs: number,
  wasMade?: true,
): KeyState {
  const state = release(before, call, nowMs);
  return wasMade === true
    ? state
    : { ...state, use: withoutTrace(state.use, call) };
}

/** A process of version 0.9 does not count the calls of keys. */
function release(
  before: KeyState,
  call: ReservedCall,
  nowMs: number,
): KeyState {
  const state = keyAt(before, nowMs);
  return call.reservedTokens === undefined
    ? state
    : { ...state, use: withoutCall(state.use, call) };
}
