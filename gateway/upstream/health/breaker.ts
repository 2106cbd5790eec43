/**
 * The health of a candidate: a circuit breaker, and a cooldown that the upstream asked for. The
 * breaker refuses no call itself: `load_balancer.ts` avoids an unhealthy candidate while there is
 * another.
 *
 * The breaker opens after a number of consecutive failures, or if too large a share of the recent
 * calls failed. After a pause, which doubles with every opening, one call is let through as a
 * probe: its reply closes the breaker, its failure opens it again. Callers pass the time in
 * milliseconds; every operation takes constant time and memory.
 */

/** `half_open`: the pause has ended, and a probe decides. */
export type BreakerState = "closed" | "open" | "half_open";

export const CONSECUTIVE_FAILURES = 5;
/**
 * Share of failed calls in one window that opens the breaker, if the window has at least
 * `MIN_CALLS` calls.
 */
const FAILURE_SHARE = 0.5;
const MIN_CALLS = 20;
const WINDOW_MS = 30_000;
/** The first pause; doubled with every opening up to {@linkcode MAX_PAUSE_MS}. */
export const FIRST_PAUSE_MS = 5_000;
/** The longest pause. */
export const MAX_PAUSE_MS = 300_000;
/** Upper limit of a cooldown, whatever the upstream asks for. */
const MAX_COOLDOWN_MS = 3_600_000;
/** Cooldown if the upstream names no duration; doubled each consecutive time, up to a minute. */
export const FIRST_COOLDOWN_MS = 1_000;
const MAX_DEFAULT_COOLDOWN_MS = 60_000;

/** The last call with a result refused what belongs to the operator, such as the credential. */
interface OperatorRefusal {
  /** Unix time in milliseconds of the first one in a row. */
  readonly sinceMs: number;
  /** The upstream's words. Contains no secret. */
  readonly reason: string;
}

/**
 * A candidate's health. Every call passed to `startCall` ends with exactly one of
 * `succeeded`, `failed` and `endedWithoutResult`.
 */
export class Breaker {
  /** Unix time; 0: closed. A past time: half-open. */
  #openUntilMs = 0;
  #cooldownUntilMs = 0;
  #cooldowns = 0;
  #probing = false;
  #openings = 0;
  #consecutiveFailures = 0;
  #windowFromMs = 0;
  #calls = 0;
  #failures = 0;
  #sinceMs = 0;
  #refusal: OperatorRefusal | undefined;

  /** The breaker's state at a time. */
  state(nowMs: number): BreakerState {
    this.#bound(nowMs);
    if (this.#openUntilMs === 0) return "closed";
    return nowMs < this.#openUntilMs ? "open" : "half_open";
  }

  /** When the state began; 0 if it has never changed. */
  sinceMs(nowMs: number): number {
    return this.state(nowMs) === "half_open"
      ? this.#openUntilMs
      : this.#sinceMs;
  }

  /** End of the cooldown that the upstream asked for; undefined if there is none. */
  coolingDownUntilMs(nowMs: number): number | undefined {
    this.#bound(nowMs);
    return nowMs < this.#cooldownUntilMs ? this.#cooldownUntilMs : undefined;
  }

  /** Whether a call may use the candidate while there are others. */
  admits(nowMs: number): boolean {
    this.#bound(nowMs);
    if (nowMs < this.#cooldownUntilMs) return false;
    return this.#openUntilMs === 0 ||
      (nowMs >= this.#openUntilMs && !this.#probing);
  }

  /**
   * Earliest time at which the candidate admits calls again, as far as known now; in the past for
   * one that admits calls.
   */
  availableAtMs(): number {
    return Math.max(this.#openUntilMs, this.#cooldownUntilMs);
  }

  /**
   * A call begins at the candidate. True: it is the probe, and must be passed to
   * `endedWithoutResult` if its outcome is unknown.
   */
  startCall(nowMs: number): boolean {
    if (this.#probing || this.state(nowMs) !== "half_open") return false;
    this.#probing = true;
    return true;
  }

  /** The last refusal of what belongs to the operator; undefined once a reply has begun since. */
  get refusal(): OperatorRefusal | undefined {
    return this.#refusal;
  }

  /** The upstream refused what belongs to the operator. */
  refused(nowMs: number, reason: string): void {
    this.#refusal = { sinceMs: this.#refusal?.sinceMs ?? nowMs, reason };
  }

  /** A reply has begun: closes the breaker, but does not count as a success yet. */
  replyStarted(nowMs: number): void {
    this.#refusal = undefined;
    if (this.#openUntilMs !== 0) this.#close(nowMs);
  }

  /** A reply was complete. */
  succeeded(nowMs: number): void {
    this.replyStarted(nowMs);
    this.#consecutiveFailures = 0;
    this.#openings = 0;
    this.#cooldowns = 0;
    this.#count(nowMs);
  }

  /** The upstream failed, before or during its reply. */
  failed(nowMs: number): void {
    const state = this.state(nowMs);
    // Late failures of calls from before the opening are no new evidence.
    if (state === "open") return;
    if (state === "half_open") return this.#open(nowMs);
    this.#consecutiveFailures++;
    this.#count(nowMs);
    this.#failures++;
    if (
      this.#consecutiveFailures >= CONSECUTIVE_FAILURES ||
      (this.#calls >= MIN_CALLS &&
        this.#failures >= this.#calls * FAILURE_SHARE)
    ) this.#open(nowMs);
  }

  /**
   * The upstream reports a rate limit: neither a failure nor a success. Starts a cooldown of
   * `askedMs`, or of a default if the upstream names no duration.
   */
  coolDown(nowMs: number, askedMs: number | undefined): void {
    const durationMs = askedMs ??
      Math.min(
        FIRST_COOLDOWN_MS * 2 ** this.#cooldowns,
        MAX_DEFAULT_COOLDOWN_MS,
      );
    this.#cooldowns++;
    this.#cooldownUntilMs = Math.max(
      this.#cooldownUntilMs,
      nowMs + Math.min(durationMs, MAX_COOLDOWN_MS),
    );
  }

  /**
   * The call ended without evidence about the upstream: its client disconnected, or the request was
   * wrong.
   */
  endedWithoutResult(wasProbe: boolean): void {
    if (wasProbe) this.#probing = false;
  }

  /** A clock that was set back leaves the old times far ahead. */
  #bound(nowMs: number): void {
    if (this.#openUntilMs > nowMs + MAX_PAUSE_MS) {
      this.#openUntilMs = nowMs + MAX_PAUSE_MS;
    }
    if (this.#cooldownUntilMs > nowMs + MAX_COOLDOWN_MS) {
      this.#cooldownUntilMs = nowMs + MAX_COOLDOWN_MS;
    }
  }

  #count(nowMs: number): void {
    if (Math.abs(nowMs - this.#windowFromMs) >= WINDOW_MS) {
      this.#windowFromMs = nowMs;
      this.#calls = 0;
      this.#failures = 0;
    }
    this.#calls++;
  }

  #open(nowMs: number): void {
    this.#openUntilMs = nowMs +
      Math.min(FIRST_PAUSE_MS * 2 ** this.#openings, MAX_PAUSE_MS);
    this.#openings++;
    this.#resetAt(nowMs);
  }

  #close(nowMs: number): void {
    this.#openUntilMs = 0;
    this.#resetAt(nowMs);
  }

  #resetAt(nowMs: number): void {
    this.#sinceMs = nowMs;
    this.#probing = false;
    this.#consecutiveFailures = 0;
    this.#calls = 0;
    this.#failures = 0;
    this.#windowFromMs = nowMs;
  }
}
