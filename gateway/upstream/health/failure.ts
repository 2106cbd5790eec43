/**
 * Classifies a failed attempt: whether and where the request may be retried, and what the failure
 * means for the candidate's health. A request that an upstream refused as invalid is never retried.
 * A refusal of what belongs to the operator (credential, account, set-up) is the candidate's fault:
 * others are called.
 */
import type { ApiError, ErrorKind } from "../../../translate/model/error.ts";
import { vendorWords } from "../vendor_words.ts";
import type { Breaker } from "./breaker.ts";

/** An attempt without a reply. */
export interface AttemptFailure {
  /** Distinguishes it from a reply. */
  readonly type: "failed";
  /** The error that the client receives if no other attempt succeeds. */
  readonly error: ApiError;
  /** Where the request may be retried. */
  readonly retryAt: "any" | "others" | "none";
}

/** Kinds that are about the request: every candidate would refuse it. */
const REQUEST_ERRORS: ReadonlySet<ErrorKind> = new Set([
  "invalid_request",
  "not_found",
  "conflict",
  "too_large",
  "unsupported_media",
  "method_not_allowed",
  "permission",
  // The client stopped sending a body that is passed on while it arrives.
  "request_timeout",
]);

/** Kinds of a failure that may pass, whatever its status is: a host may send 400 or 424 for one. */
const TEMPORARY_ERRORS: ReadonlySet<ErrorKind> = new Set([
  "rate_limit",
  "upstream",
  "unavailable",
  "overloaded",
]);

/**
 * No response head arrived. After a timeout, the same candidate is not retried: it may still be
 * working on the request.
 */
export function noResponseFailure(error: ApiError): AttemptFailure {
  return {
    type: "failed",
    error,
    retryAt: error.kind === "timeout" ? "others" : "any",
  };
}

/** The upstream responded with an error status. */
export function statusFailure(status: number, error: ApiError): AttemptFailure {
  if (error.details.refused !== undefined) {
    return { type: "failed", error, retryAt: "others" };
  }
  const isTemporary = status === 408 || status === 429 || status >= 500 ||
    (status >= 400 && TEMPORARY_ERRORS.has(error.kind));
  // A dialect may classify a status differently: a key can be refused with 400, and an exhausted
  // account with 429.
  return {
    type: "failed",
    error,
    retryAt: !isTemporary || REQUEST_ERRORS.has(error.kind)
      ? "none"
      : error.details.retryable === false
      ? "others"
      : "any",
  };
}

/** The upstream sent an error instead of the first frame, or the stream failed there. */
export function firstFrameFailure(error: ApiError): AttemptFailure {
  return {
    type: "failed",
    error,
    retryAt: REQUEST_ERRORS.has(error.kind)
      ? "none"
      : error.details.retryable === false || error.kind === "timeout"
      ? "others"
      : "any",
  };
}

/**
 * A whole reply arrived but is unreadable. It was generated, and a retry would be charged again.
 */
export function wholeReplyFailure(error: ApiError): AttemptFailure {
  return error.details.refused === undefined &&
      (error.kind === "upstream" || error.kind === "timeout")
    ? { type: "failed", error, retryAt: "none" }
    : firstFrameFailure(error);
}

/** Cooldown of a candidate whose quota for the gateway's account is exhausted. */
const NO_QUOTA_COOLDOWN_MS = 60_000;

/** Records an error in a candidate's health; `error` is the reply to a call or ended its stream. */
export function recordFailure(
  health: Breaker,
  error: ApiError,
  nowMs: number,
  wasProbe: boolean,
): void {
  const { retryAfterSeconds, retryable, refused } = error.details;
  if (refused !== undefined) {
    health.refused(nowMs, vendorWords(error) ?? refused);
  }
  const askedMs = retryAfterSeconds === undefined
    ? undefined
    : retryAfterSeconds * 1000;
  if (error.kind === "rate_limit") {
    health.coolDown(
      nowMs,
      askedMs ?? (retryable === false ? NO_QUOTA_COOLDOWN_MS : undefined),
    );
  } else if (!REQUEST_ERRORS.has(error.kind)) {
    if (askedMs !== undefined) health.coolDown(nowMs, askedMs);
    health.failed(nowMs);
    return;
  }
  health.endedWithoutResult(wasProbe);
}
