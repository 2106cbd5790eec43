/**
 * Translates undici's errors.
 */
import { ApiError } from "../../../translate/model/error.ts";
import { certificateFault } from "./certificate_fault.ts";
import { TIMEOUT_TEXTS } from "./phase_timer.ts";

/** The address is one that no call is sent to. */
export const LINK_LOCAL_NOTE = "the host has only link-local addresses";
/** The process lacks the permission. */
export const NOT_PERMITTED_NOTE = "the process may not connect to the host";

/** Why no connection was made, for the log, by the error's code. */
const NOTES: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "the upstream's host refused the connection"],
  ["ENOTFOUND", "the upstream's host name has no address"],
  ["EAI_AGAIN", "the name server did not resolve the upstream's host name"],
  ["EHOSTUNREACH", "the upstream's host is unreachable"],
  ["ENETUNREACH", "the upstream's network is unreachable"],
  ["ELINKLOCAL", LINK_LOCAL_NOTE],
]);

/** The client's error for an undici error. It does not reveal the upstream's address. */
export function callError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const code = typeof error === "object" && error !== null && "code" in error
    ? String(error.code)
    : "";
  if (code === "ETIMEDOUT") {
    return new ApiError("timeout", TIMEOUT_TEXTS.connect);
  }
  const note = error instanceof Deno.errors.NotCapable
    ? NOT_PERMITTED_NOTE
    : NOTES.get(code) ?? certificateFault(error);
  return note === undefined
    ? new ApiError("upstream", "the connection to the upstream broke")
    : new ApiError("upstream", "could not reach the upstream", { note });
}
