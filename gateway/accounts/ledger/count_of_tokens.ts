/**
 * A count of tokens as the ledger has it while it runs: a reservation of next to nothing, which is
 * undone at its end, except that the limits of a minute go on counting the request.
 */
import type { ReservedCall } from "../records.ts";

/** No call has such an id. */
const PREFIX = "count_";

/** What a count needs of a balance: a call that costs anything needs as much. */
const LEAST_MICRO_USD = 1;

/** A call of no tokens: admission treats it as any other. */
export function countReservation(
  { requestId, card, ...call }:
    & Pick<ReservedCall, "requestId" | "accountId" | "keyId" | "model" | "atMs">
    & { readonly card: NonNullable<ReservedCall["card"]> },
): ReservedCall {
  return {
    ...call,
    requestId: PREFIX + requestId,
    inputTokens: 0,
    maxOutputTokens: 0,
    price: card,
    card,
    reservedMicroUsd: card.isFree === true ? 0 : LEAST_MICRO_USD,
    reservedTokens: 0,
  };
}

export function isCount(
  { requestId }: Pick<ReservedCall, "requestId">,
): boolean {
  return requestId.startsWith(PREFIX);
}

/** The event that ends a count. */
export function endOfCount(
  call: ReservedCall,
  atMs: number,
): {
  readonly type: "void";
  readonly call: ReservedCall;
  readonly atMs: number;
  readonly wasMade: true;
} {
  return { type: "void", call, atMs, wasMade: true };
}
