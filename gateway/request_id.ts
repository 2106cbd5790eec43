/**
 * Names for requests and replies: random text, unique without asking anyone.
 *
 * @module
 */
import { randomText } from "./accounts/key.ts";
import { newId } from "./accounts/register.ts";

/**
 * A request's id, told in headers, error bodies and logs: `req_` and 24 letters and digits. They begin with the time, so that the
 * ledger, which finds entries by it, always grows at the same end.
 */
export function newRequestId(nowMs: number): string {
  return newId("req", nowMs, 15);
}

/** The seed of a reply's own ids, see `EncodeContext.idSeed`. */
export function newIdSeed(): string {
  return randomText(24);
}
