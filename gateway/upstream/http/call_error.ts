/**
 * Translates undici's errors.
 */
import { ApiError } from "../../../translate/model/error.ts";
import { TIMEOUT_TEXTS } from "./phase_timer.ts";
import { ProxyError } from "./proxy.ts";
import { unreachableNote } from "./unreachable_note.ts";

/** The client's error for an undici error. It does not reveal the upstream's address. */
export function callError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const code = typeof error === "object" && error !== null && "code" in error
    ? String(error.code)
    : "";
  if (code === "ETIMEDOUT") {
    return new ApiError("timeout", TIMEOUT_TEXTS.connect);
  }
  const note = error instanceof ProxyError
    ? error.message
    : unreachableNote(error, "the upstream");
  return note === undefined
    ? new ApiError("upstream", "the connection to the upstream broke")
    : new ApiError("upstream", "could not reach the upstream", { note });
}
