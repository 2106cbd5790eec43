/**
 * Names for requests and replies: random text, unique without asking anyone.
 *
 * @module
 */
import { randomText } from "./accounts/key.ts";

/** A request's id, told in headers, error bodies and logs: `req_` and 24 letters and digits. */
export function newRequestId(): string {
  return `req_${randomText(24)}`;
}

/** The seed of a reply's own ids, see `EncodeContext.idSeed`. */
export function newIdSeed(): string {
  return randomText(24);
}
