/**
 * Errors in the messages format: an upstream's (by status, or in the middle of a reply) → {@linkcode ApiError} → what a caller
 * gets. The kinds are `../error.ts`; bodies of any other shape are read by `../error_body.ts`.
 *
 * @module
 */
import type { EncodedError } from "../dialect.ts";
import { ApiError, ERROR_STATUS, type ErrorKind } from "../error.ts";
import {
  type ErrorBody,
  overflowNumbers,
  readErrorObject,
  readErrorText,
  upstreamError,
} from "../error_body.ts";
import { type JsonObject, objectOr, textIn } from "../json.ts";

/** The dialect's word for each kind. */
const ERROR_TYPES: Readonly<Record<ErrorKind, string>> = {
  invalid_request: "invalid_request_error",
  authentication: "authentication_error",
  billing: "billing_error",
  permission: "permission_error",
  not_found: "not_found_error",
  method_not_allowed: "invalid_request_error",
  request_timeout: "timeout_error",
  conflict: "invalid_request_error",
  too_large: "request_too_large",
  unsupported_media: "invalid_request_error",
  rate_limit: "rate_limit_error",
  internal: "api_error",
  upstream: "api_error",
  unavailable: "api_error",
  timeout: "timeout_error",
  overloaded: "overloaded_error",
};

/** The status that an error's word would have had, were it not too late for one. A word that is not here is 502. */
const TYPE_STATUS: ReadonlyMap<string, number> = new Map([
  ["invalid_request_error", 400],
  ["authentication_error", 401],
  ["billing_error", 402],
  ["permission_error", 403],
  ["not_found_error", 404],
  ["request_too_large", 413],
  ["rate_limit_error", 429],
  ["api_error", 502],
  ["timeout_error", 504],
  ["overloaded_error", 529],
]);

/** An upstream says with 400 that the gateway's own account is empty; to the caller that is no fault of the request. */
const OUR_BALANCE = /credit balance is too low/i;
const PAYMENT_REQUIRED = 402;

const OVERFLOW_PREFIX = "prompt is too long: ";
const OVERFLOW_WORDING = /^prompt is too long: \d+ tokens > \d+ maximum/;

/** Reads an upstream's error of any shape. */
export function decodeError(
  status: number,
  headers: Headers,
  body: string,
): ApiError {
  return classified(status, headers, readErrorText(body));
}

/** Tells an error body from a reply. */
export function isErrorBody(body: JsonObject): boolean {
  return body["type"] === "error" ||
    (body["error"] !== undefined && body["error"] !== null);
}

/** Reads an error that came under the status 200: its word decides. */
export function inBandError(data: JsonObject): ApiError {
  const body = readErrorObject(data);
  const status = TYPE_STATUS.get(body.type ?? "") ?? 502;
  const { kind, message, details } = classified(status, new Headers(), body);
  // The status was made up here; the upstream never answered with it.
  const { upstreamStatus: _, ...rest } = details;
  return new ApiError(kind, message, rest);
}

function classified(
  status: number,
  headers: Headers,
  body: ErrorBody,
): ApiError {
  if (body.message !== undefined && OUR_BALANCE.test(body.message)) {
    return upstreamError(PAYMENT_REQUIRED, headers, body);
  }
  const code = body.code ??
    textIn(objectOr(body.detail["details"])["error_code"]) ??
    (body.type === "not_found_error" && body.message?.startsWith("model:")
      ? "model_not_found"
      : undefined);
  return upstreamError(
    status,
    headers,
    code === undefined ? body : { ...body, code },
  );
}

/** Writes an error for a caller. */
export function encodeError(error: ApiError, requestId: string): EncodedError {
  const { retryAfterSeconds, retryable, allow } = error.details;
  return {
    status: ERROR_STATUS[error.kind],
    headers: {
      ...(retryAfterSeconds === undefined
        ? {}
        : { "retry-after": String(retryAfterSeconds) }),
      ...(retryable === undefined
        ? {}
        : { "x-should-retry": String(retryable) }),
      ...(allow === undefined ? {} : { allow: allow.join(", ") }),
    },
    body: { ...errorBody(error), request_id: requestId },
  };
}

/** The body of an error without its request id: what a stream's `error` event holds. */
export function errorBody(error: ApiError): JsonObject {
  return {
    type: "error",
    error: {
      type: errorType(error),
      message: errorMessage(error),
      code: error.details.code ?? null,
      param: error.details.param ?? null,
    },
  };
}

/** An upstream that is down is overloaded in this dialect; what is down on our side (the store) is not. */
function errorType(error: ApiError): string {
  return error.kind === "unavailable" &&
      error.details.upstreamStatus !== undefined
    ? ERROR_TYPES.overloaded
    : ERROR_TYPES[error.kind];
}

/** Agents compact their conversation only when an overflow is told in the dialect's own wording. */
function errorMessage(error: ApiError): string {
  const { message } = error;
  if (
    error.details.code !== "context_length_exceeded" ||
    OVERFLOW_WORDING.test(message)
  ) return message;
  const numbers = overflowNumbers(message);
  if (numbers !== undefined) {
    return `${OVERFLOW_PREFIX}${numbers.tokens} tokens > ${numbers.maximum} maximum`;
  }
  return message.startsWith(OVERFLOW_PREFIX)
    ? message
    : `${OVERFLOW_PREFIX}${message}`;
}
