/**
 * Errors in this format: decodes an upstream's error reply or an error inside a reply, and
 * encodes the gateway's errors.
 *
 * @module
 */
import { overflowNumbers } from "../../model/context_overflow.ts";
import type { EncodedError } from "../../dialect.ts";
import { ApiError, type ErrorKind } from "../../model/error.ts";
import {
  readErrorObject,
  readErrorText,
  upstreamError,
} from "../../model/error_body.ts";
import type { JsonObject } from "../../bytes/json.ts";

/**
 * HTTP statuses for error words in replies whose own status was 200. The words are the `type` or
 * `code` of several vendors.
 */
const WORD_STATUS: ReadonlyMap<string, number> = new Map([
  ["invalid_request_error", 400],
  ["invalid_request", 400],
  ["bad_request_error", 400],
  ["badrequesterror", 400],
  ["invalid_argument", 400],
  ["exceed_context_size_error", 400],
  ["context_length_exceeded", 400],
  ["tool_use_failed", 400],
  ["json_validate_failed", 400],
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
  ["insufficient_quota", 429],
  ["requests", 429],
  ["tokens", 429],
  ["resource_exhausted", 429],
  ["server_error", 500],
  ["internal_error", 500],
  ["internal_server_error", 500],
  ["internalservererror", 500],
  ["api_error", 500],
  ["service_unavailable", 503],
  ["unavailable", 503],
  ["timeout", 504],
  ["timeout_error", 504],
  ["overloaded_error", 529],
  ["engine_overloaded", 529],
]);

/** An error without a known word is the upstream's fault. */
const UNKNOWN_STATUS = 502;

/** A refusal of the gateway's own key, which some vendors send with status 400. */
const OUR_KEY = /^(?:incorrect|invalid) api key/i;
const UNAUTHORIZED = 401;

/** Decodes an upstream's error reply of any shape. Never throws. */
export function decodeError(
  status: number,
  headers: Headers,
  body: string,
): ApiError {
  const text = readErrorText(body);
  const aboutOurKey = status === 400 &&
    (text.code === "invalid_api_key" || OUR_KEY.test(text.message ?? ""));
  const error = upstreamError(
    aboutOurKey ? UNAUTHORIZED : status,
    headers,
    text,
  );
  return aboutOurKey
    ? new ApiError(error.kind, error.message, {
      ...error.details,
      upstreamStatus: status,
    })
    : error;
}

/** Decodes an error inside a reply whose status was 200. */
export function inBandError(body: unknown): ApiError {
  const object = readErrorObject(body);
  const error = upstreamError(statusOf(object.detail), new Headers(), object);
  // This status was derived from the error's words; the upstream did not send it.
  const { upstreamStatus: _, ...details } = error.details;
  // "Unavailable" in the middle of a reply counts as overload, because no status shows which
  // service is meant.
  const kind = error.kind === "unavailable" ? "overloaded" : error.kind;
  return new ApiError(kind, error.message, details);
}

/**
 * HTTP statuses for MiniMax's error numbers (platform.minimax.io/docs/api-reference/errorcode.md,
 * 2026-11-21).
 */
const BASE_RESP_STATUS: ReadonlyMap<unknown, number> = new Map([
  [1001, 504],
  [1002, 429],
  [1004, 401],
  [1008, 402],
  [1026, 400],
  [1027, 400],
  [1039, 429],
  [1041, 429],
  [2013, 400],
  [2049, 401],
]);

/** Converts MiniMax's `base_resp` of a failure to the error body that other vendors send. */
export function errorFromBaseResp(baseResp: JsonObject): JsonObject {
  return {
    error: {
      message: baseResp["status_msg"],
      code: BASE_RESP_STATUS.get(baseResp["status_code"]) ?? UNKNOWN_STATUS,
    },
  };
}

/** A number takes precedence, since vendors that send one mean it as the HTTP status. */
function statusOf(detail: JsonObject): number {
  const values = [detail["status_code"], detail["code"], detail["status"]];
  for (const value of values) {
    const status = typeof value === "string" ? Number(value) : value;
    if (typeof status !== "number") continue;
    if (status >= 400 && status < 600) return status;
  }
  for (const value of [detail["code"], detail["type"], detail["status"]]) {
    const status = typeof value === "string"
      ? WORD_STATUS.get(value.toLowerCase())
      : undefined;
    if (status !== undefined) return status;
  }
  return UNKNOWN_STATUS;
}

/**
 * How this format expresses an error kind: `type`, the status if it differs, and `code` if the
 * upstream sent no better one.
 */
interface ErrorRow {
  readonly status?: number;
  readonly type: string;
  readonly code?: string;
}

const INVALID: ErrorRow = { type: "invalid_request_error" };
const FAULT: ErrorRow = { type: "server_error" };

const ROWS: Readonly<Record<ErrorKind, ErrorRow>> = {
  invalid_request: INVALID,
  authentication: { type: "authentication_error", code: "invalid_api_key" },
  billing: { type: "insufficient_quota", code: "insufficient_quota" },
  permission: { type: "permission_error" },
  not_found: INVALID,
  method_not_allowed: INVALID,
  request_timeout: INVALID,
  conflict: INVALID,
  too_large: INVALID,
  unsupported_media: INVALID,
  rate_limit: { type: "requests", code: "rate_limit_exceeded" },
  internal: FAULT,
  upstream: FAULT,
  unavailable: FAULT,
  timeout: FAULT,
  // 529 exists in the messages format only.
  overloaded: { type: "server_error", status: 503 },
};

/** The `error` object alone, as it occurs in a body and in a stream. */
export function errorObject(error: ApiError): JsonObject {
  const { code, param } = error.details;
  const row = ROWS[error.kind];
  return {
    // An exhausted quota has the status of a rate limit; clients distinguish the two by this
    // word.
    type: code === "insufficient_quota" ? code : row.type,
    message: code === OVERFLOW_CODE
      ? overflowMessage(error.message)
      : error.message,
    code: code ?? row.code ?? null,
    param: param ?? null,
  };
}

const OVERFLOW_CODE = "context_length_exceeded";
const OVERFLOW_WORDING = /maximum (?:context|prompt) length (?:is|of) \d/i;

/**
 * Coding agents parse the limit out of this sentence. A message without both numbers is left
 * unchanged.
 */
function overflowMessage(message: string): string {
  const numbers = overflowNumbers(message);
  if (numbers === undefined || OVERFLOW_WORDING.test(message)) return message;
  const { tokens, maximum, output } = numbers;
  const limit = `This model's maximum context length is ${maximum} tokens.`;
  return output === undefined
    ? `${limit} However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`
    : `${limit} However, you requested ${
      tokens + output
    } tokens (${tokens} in the messages, ${output} in the completion). Please reduce the length of the messages or completion.`;
}

/** Encodes an error for a caller. */
export function encodeError(error: ApiError, requestId: string): EncodedError {
  const { retryAfterSeconds, retryable, allow } = error.details;
  return {
    status: ROWS[error.kind].status ?? error.status,
    headers: {
      ...(retryAfterSeconds === undefined
        ? {}
        : { "retry-after": String(retryAfterSeconds) }),
      ...(retryable === undefined
        ? {}
        : { "x-should-retry": String(retryable) }),
      ...(allow === undefined ? {} : { allow: allow.join(", ") }),
    },
    body: { type: "error", error: errorObject(error), request_id: requestId },
  };
}
