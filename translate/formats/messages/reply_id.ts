/**
 * The id of a reply in the messages format.
 *
 * @module
 */
import type { EncodeContext } from "../../dialect.ts";

/** The reply's id: the upstream's under this dialect's prefix, or one made from the seed. */
export function replyId(
  upstream: string | undefined,
  context: EncodeContext,
): string {
  const bare = upstream?.replace(/^(?:msg_|chatcmpl-)/, "") ?? "";
  return `msg_${bare === "" ? context.idSeed : bare}`;
}
