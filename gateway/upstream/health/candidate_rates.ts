/**
 * How the calls of each candidate went in the last quarter of an hour: how many failed, why, and
 * after what time the first token came. Counted from log entries, in constant time and memory.
 */
import { attemptError } from "../../accounts/calls/outcome.ts";
import type { LogEntry } from "../../observability/log.ts";

/** The figures of a candidate, of the last 15 minutes. */
interface CandidateRate {
  /** Attempts that ended. */
  readonly calls: number;
  /** Attempts that failed, at the upstream or on the connection to it. */
  readonly failed: number;
  /** Number of failures by status, or by kind of error where there was none. */
  readonly errors: Readonly<Record<string, number>>;
  /** Milliseconds to the first token: of the newest 64 streams; absent without streams. */
  readonly firstTokenMs?: {
    readonly p50: number;
    readonly p95: number;
  };
}

const MINUTE_MS = 60_000;
const MINUTES = 15;
const MAX_SAMPLES = 64;
/** Different errors of a candidate in a minute: kinds and statuses are few. */
const MAX_ERRORS = 20;
interface Minute {
  minute: number;
  calls: number;
  failed: number;
  errors: Map<string, number>;
}

class Counts {
  readonly #minutes: Minute[] = [];
  readonly #samples: { readonly minute: number; readonly ms: number }[] = [];
  #nextSample = 0;

  count(nowMs: number, error: string | undefined): void {
    const minute = Math.floor(nowMs / MINUTE_MS);
    const at = minute % MINUTES;
    let of = this.#minutes[at];
    if (of === undefined || of.minute !== minute) {
      of = { minute, calls: 0, failed: 0, errors: new Map() };
      this.#minutes[at] = of;
    }
    of.calls++;
    if (error === undefined) return;
    of.failed++;
    const count = of.errors.get(error);
    if (count !== undefined || of.errors.size < MAX_ERRORS) {
      of.errors.set(error, (count ?? 0) + 1);
    }
  }

  firstToken(nowMs: number, ms: number): void {
    this.#samples[this.#nextSample] = {
      minute: Math.floor(nowMs / MINUTE_MS),
      ms,
    };
    this.#nextSample = (this.#nextSample + 1) % MAX_SAMPLES;
  }

  rate(nowMs: number): CandidateRate {
    const oldest = Math.floor(nowMs / MINUTE_MS) - MINUTES;
    let calls = 0;
    let failed = 0;
    const errors: Record<string, number> = {};
    for (const of of this.#minutes) {
      if (of === undefined || of.minute <= oldest) continue;
      calls += of.calls;
      failed += of.failed;
      for (const [error, count] of of.errors) {
        errors[error] = (errors[error] ?? 0) + count;
      }
    }
    const sorted = this.#samples.filter(({ minute }) => minute > oldest)
      .map(({ ms }) => ms).toSorted((a, b) => a - b);
    const part = (share: number): number =>
      sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ??
        0;
    return {
      calls,
      failed,
      errors,
      ...(sorted.length === 0
        ? {}
        : { firstTokenMs: { p50: part(0.5), p95: part(0.95) } }),
    };
  }
}

/** Nothing was called. */
const NONE: CandidateRate = { calls: 0, failed: 0, errors: {} };

/** Counts the attempts at all candidates of a process. */
export class CandidateRates {
  readonly #now: () => number;
  /** By model and upstream. A changed configuration may add names, a client cannot. */
  readonly #byModel = new Map<string, Map<string, Counts>>();

  /** `now` returns the Unix time in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Counts the attempts of a call that has ended. */
  record(entry: LogEntry): void {
    const { model, upstream_calls: attempts } = entry;
    if (model === undefined || attempts === undefined) return;
    const nowMs = this.#now();
    for (const [at, attempt] of attempts.entries()) {
      const counts = this.#of(model, attempt.upstream);
      const isLast = at === attempts.length - 1;
      counts.count(nowMs, isLast ? endError(entry) : attemptError(attempt));
      if (
        isLast && entry.stream === true && entry.first_token_ms !== undefined
      ) {
        counts.firstToken(
          nowMs,
          Math.max(0, Math.round(entry.first_token_ms - attempt.after_ms)),
        );
      }
    }
  }

  rate(model: string, upstream: string): CandidateRate {
    return this.#byModel.get(model)?.get(upstream)?.rate(this.#now()) ?? NONE;
  }

  /** Whether an attempt at a candidate has ended since the start. */
  wasCalled(model: string, upstream: string): boolean {
    return this.#byModel.get(model)?.has(upstream) === true;
  }

  #of(model: string, upstream: string): Counts {
    let ofModel = this.#byModel.get(model);
    if (ofModel === undefined) {
      this.#byModel.set(model, ofModel = new Map());
    }
    let counts = ofModel.get(upstream);
    if (counts === undefined) ofModel.set(upstream, counts = new Counts());
    return counts;
  }
}

/** The error of the last attempt: its own, or that of a reply which broke off. */
function endError(entry: LogEntry): string | undefined {
  const last = entry.upstream_calls?.at(-1);
  const own = last === undefined ? undefined : attemptError(last);
  if (own !== undefined) return own;
  return entry.ended === "failed" && entry.error_of === "upstream"
    ? `${entry.error ?? "upstream"} during the reply`
    : undefined;
}
