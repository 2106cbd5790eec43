/**
 * Events that change the ledger, and their results.
 */
import type { Limits } from "../accounts.ts";
import type { Refusal } from "./admission.ts";
import type { Charge, ReservedCall } from "../records.ts";

/** Money put into an account. */
export interface TopUp {
  /** Unique id of the ledger entry. */
  readonly id: string;
  readonly accountId: string;
  /** Model whose own balance it goes to; empty: the account's balance. */
  readonly balanceModel: string;
  /** Negative amounts are taken out. */
  readonly microUsd: number;
  /** The operator's note. */
  readonly note?: string;
  /** Time of the top-up, Unix milliseconds. */
  readonly atMs: number;
}

export type LedgerEvent =
  | {
    readonly type: "reserve";
    readonly call: ReservedCall;
    readonly leaseId: string;
  }
  | {
    readonly type: "settle";
    readonly call: ReservedCall;
    readonly charge: Charge;
    readonly atMs: number;
  }
  /** Undoes a reservation that was not reported to any client, or was for a count of tokens. */
  | {
    readonly type: "void";
    readonly call: ReservedCall;
    readonly atMs: number;
    /** The request stays counted in the limits of a minute; absent: it was never made. */
    readonly wasMade?: true;
  }
  | ({ readonly type: "top_up" } & TopUp);

/** The result of an event. `duplicate`: the event had been applied before. */
export type EventResult =
  | { readonly type: "granted"; readonly limits: Limits }
  | { readonly type: "refused"; readonly refusal: Refusal }
  | { readonly type: "entered" }
  /** The call had been charged as lost; the estimate is corrected. */
  | { readonly type: "corrected" }
  /** `isCorrected`: the call had been charged as lost, and the estimate is corrected already. */
  | { readonly type: "duplicate"; readonly isCorrected?: true }
  | { readonly type: "no_account" };

export function accountOf(event: LedgerEvent): string {
  return event.type === "top_up" ? event.accountId : event.call.accountId;
}
