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
import {
  isObject,
  type JsonObject,
  objectOr,
  stringIn,
  textIn,
} from "../../bytes/json.ts";

/**
 * HTTP statuses for error words in replies whose own status was 200. The words are the `code` or
 * `type` of several vendors.
 */
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
  ["authentication_error", 401],
  ["invalid_api_key", 401],
  ["billing_error", 402],
  ["permission_error", 403],
  ["not_found_error", 404],
  ["model_not_found", 404],
  ["rate_limit_error", 429],
  ["rate_limit_exceeded", 429],
  ["too_many_requests", 429],
  ["insufficient_quota", 429],
  ["requests", 429],
  ["tokens", 429],
  ["server_error", 500],
  ["internal_error", 500],
  ["internal_server_error", 500],
  ["api_error", 500],
  ["server_is_overloaded", 529],
  ["slow_down", 529],
  ["overloaded_error", 529],
  ["service_unavailable", 503],
  ["service_unavailable_error", 503],
  ["timeout", 504],
  ["vector_store_timeout", 504],
]);

/** An error without a known word is the upstream's fault. */
const UNKNOWN_STATUS = 502;
const UNAUTHORIZED = 401;

/** A refusal of the gateway's own key, which some vendors send with status 400. */
const OUR_KEY = /^(?:incorrect|invalid) api key/i;

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

/**
 * Decodes an error inside a reply whose status was 200: an `error` event of either shape, or a
 * failed reply.
 */
export function inBandError(body: JsonObject): ApiError {
  const response = objectOr(body["response"]);
  const value = [body["error"], response["error"]].find((error) =>
    isObject(error) || textIn(error) !== undefined
  );
  // The flat shape has the error's fields beside the event's own `type`.
  const { type: _, ...flat } = body;
  const read = readErrorObject(
    isObject(value)
      ? value
      : typeof value === "string"
      ? { ...flat, message: value }
      : textIn(response["status"]) === undefined
      ? flat
      : { message: `the reply's status is ${response["status"]}` },
  );
  const error = upstreamError(statusOf(read.detail), new Headers(), read);
  // This status was derived from the error's words; the upstream did not send it.
  const { upstreamStatus: __, ...details } = error.details;
  return new ApiError(
    error.kind === "unavailable" ? "overloaded" : error.kind,
    error.message,
    details,
  );
}

function statusOf(detail: JsonObject): number {
  for (const key of ["status_code", "code", "status"]) {
    const value = detail[key];
    const status = typeof value === "string" ? Number(value) : value;
    if (typeof status === "number" && status >= 400 && status < 600) {
      return status;
    }
  }
  for (const key of ["code", "type"]) {
    const status = WORD_STATUS.get(stringIn(detail[key])?.toLowerCase() ?? "");
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
  /** The `code` inside a stream, if clients base their retry rules on another one there. */
  readonly streamCode?: string;
}

const INVALID: ErrorRow = { type: "invalid_request_error" };
const FAULT: ErrorRow = { type: "server_error", streamCode: "server_error" };
const BUSY: ErrorRow = {
  type: "server_error",
  code: "server_is_overloaded",
  status: 503,
};
const QUOTA: ErrorRow = {
  type: "insufficient_quota",
  code: "insufficient_quota",
  status: 429,
};

const ROWS: Readonly<Record<ErrorKind, ErrorRow>> = {
  invalid_request: INVALID,
  authentication: { type: "authentication_error", code: "invalid_api_key" },
  billing: QUOTA,
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
  unavailable: BUSY,
  timeout: FAULT,
  overloaded: BUSY,
};

/**
 * Codes for an account that cannot pay. Clients of this format know only one word and one status
 * for them.
 */
const UNPAID: ReadonlySet<string> = new Set([
  "insufficient_quota",
  "insufficient_balance",
]);

function isUnpaid({ kind, details }: ApiError): boolean {
  return kind === "billing" || UNPAID.has(details.code ?? "");
}

function rowOf(error: ApiError): ErrorRow {
  return isUnpaid(error) ? QUOTA : ROWS[error.kind];
}

function codeOf(error: ApiError): string | null {
  const row = rowOf(error);
  return row === QUOTA || row === BUSY
    ? row.code ?? null
    : error.details.code ?? row.code ?? null;
}

const OVERFLOW_WORDING = /maximum (?:context|prompt) length (?:is|of) \d/i;

/** Agents read the limit from this sentence. A message without both numbers stays as it is. */
function messageOf({ message, details }: ApiError): string {
  if (
    details.code !== "context_length_exceeded" || OVERFLOW_WORDING.test(message)
  ) return message;
  const numbers = overflowNumbers(message);
  if (numbers === undefined) return message;
  const { tokens, maximum, output } = numbers;
  const asked = output === undefined
    ? `your input has ${tokens} tokens. Please shorten the input.`
    : `you requested ${
      tokens + output
    } tokens (${tokens} in the input, ${output} in the output). Please shorten the input or lower max_output_tokens.`;
  return `Your input exceeds the context window of this model. Its maximum context length is ${maximum} tokens, and ${asked}`;
}

/** Writes an error for a caller. */
export function encodeError(error: ApiError, requestId: string): EncodedError {
  const { retryAfterSeconds, retryable, allow, param } = error.details;
  const row = rowOf(error);
  const again = row === QUOTA ? false : retryable;
  return {
    status: row.status ?? error.status,
    headers: {
      ...(retryAfterSeconds === undefined || row === QUOTA
        ? {}
        : { "retry-after": String(retryAfterSeconds) }),
      ...(again === undefined ? {} : { "x-should-retry": String(again) }),
      ...(allow === undefined ? {} : { allow: allow.join(", ") }),
    },
    body: {
      type: "error",
      error: {
        type: row.type,
        message: messageOf(error),
        code: codeOf(error),
        param: param ?? null,
      },
      request_id: requestId,
    },
  };
}

/**
 * An error inside a stream: the fields of the `error` event, flat and nested, and the `error` of
 * the failed reply.
 */
export interface StreamError {
  /** Fields of the `error` event beside its type and sequence number. */
  readonly event: JsonObject;
  /** The `error` of the failed reply. */
  readonly ofReply: JsonObject;
}

/**
 * Encodes an error for a stream. It repeats the error's fields, because clients read them in
 * different places.
 */
export function streamError(error: ApiError): StreamError {
  const row = rowOf(error);
  const code = codeOf(error) ?? row.streamCode ?? row.type;
  const param = error.details.param ?? null;
  const seconds = error.details.retryAfterSeconds;
  // Clients parse the time to wait out of this sentence, since a running stream cannot send a
  // header.
  const message = code === "rate_limit_exceeded" && seconds !== undefined
    ? `${error.message} Please try again in ${seconds}s.`
    : messageOf(error);
  return {
    event: {
      code,
      message,
      param,
      error: { type: row.type, code, message, param },
    },
    ofReply: { code, message },
  };
}
