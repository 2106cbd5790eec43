/**
 * What follows a failed attempt: another candidate at once, the same one after a pause, or nothing. Pure: clock and chance are
 * passed in, and what may be spent is the budget's to say.
 *
 * @module
 */
import type { ApiError } from "../../translate/error.ts";
import type { Candidate } from "./candidates.ts";
import { weighted } from "./choose.ts";
import type { AttemptFailure } from "./failure.ts";

/** An attempt that failed, and where. */
export interface FailedAttempt extends AttemptFailure {
  /** Where it was made. */
  readonly candidate: Candidate;
}

/** What the choice of a next attempt depends on. */
export interface RetrySituation {
  /** All of the model's, as the call's caller reaches them. */
  readonly candidates: readonly Candidate[];
  /** Those that cannot be told this request. */
  readonly unfit: readonly Candidate[];
  /** At least one, in order. */
  readonly failed: readonly FailedAttempt[];
  /** Attempts that a call may make, the first included. */
  readonly maxAttempts: number;
  /** Unix time in milliseconds. */
  readonly nowMs: number;
  /** When the call's time is up. */
  readonly deadlineMs: number;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
}

/** The next attempt. */
export interface NextAttempt {
  /** Where it goes. */
  readonly candidate: Candidate;
  /** How long to wait before it; 0: not at all. */
  readonly waitMs: number;
}

/** Times that one candidate is tried in one call: client libraries try again as well. */
const TRIES_AT_ONE = 2;
/** Backoff before the second try of a candidate is at most this, and doubles with every failed attempt. */
export const BACKOFF_MS = 250;
const LONGEST_BACKOFF_MS = 4_000;
/** An upstream that wants to be left alone for longer is not waited for: the caller is told. */
export const LONGEST_WAIT_MS = 3_000;

/** The next attempt; undefined where there is to be none. */
export function nextAttempt(at: RetrySituation): NextAttempt | undefined {
  const last = at.failed.at(-1);
  if (
    last === undefined || last.again === "nowhere" ||
    at.failed.length >= at.maxAttempts || at.nowMs >= at.deadlineMs
  ) return undefined;
  const tried = [...at.unfit, ...at.failed.map(({ candidate }) => candidate)];
  const fresh = weighted(at.candidates, tried, at.nowMs, at.random);
  if (fresh !== undefined) return { candidate: fresh, waitMs: 0 };
  return again(at);
}

/** The tried candidate that can be tried once more the soonest. */
function again(at: RetrySituation): NextAttempt | undefined {
  let best: NextAttempt | undefined;
  for (const candidate of at.candidates) {
    const here = at.failed.filter((one) => one.candidate === candidate);
    if (
      here.length === 0 || here.length >= TRIES_AT_ONE ||
      here.some((one) => one.again !== "anywhere") ||
      candidate.health.state(at.nowMs) !== "closed"
    ) continue;
    const waitMs = Math.max(
      candidate.health.backAtMs() - at.nowMs,
      at.random() *
        Math.min(
          LONGEST_BACKOFF_MS,
          BACKOFF_MS * 2 ** (at.failed.length - 1),
        ),
    );
    if (waitMs > LONGEST_WAIT_MS || at.nowMs + waitMs >= at.deadlineMs) {
      continue;
    }
    if (best === undefined || waitMs < best.waitMs) {
      best = { candidate, waitMs };
    }
  }
  return best;
}

/**
 * The failure that tells the caller most: the last one, but for those that say little (nobody answered, or our own key was
 * refused), which give way to any other.
 */
export function mostTelling(failed: readonly FailedAttempt[]): FailedAttempt {
  const told = failed.findLast(({ error }) => says(error)) ?? failed.at(-1);
  if (told === undefined) throw new Error("no attempt has failed");
  return told;
}

function says({ kind, details }: ApiError): boolean {
  if (kind === "upstream") {
    return details.upstreamStatus !== undefined && details.retryable !== false;
  }
  return details.upstreamStatus !== undefined || kind === "rate_limit" ||
    kind === "overloaded" || kind === "unavailable";
}
