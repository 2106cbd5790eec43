/**
 * What is known of a request while it is handled, so that a refusal at any step can be recorded
 * with its key and model.
 */
import type { Charge } from "../accounts/records.ts";

/** Filled in as the request is read; a field is undefined until it is known. */
export interface CallFacts {
  /** Whether its endpoint is paid for. */
  isPaid: boolean;
  /** The presented key, if the store knows it, and its account. */
  holder: { readonly accountId: string; readonly keyId: string } | undefined;
  /** As the client sent it. */
  model: string | undefined;
  stream: boolean | undefined;
  /** The client's own id of its end user. */
  user: string | undefined;
  /** What the call costs; undefined if it was not reserved. */
  charge: Charge | undefined;
  /** What the upstream wrote of each attempt that failed, in the order of the attempts. */
  words: readonly (string | undefined)[];
  /** Whether the error with which the call ended is in the log. */
  isLogged: boolean;
}

/** The facts of a request that has just arrived: none. */
export function noFacts(): CallFacts {
  return {
    isPaid: false,
    holder: undefined,
    model: undefined,
    stream: undefined,
    user: undefined,
    charge: undefined,
    words: [],
    isLogged: false,
  };
}
