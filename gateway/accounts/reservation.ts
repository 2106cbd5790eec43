/**
 * One call's reservation, from its place in the queue to its settlement.
 */
import { compact } from "../../translate/bytes/compact.ts";
import { type Limits, RefusedCall, type Reservation } from "./accounts.ts";
import { chargeFor } from "./charges/charge.ts";
import type { EventResult, LedgerEvent } from "./ledger/events.ts";
import type { Foresight } from "./ledger/foresight.ts";
import type { WriteBatcher } from "./ledger/write_batcher.ts";
import type { Charge, ReservedCall } from "./records.ts";

interface ReservationOptions {
  readonly batcher: Pick<WriteBatcher, "reserve" | "enqueue">;
  readonly foresight: Pick<Foresight, "grants" | "begin" | "end">;
  /** Current Unix time in milliseconds. */
  readonly now: () => number;
  readonly call: ReservedCall;
  /** The lease under which it is reserved. */
  readonly leaseId: string;
  /** Whether admission has no reason to refuse the call. */
  readonly isUnconditional: boolean;
}

/**
 * Reserves a call. Waits for the decision, unless it is foreseen.
 *
 * @throws {ApiError} as {@linkcode Accounts.reserve}
 */
export async function openReservation(
  options: ReservationOptions,
): Promise<Reservation> {
  const { batcher, foresight, now, call, leaseId, isUnconditional } = options;
  const goesAhead = isUnconditional || foresight.grants(call);
  foresight.begin(call);
  const queued = batcher.reserve({ type: "reserve", call, leaseId });
  let isGranted: boolean | undefined;
  let settlement: LedgerEvent & { readonly type: "settle" } | undefined;
  const granted = queued.result.then(({ result, durable }) => {
    const limits = grantedLimits(result, call);
    isGranted = true;
    if (settlement !== undefined) batcher.enqueue(settlement);
    return { limits, durable };
  });
  const decided = granted.then(() => foresight.end(call), (error) => {
    isGranted = false;
    foresight.end(call);
    throw error;
  });
  if (goesAhead) {
    // Avoids an unhandled rejection if the caller never awaits it.
    decided.catch(() => {});
  } else {
    queued.hurry();
    await decided;
  }
  return {
    decided,
    async durable() {
      queued.hurry();
      const { limits, durable } = await granted;
      await durable;
      return limits;
    },
    inputTokens: call.inputTokens,
    maxOutputTokens: call.maxOutputTokens,
    settle(outcome): Charge {
      if (settlement === undefined) {
        const charge = {
          ...chargeFor(call, outcome),
          ...compact({ vendor: outcome.vendor }),
        };
        settlement = { type: "settle", call, charge, atMs: now() };
        // A settlement follows its decision: a refused call has no entry.
        if (isGranted === true) batcher.enqueue(settlement);
      }
      return settlement.charge;
    },
  };
}

/** The limits of a granted call; throws the refusal of another. */
export function grantedLimits(
  result: EventResult,
  call: Pick<ReservedCall, "requestId" | "accountId">,
): Limits {
  switch (result.type) {
    case "granted":
      return result.limits;
    case "refused": {
      const {
        kind,
        message,
        limits,
        code,
        retryable,
        retryAfterSeconds,
        fill,
      } = result.refusal;
      throw new RefusedCall(kind, message, {
        code,
        retryable,
        ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
        ...(fill === undefined ? {} : { fill }),
      }, limits);
    }
    case "entered":
    case "corrected":
    case "duplicate":
      throw new Error(`the request id was used before: ${call.requestId}`);
    case "no_account":
      throw new Error(`there is no account ${call.accountId}`);
  }
}
