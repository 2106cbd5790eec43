/**
 * Errors in the messages format: an upstream's (by status, or inside a reply) → {@linkcode
 * ApiError} → the client's. The kinds are in `../../model/error.ts`; `../../errors/error_body.ts`
 * decodes bodies of any other shape.
 */
import type { EncodedError } from "../../dialect.ts";
import {
  ApiError,
  ERROR_STATUS,
  type ErrorKind,
  retryHeaders,
  vendorFields,
} from "../../model/error.ts";
import { overflowNumbers } from "../../errors/context_overflow.ts";
import {
  type ErrorBody,
  readErrorObject,
  readErrorText,
  upstreamError,
} from "../../errors/error_body.ts";
import { type JsonObject, objectOr, textIn } from "../../bytes/json.ts";

/** The dialect's error type for each kind. */
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

/**
 * The status of each error type, for errors that arrive after the status line. An unknown type is
 * 502.
 */
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

/** Codes of a 403 that concern the end user whom the client named, not the gateway's key. */
const END_USER = /^user_profile_/;
const FORBIDDEN = 403;
const BAD_REQUEST = 400;

const OVERFLOW_PREFIX = "prompt is too long: ";
const OVERFLOW_WORDING =
  /^prompt is too long: \d+ tokens > \d+ maximum|^input length and `max_tokens` exceed context limit: \d+ \+ \d+ > \d+/;

/** Decodes an upstream's error of any shape. */
export function decodeError(
  status: number,
  headers: Headers,
  body: string,
): ApiError {
  return classify(status, headers, readErrorText(body));
}

/** Whether a body is an error rather than a reply. */
export function isErrorBody(body: JsonObject): boolean {
  return body["type"] === "error" ||
    (body["error"] !== undefined && body["error"] !== null);
}

/** Decodes an error that came under the status 200: its type decides. */
export function inBandError(data: JsonObject): ApiError {
  const body = readErrorObject(data);
  const status = TYPE_STATUS.get(body.type ?? "") ?? 502;
  const { kind, message, details } = classify(status, new Headers(), body);
  // The status is derived from the type; the upstream did not send it.
  const { upstreamStatus: _, ...rest } = details;
  return new ApiError(kind, message, rest);
}

function classify(
  status: number,
  headers: Headers,
  body: ErrorBody,
): ApiError {
  const code = textIn(objectOr(body.detail["details"])["error_code"]) ??
    body.code ??
    (body.type === "not_found_error" && body.message?.startsWith("model:")
      ? "model_not_found"
      : undefined);
  const isEndUsers = status === FORBIDDEN && END_USER.test(code ?? "");
  const { kind, message, details } = upstreamError(
    isEndUsers ? BAD_REQUEST : status,
    headers,
    code === undefined ? body : { ...body, code },
    "messages",
  );
  return new ApiError(isEndUsers ? "permission" : kind, message, {
    ...details,
    upstreamStatus: status,
  });
}

export function encodeError(error: ApiError, requestId: string): EncodedError {
  return {
    status: ERROR_STATUS[error.kind],
    headers: retryHeaders(error.details),
    body: errorBody(error, requestId),
  };
}

/** An error's body, and the content of a stream's `error` event. */
export function errorBody(error: ApiError, requestId?: string): JsonObject {
  return {
    type: "error",
    error: {
      ...vendorFields(error, "messages"),
      type: errorType(error),
      message: errorMessage(error),
      code: error.details.code ?? null,
      param: error.details.param ?? null,
    },
    request_id: requestId ?? null,
  };
}

/**
 * An unavailable upstream is `overloaded_error` in this dialect; an unavailable part of the gateway
 * (the store) is not.
 */
function errorType(error: ApiError): string {
  return error.kind === "unavailable" &&
      error.details.upstreamStatus !== undefined
    ? ERROR_TYPES.overloaded
    : ERROR_TYPES[error.kind];
}

/** Agents compact their conversation only on the dialect's own wording of an overflow. */
function errorMessage(error: ApiError): string {
  const { message } = error;
  if (
    error.details.code !== "context_length_exceeded" ||
    OVERFLOW_WORDING.test(message)
  ) return message;
  const numbers = overflowNumbers(message);
  if (numbers?.output !== undefined) {
    const { tokens, output, maximum } = numbers;
    return `input length and \`max_tokens\` exceed context limit: ${tokens} + ${output} > ${maximum}, decrease input length or \`max_tokens\` and try again`;
  }
  if (numbers !== undefined) {
    return `${OVERFLOW_PREFIX}${numbers.tokens} tokens > ${numbers.maximum} maximum`;
  }
  return message.startsWith(OVERFLOW_PREFIX)
    ? message
    : `${OVERFLOW_PREFIX}${message}`;
}
