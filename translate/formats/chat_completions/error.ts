/**
 * Errors in this format: decodes an upstream's error reply or an error inside a reply, and
 * encodes the gateway's errors.
 *
 * @module
 */
import { overflowNumbers } from "../../model/context_overflow.ts";
import type { EncodedError } from "../../dialect.ts";
import type { ApiError, ErrorKind } from "../../model/error.ts";
import { readErrorObject, readErrorText } from "../../model/error_body.ts";
import {
  errorOfWords,
  replyError,
  UNKNOWN_STATUS,
} from "../../model/error_words.ts";
import type { JsonObject } from "../../bytes/json.ts";

/** Decodes an upstream's error reply of any shape. Never throws. */
export function decodeError(
  status: number,
  headers: Headers,
  body: string,
): ApiError {
  return replyError(status, headers, readErrorText(body));
}

/** Decodes an error inside a reply whose status was 200. */
export function inBandError(body: unknown): ApiError {
  return errorOfWords(readErrorObject(body));
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
  const { code, param, misalignment } = error.details;
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
    ...(misalignment === undefined ? {} : { misalignment }),
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
