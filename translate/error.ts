/**
 * What can go wrong for a caller, in neutral words: one class, one table of kinds.
 * How a kind is said on the wire is each dialect's `error.ts`; a bug of ours stays an ordinary Error.
 *
 * @module
 */

/** Why a request has no answer. Each kind has one HTTP status, see {@linkcode ERROR_STATUS}. */
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

/** HTTP status of each kind before a dialect has its say (the chat format has no 529, for one). */
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

/** What may be known of an error beside its kind and message. */
export interface ErrorDetails {
  /** A machine-readable reason in the project's words, e.g. `model_not_found`, `insufficient_balance`. */
  readonly code?: string;
  /** Path of the offending request field in the caller's dialect, e.g. `messages[0].content`. */
  readonly param?: string;
  /** Whole seconds after which another try makes sense. */
  readonly retryAfterSeconds?: number;
  /** Whether the same request may be tried again; absent leaves it to the client's own rules. */
  readonly retryable?: boolean;
  /** Methods that the path does answer, for `method_not_allowed`. */
  readonly allow?: readonly string[];
  /** The status an upstream answered with, where it did. Kept for logs, never shown as ours. */
  readonly upstreamStatus?: number;
}

/** The one class thrown for what a caller can cause or must be told. Its message holds no secret and no upstream address. */
export class ApiError extends Error {
  /** Which row of the table this is. */
  readonly kind: ErrorKind;
  /** What else is known. */
  readonly details: ErrorDetails;

  /** Makes one; the caller reads `message`. */
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

/** The error for one field of a request: kind `invalid_request`, `param` set, the message opens with the path. */
export function invalidField(
  path: string,
  problem: string,
  code?: string,
): ApiError {
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

/**
 * The kind that an upstream's HTTP status stands for. 401 and 403 are about the gateway's own key, so they become
 * `upstream`: the caller can do nothing about them. Redirects and unknown statuses are upstream faults as well.
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
