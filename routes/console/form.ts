/**
 * Reads the body of a form.
 *
 * @module
 */
import { readBytes } from "../../gateway/http/request_body.ts";
import { ApiError } from "../../translate/model/error.ts";
import type { RouteContext } from "../route.ts";

/** Largest form of a signed-in person, in bytes. */
export const MAX_FORM_BYTES = 1024 * 1024;
/** Largest form of anybody else: many are read at once, and each holds a few short fields. */
export const MAX_OPEN_FORM_BYTES = 16 * 1024;

/**
 * The fields of a form of at most `maxBytes`.
 *
 * @throws {ApiError} `unsupported_media`, `too_large`, `request_timeout`, `invalid_request`
 */
export async function readForm(
  { request, gateway }: RouteContext,
  maxBytes: number,
): Promise<URLSearchParams> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim()
    .toLowerCase();
  if (type !== "application/x-www-form-urlencoded") {
    throw new ApiError(
      "unsupported_media",
      "content-type must be application/x-www-form-urlencoded",
      { retryable: false },
    );
  }
  const bytes = await readBytes(
    request,
    { maxBytes, timeoutMs: gateway.config.bodyTimeoutMs },
    gateway.timers,
  );
  return new URLSearchParams(new TextDecoder().decode(bytes));
}
