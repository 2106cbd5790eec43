/**
 * Random ids of requests and replies, unique without coordination.
 */
import { randomText } from "../accounts/key.ts";
import { newId } from "../accounts/repositories/repository.ts";

/**
 * A request's id in headers, error bodies and logs: `req_` and 24 letters and digits. It begins
 * with the time, so that the ledger's index on it grows at one end.
 */
export function newRequestId(nowMs: number): string {
  return newId("req", nowMs, 15);
}

/** The seed of a reply's own ids; see `EncodeContext.idSeed`. */
export function newIdSeed(): string {
  return randomText(24);
}
