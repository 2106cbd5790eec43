/**
 * Errors for the client, independent of any dialect: one class, one table of kinds. Each dialect's
 * `error.ts` writes a kind in its format. A bug in the gateway stays an ordinary Error.
 */
import type { JsonObject } from "../bytes/json.ts";

/** Why a request failed. Each kind has one HTTP status, see {@linkcode ERROR_STATUS}. */
export type ErrorKind =
  | "invalid_request"
  | "authentication"
  | "billing"
  | "permission"
  | "not_found"
  | "method_not_allowed"
  | "request_timeout"
  | "conflict"
  | "too_large"
  | "unsupported_media"
  | "rate_limit"
  | "internal"
  | "upstream"
  | "unavailable"
  | "timeout"
  | "overloaded";

/** HTTP status of each kind; a dialect may replace it (the chat format has no 529). */
export const ERROR_STATUS: Readonly<Record<ErrorKind, number>> = {
  invalid_request: 400,
  authentication: 401,
  billing: 402,
  permission: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  too_large: 413,
  unsupported_media: 415,
  rate_limit: 429,
  internal: 500,
  upstream: 502,
  unavailable: 503,
  timeout: 504,
  overloaded: 529,
};

/** Optional facts about an error beside its kind and message. */
export interface ErrorDetails {
  /**
   * A machine-readable reason of this project, such as `model_not_found` or `insufficient_balance`.
   */
  readonly code?: string;
  /** What an upstream's error has beside its message and code, for clients of its own formats. */
  readonly vendorError?: VendorError;
  /** Path of the request field at fault in the client's dialect, such as `messages[0].content`. */
  readonly param?: string;
  /** All top-level fields of the request known to be at fault; absent: that of `param`. */
  readonly wrongFields?: readonly string[];
  /** Seconds to wait before a retry, exact to the millisecond. */
  readonly retryAfterSeconds?: number;
  /** Whether the same request may be retried; absent leaves it to the client's own rules. */
  readonly retryable?: boolean;
  /** Methods that the path supports, for `method_not_allowed`. */
  readonly allow?: readonly string[];
  /**
   * What belongs to the operator and was refused by the upstream: the credential, the account (no
   * credit), its quota (of a day), or the set-up (a deployment that does not exist). Absent: the
   * request itself, or nothing. Never sent to clients.
   */
  readonly refused?: "credential" | "account" | "quota" | "setup";
  /**
   * The upstream's code for what belongs to the operator, or its status: for logs and metrics, not
   * for clients.
   */
  readonly upstreamCode?: string;
  /** The upstream's message about what belongs to the operator: for operators, not for clients. */
  readonly upstreamMessage?: string;
  /** What the operator can do about it. For logs, never sent to clients. */
  readonly note?: string;
  /**
   * The status of the upstream's response, if there was one. For logs, never sent to clients as the
   * gateway's own.
   */
  readonly upstreamStatus?: number;
  /** How full the limit was that refused the request. For logs, never sent to clients. */
  readonly fill?: LimitFill;
}

/** Formats whose errors are one object: chat completions and Responses share theirs. */
export type ErrorFamily = "messages" | "openai" | "generate_content";

/** Fields of an error object as an upstream sent them. */
export interface VendorError {
  readonly family: ErrorFamily;
  readonly fields: JsonObject;
}

/** An upstream's fields beside those that every format writes; none of another family. */
export function vendorFields(
  { details: { vendorError } }: ApiError,
  family: ErrorFamily,
): JsonObject {
  return vendorError?.family === family ? vendorError.fields : {};
}

/** A limit and how much of it was used when it refused a request, in the limit's own unit. */
export interface LimitFill {
  /** The limit; for a balance, the balance. */
  readonly limit: number;
  /** What was used or reserved. */
  readonly used: number;
  /** What the request needed. */
  readonly needed: number;
}

/**
 * The only class thrown for errors that a client can cause or must receive. Its message contains no
 * secret and no upstream address.
 */
export class ApiError extends Error {
  /** Selects the status in {@linkcode ERROR_STATUS}. */
  readonly kind: ErrorKind;
  /** Optional facts. */
  readonly details: ErrorDetails;

  /** The client receives `message`. */
  constructor(kind: ErrorKind, message: string, details: ErrorDetails = {}) {
    super(message);
    this.name = "ApiError";
    this.kind = kind;
    this.details = details;
  }

  /** HTTP status of the kind. */
  get status(): number {
    return ERROR_STATUS[this.kind];
  }
}

/** The headers with which a client of any format may retry. */
export function retryHeaders(
  { retryAfterSeconds, retryable, allow }: ErrorDetails,
): Readonly<Record<string, string>> {
  return {
    ...(retryAfterSeconds === undefined
      ? {}
      : { "retry-after": String(Math.ceil(retryAfterSeconds)) }),
    ...(retryable === undefined ? {} : { "x-should-retry": String(retryable) }),
    ...(allow === undefined ? {} : { allow: allow.join(", ") }),
  };
}

/** A bug in the gateway, as the client of a running stream receives it. */
export class GatewayFault extends ApiError {
  /** The client receives `message`. */
  constructor(message: string) {
    super("internal", message);
  }
}

/** Limits on the path and the problem in a message: both may repeat client text of any length. */
const MAX_PATH = 300;
const MAX_PROBLEM = 1_000;

/**
 * The error for one field of a request: kind `invalid_request`, `param` set, the message starts
 * with the path.
 */
export function invalidField(
  fullPath: string,
  fullProblem: string,
  code?: string,
): ApiError {
  const path = shorten(fullPath, MAX_PATH);
  const problem = shorten(fullProblem, MAX_PROBLEM);
  return new ApiError(
    "invalid_request",
    path === "" ? problem : `${path}: ${problem}`,
    {
      ...(path === "" ? {} : { param: path }),
      ...(code === undefined ? {} : { code }),
      retryable: false,
    },
  );
}

function shorten(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max).toWellFormed()}…` : text;
}

/**
 * The kind of an upstream's HTTP status. 401 and 403 concern the gateway's own key, which the
 * client cannot fix, so they become `upstream`. Redirects and unknown statuses are upstream errors
 * as well.
 */
export function kindOfStatus(status: number): ErrorKind {
  switch (status) {
    case 400:
    case 422:
      return "invalid_request";
    case 404:
      return "not_found";
    case 408:
    case 504:
    case 524:
      return "timeout";
    case 409:
      return "conflict";
    case 413:
      return "too_large";
    case 429:
      return "rate_limit";
    case 503:
      return "unavailable";
    case 529:
      return "overloaded";
  }
  if (
    status === 401 || status === 402 || status === 403 || status < 400 ||
    status >= 500
  ) return "upstream";
  return "invalid_request";
}

/** Whether a status has a meaning of its own; another 4xx counts as the request's. */
export function isKnownStatus(status: number): boolean {
  return kindOfStatus(status) !== "invalid_request" || status === 400 ||
    status === 422;
}
