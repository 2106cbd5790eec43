/**
 * Errors in the Converse format: a `message` alone; the host's headers have the type.
 */
import type { ApiError } from "../../model/error.ts";
import { readErrorText, upstreamError } from "../../errors/error_body.ts";

/** Decodes an upstream's error of any shape. Never throws. */
export function decodeError(
  status: number,
  headers: Headers,
  body: string,
): ApiError {
  return upstreamError(status, headers, readErrorText(body));
}
