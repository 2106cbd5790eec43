/**
 * Why no connection was made, for operators.
 */
import { certificateFault } from "./certificate_fault.ts";

/** The address is one that no call is sent to. */
export const LINK_LOCAL_NOTE = "the host has only link-local addresses";
/** The process lacks the permission. */
export const NOT_PERMITTED_NOTE = "the process may not connect to the host";

/** By the error's code; WHO is whose host it is. */
const NOTES: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "WHO's host refused the connection"],
  ["ENOTFOUND", "WHO's host name has no address"],
  ["EAI_AGAIN", "the name server did not resolve WHO's host name"],
  ["EHOSTUNREACH", "WHO's host is unreachable"],
  ["ENETUNREACH", "WHO's network is unreachable"],
  ["ELINKLOCAL", LINK_LOCAL_NOTE],
]);

/** The reason; undefined for an error that is none of a connection attempt. */
export function unreachableNote(
  error: unknown,
  who: string,
): string | undefined {
  if (error instanceof Deno.errors.NotCapable) return NOT_PERMITTED_NOTE;
  const code = typeof error === "object" && error !== null && "code" in error
    ? String(error.code)
    : "";
  return NOTES.get(code)?.replace("WHO", who) ?? certificateFault(error, who);
}
