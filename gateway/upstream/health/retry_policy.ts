/**
 * Decides what follows a failed attempt: another candidate at once, the same one after a backoff,
 * or nothing. Pure: time and randomness are passed in. The retry budget is checked elsewhere.
 */
import type { ApiError } from "../../../translate/model/error.ts";
import type { Candidate } from "../catalogue/model_registry.ts";
import { weightedChoice } from "./load_balancer.ts";
import type { AttemptFailure } from "./failure.ts";

export interface FailedAttempt extends AttemptFailure {
  readonly candidate: Candidate;
}

/** Input of the choice of a next attempt. */
interface RetryState {
  /** All candidates of the model, for the client's dialect. */
  readonly candidates: readonly Candidate[];
  /** Candidates whose format cannot express the request, or to which it cannot be sent again. */
  readonly incompatible: readonly Candidate[];
  /** At least one, in order. */
  readonly failed: readonly FailedAttempt[];
  /** Attempts that a call may make, including the first. */
  readonly maxAttempts: number;
  /** Unix time in milliseconds. */
  readonly nowMs: number;
  /** When the call's total timeout expires. */
  readonly deadlineMs: number;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
}

export interface NextAttempt {
  readonly candidate: Candidate;
  /** Milliseconds to wait before it; may be 0. */
  readonly waitMs: number;
  /** Whether the retry budget limits it: the candidate has failed, in this call or in others. */
  readonly isLimited: boolean;
}

/** Attempts per candidate within one call. Small, because client libraries retry as well. */
const MAX_ATTEMPTS_PER_CANDIDATE = 2;
/**
 * Largest backoff before the second attempt at a candidate; doubled with every failed attempt of
 * the call.
 */
const BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 4_000;
/** A longer cooldown is not waited for: the client receives the error. */
const MAX_WAIT_MS = 3_000;

/** The next attempt; undefined if there is none. */
export function nextAttempt(at: RetryState): NextAttempt | undefined {
  const last = at.failed.at(-1);
  if (
    last === undefined || last.retryAt === "none" ||
    at.failed.length >= at.maxAttempts || at.nowMs >= at.deadlineMs
  ) return undefined;
  const tried = [
    ...at.incompatible,
    ...at.failed.map(({ candidate }) => candidate),
  ];
  const untried = weightedChoice(at.candidates, tried, at.nowMs, at.random);
  if (untried !== undefined) {
    const isLimited = untried.health.state(at.nowMs) !== "closed";
    return { candidate: untried, waitMs: 0, isLimited };
  }
  // Client libraries wait for the delay themselves: here it would only double the calls at a limit.
  const isOnly = at.candidates.length - at.incompatible.length === 1;
  return isOnly && last.error.kind === "rate_limit"
    ? undefined
    : retrySoonest(at);
}

/** The candidate already tried that can be retried soonest. */
function retrySoonest(at: RetryState): NextAttempt | undefined {
  let best: NextAttempt | undefined;
  for (const candidate of at.candidates) {
    const failures = at.failed.filter((one) => one.candidate === candidate);
    if (
      failures.length === 0 || failures.length >= MAX_ATTEMPTS_PER_CANDIDATE ||
      failures.some((one) => one.retryAt !== "any") ||
      at.incompatible.includes(candidate) ||
      candidate.health.state(at.nowMs) !== "closed"
    ) continue;
    const waitMs = Math.max(
      candidate.health.availableAtMs() - at.nowMs,
      at.random() *
        Math.min(
          MAX_BACKOFF_MS,
          BACKOFF_MS * 2 ** (at.failed.length - 1),
        ),
    );
    if (waitMs > MAX_WAIT_MS || at.nowMs + waitMs >= at.deadlineMs) {
      continue;
    }
    if (best === undefined || waitMs < best.waitMs) {
      best = { candidate, waitMs, isLimited: true };
    }
  }
  return best;
}

/**
 * The failure that informs the client best: the last one, except that a failure without a response
 * or a refusal of the gateway's own key gives way to any other.
 */
export function mostInformative(
  failed: readonly FailedAttempt[],
): FailedAttempt {
  const chosen = failed.findLast(({ error }) => isInformative(error)) ??
    failed.at(-1);
  if (chosen === undefined) throw new Error("no attempt has failed");
  return chosen;
}

function isInformative({ kind, details }: ApiError): boolean {
  if (kind === "upstream") {
    return details.upstreamStatus !== undefined && details.retryable !== false;
  }
  return details.upstreamStatus !== undefined || kind === "rate_limit" ||
    kind === "overloaded" || kind === "unavailable";
}
