/**
 * Derives an error's HTTP status from its words, for errors whose own status is missing or wrong:
 * errors inside a reply with status 200, and refusals of the gateway's key with status 400. The
 * formats of one vendor family share these rules.
 */
import type { JsonObject } from "../bytes/json.ts";
import { ApiError } from "../model/error.ts";
import { type ErrorBody, upstreamError } from "./error_body.ts";

/** Codes of a request that a policy blocked. */
const POLICY: ReadonlySet<string> = new Set([
  "bio_policy",
  "cyber_policy",
  "misalignment_policy_violation",
]);

/** HTTP statuses for error words: the `code`, `type` or `status` of several vendors. */
const WORD_STATUS: ReadonlyMap<string, number> = new Map([
  ["invalid_request_error", 400],
  ["invalid_request", 400],
  ["invalid_prompt", 400],
  ["bad_request_error", 400],
  ["badrequesterror", 400],
  ["invalid_argument", 400],
  ["exceed_context_size_error", 400],
  ["context_length_exceeded", 400],
  ["invalid_encrypted_content", 400],
  ["unsupported_parameter", 400],
  ["invalid_image", 400],
  ["invalid_image_format", 400],
  ["invalid_image_url", 400],
  ["image_too_large", 400],
  ["tool_use_failed", 400],
  ["json_validate_failed", 400],
  ["content_filter", 400],
  ["content_policy_violation", 400],
  ["responsibleaipolicyviolation", 400],
  ["data_residency_mismatch", 400],
  ["invalid_base64_image", 400],
  ["image_too_small", 400],
  ["image_parse_error", 400],
  ["image_content_policy_violation", 400],
  ["invalid_image_mode", 400],
  ["image_file_too_large", 400],
  ["unsupported_image_media_type", 400],
  ["empty_image_file", 400],
  ["failed_to_download_image", 400],
  ["image_file_not_found", 400],
  ...[...POLICY].map((word) => [word, 400] as const),
  ["authentication_error", 401],
  ["invalid_authentication_error", 401],
  ["invalid_api_key", 401],
  ["unauthenticated", 401],
  ["billing_error", 402],
  ["permission_error", 403],
  ["permission_denied", 403],
  ["not_found_error", 404],
  ["model_not_found", 404],
  ["request_too_large", 413],
  ["rate_limit_error", 429],
  ["rate_limit_exceeded", 429],
  ["ratelimitreached", 429],
  ["too_many_requests", 429],
  ["requests", 429],
  ["tokens", 429],
  ["resource_exhausted", 429],
  ["server_error", 500],
  ["internal_error", 500],
  ["internal_server_error", 500],
  ["internalservererror", 500],
  ["api_error", 500],
  ["service_unavailable", 503],
  ["service_unavailable_error", 503],
  ["unavailable", 503],
  ["timeout", 504],
  ["timeout_error", 504],
  ["vector_store_timeout", 504],
  ["overloaded_error", 529],
  ["engine_overloaded", 529],
  ["server_is_overloaded", 529],
  ["slow_down", 529],
]);

/** An error without a known word is the upstream's fault. */
export const UNKNOWN_STATUS = 502;
const BAD_REQUEST = 400;
const FORBIDDEN = 403;

export function replyError(
  status: number,
  headers: Headers,
  body: ErrorBody,
): ApiError {
  const isPolicy = status === FORBIDDEN && POLICY.has(body.code ?? "");
  const meant = isPolicy ? BAD_REQUEST : status;
  const error = upstreamError(meant, headers, body, "openai");
  return isPolicy
    ? new ApiError(error.kind, error.message, {
      ...error.details,
      upstreamStatus: status,
    })
    : error;
}

/** The error for an error inside a reply whose status was 200. */
export function errorOfWords(body: ErrorBody): ApiError {
  const error = upstreamError(
    statusOf(body.detail),
    new Headers(),
    body,
    "openai",
  );
  // This status was derived from the error's words; the upstream did not send it.
  const { upstreamStatus: _, ...details } = error.details;
  // "Unavailable" in the middle of a reply counts as overload, because no status shows which
  // service is meant.
  const kind = error.kind === "unavailable" ? "overloaded" : error.kind;
  return new ApiError(kind, error.message, details);
}

/** A number takes precedence, since vendors that send one mean it as the HTTP status. */
function statusOf(detail: JsonObject): number {
  for (const key of ["status_code", "code", "status"]) {
    const value = detail[key];
    const status = typeof value === "string" ? Number(value) : value;
    if (typeof status !== "number") continue;
    if (status >= 400 && status < 600) return status;
  }
  for (const key of ["code", "type", "status"]) {
    const word = detail[key];
    const status = typeof word === "string"
      ? WORD_STATUS.get(word.toLowerCase())
      : undefined;
    if (status !== undefined) return status;
  }
  return UNKNOWN_STATUS;
}
