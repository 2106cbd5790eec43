/**
 * Reads the body of a form.
 *
 * @module
 */
import { readBytes } from "../../gateway/http/request_body.ts";
import { ApiError } from "../../translate/model/error.ts";
import type { RouteContext } from "../route.ts";

const MAX_BYTES = 1024 * 1024;

/**
 * The fields of a form.
 *
 * @throws {ApiError} `unsupported_media`, `too_large`, `request_timeout`, `invalid_request`
 */
export async function readForm(
  { request, gateway }: RouteContext,
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
    { maxBytes: MAX_BYTES, timeoutMs: gateway.config.bodyTimeoutMs },
    gateway.timers,
  );
  return new URLSearchParams(new TextDecoder().decode(bytes));
}
