/**
 * What a failed attempt means: whether the request may be tried again before its caller hears of it, and what it says of the
 * candidate's health. Requests that an upstream refused as wrong are never tried again, nor are refusals of our own key.
 *
 * @module
 */
import type { ApiError, ErrorKind } from "../../translate/error.ts";
import type { Breaker } from "./breaker.ts";

/** An attempt that gave no answer. */
export interface AttemptFailure {
  /** Tells it from an answer. */
  readonly type: "failed";
  /** What the caller is told where nothing else helps. */
  readonly error: ApiError;
  /** Where the request may be tried next: at the same candidate too, at other ones only, nowhere. */
  readonly again: "anywhere" | "elsewhere" | "nowhere";
}

/** Kinds that are about the request: any candidate would say the same. */
const REQUESTS_FAULT: ReadonlySet<ErrorKind> = new Set([
  "invalid_request",
  "not_found",
  "conflict",
  "too_large",
  "unsupported_media",
  "method_not_allowed",
]);

/**
 * No head of an answer came. What was too slow once is not asked the same again: it may still be at work on it.
 */
export function withoutAnswer(error: ApiError): AttemptFailure {
  return {
    type: "failed",
    error,
    again: error.kind === "timeout" ? "elsewhere" : "anywhere",
  };
}

/** The upstream answered with a status that is no success. */
export function byStatus(status: number, error: ApiError): AttemptFailure {
  const temporary = status === 408 || status === 429 || status >= 500;
  // A dialect may read a status otherwise: a key can be refused with 400, and an empty account with 429.
  return {
    type: "failed",
    error,
    again: !temporary || REQUESTS_FAULT.has(error.kind)
      ? "nowhere"
      : error.details.retryable === false
      ? "elsewhere"
      : "anywhere",
  };
}

/** The upstream told an error where a reply should begin, or its stream broke there. */
export function inFirstFrame(error: ApiError): AttemptFailure {
  const ourKey = error.kind === "upstream" && error.details.retryable === false;
  return {
    type: "failed",
    error,
    again: ourKey || REQUESTS_FAULT.has(error.kind)
      ? "nowhere"
      : error.details.retryable === false || error.kind === "timeout"
      ? "elsewhere"
      : "anywhere",
  };
}

/** A whole reply came and cannot be read: it was generated, and another would be paid for again. */
export function inReply(error: ApiError): AttemptFailure {
  return error.kind === "upstream" || error.kind === "timeout"
    ? { type: "failed", error, again: "nowhere" }
    : inFirstFrame(error);
}

/** How long a candidate is left alone where our account is used up. */
const NO_QUOTA_REST_MS = 60_000;

/** Tells a candidate's health of an error: a call's answer, or the end of its stream. */
export function blame(
  health: Breaker,
  error: ApiError,
  nowMs: number,
  wasProbe: boolean,
): void {
  const { retryAfterSeconds, retryable } = error.details;
  const askedMs = retryAfterSeconds === undefined
    ? undefined
    : retryAfterSeconds * 1000;
  if (error.kind === "rate_limit") {
    health.rest(
      nowMs,
      askedMs ?? (retryable === false ? NO_QUOTA_REST_MS : undefined),
    );
  } else if (!REQUESTS_FAULT.has(error.kind)) {
    if (askedMs !== undefined) health.rest(nowMs, askedMs);
    health.failed(nowMs);
    return;
  }
  health.left(wasProbe);
}
