/**
 * Translates undici's errors.
 */
import { ApiError } from "../../../translate/model/error.ts";
import { certificateFault } from "./certificate_fault.ts";
import { TIMEOUT_TEXTS } from "./phase_timer.ts";

/** The client's error for an undici error. It does not reveal the upstream's address. */
export function callError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const code = typeof error === "object" && error !== null && "code" in error
    ? String(error.code)
    : "";
  switch (code) {
    case "ETIMEDOUT":
      return new ApiError("timeout", TIMEOUT_TEXTS.connect);
    case "ECONNREFUSED":
    case "ENOTFOUND":
    case "EAI_AGAIN":
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return new ApiError("upstream", "could not reach the upstream");
  }
  const note = certificateFault(error);
  return note === undefined
    ? new ApiError("upstream", "the connection to the upstream broke")
    : new ApiError("upstream", "could not reach the upstream", { note });
}
