/**
 * What is known of a candidate's health: a circuit breaker, and the rest that an upstream asked for. Nothing is refused here:
 * `choose.ts` asks, and passes over a candidate that is out as long as there is another.
 *
 * The breaker opens after some failures in a row, or when too large a share of the last calls failed. After a pause, which
 * doubles with every opening, one call is let through as a probe: its answer closes the breaker, its failure opens it again.
 * The clock is the caller's, in milliseconds; every step costs the same however many calls there were.
 *
 * @module
 */

/** `half_open`: the pause is over, and a probe decides. */
export type BreakerState = "closed" | "open" | "half_open";

/** Failures in a row that open the breaker. */
export const FAILURES_IN_A_ROW = 5;
/** Share of failed calls that opens it, in one window with at least so many calls. */
const FAILURE_SHARE = 0.5;
const LEAST_CALLS = 20;
const WINDOW_MS = 30_000;
/** The first pause, and the longest. */
export const FIRST_PAUSE_MS = 5_000;
/** See {@linkcode FIRST_PAUSE_MS}. */
export const LONGEST_PAUSE_MS = 300_000;
/** However long an upstream asks to be left alone. */
const LONGEST_REST_MS = 3_600_000;
/** Where it does not say how long: this, doubled with each time in a row, up to a minute. */
export const FIRST_REST_MS = 1_000;
const LONGEST_UNASKED_REST_MS = 60_000;

/** A candidate's health. A call that was entered ends in exactly one of
 * `succeeded`, `failed` and `left`. */
export class Breaker {
  /** Unix time; 0: closed. Past: half-open. */
  #openUntilMs = 0;
  #restUntilMs = 0;
  #rests = 0;
  #probing = false;
  #openings = 0;
  #inARow = 0;
  #windowFromMs = 0;
  #calls = 0;
  #failures = 0;
  #sinceMs = 0;

  /** What the breaker is at a time. */
  state(nowMs: number): BreakerState {
    if (this.#openUntilMs === 0) return "closed";
    return nowMs < this.#openUntilMs ? "open" : "half_open";
  }

  /** When the state began; 0 where it has never changed. */
  sinceMs(nowMs: number): number {
    return this.state(nowMs) === "half_open"
      ? this.#openUntilMs
      : this.#sinceMs;
  }

  /** Until when the candidate is left alone because it asked for that; undefined where it is not. */
  restingUntilMs(nowMs: number): number | undefined {
    return nowMs < this.#restUntilMs ? this.#restUntilMs : undefined;
  }

  /** Whether a call may go there while there are others to go to. */
  admits(nowMs: number): boolean {
    if (nowMs < this.#restUntilMs) return false;
    return this.#openUntilMs === 0 ||
      (nowMs >= this.#openUntilMs && !this.#probing);
  }

  /** When it is worth another call, as far as is known now; not later than the present for one that admits calls. */
  backAtMs(): number {
    return Math.max(this.#openUntilMs, this.#restUntilMs);
  }

  /** A call goes there. True: it is the probe, and must say so when it leaves. */
  enter(nowMs: number): boolean {
    if (this.#probing || this.state(nowMs) !== "half_open") return false;
    this.#probing = true;
    return true;
  }

  /** An answer has begun: that ends the doubt, and is not yet a success. */
  answered(nowMs: number): void {
    if (this.#openUntilMs !== 0) this.#close(nowMs);
  }

  /** An answer was whole. */
  succeeded(nowMs: number): void {
    this.answered(nowMs);
    this.#inARow = 0;
    this.#openings = 0;
    this.#rests = 0;
    this.#count(nowMs);
  }

  /** The upstream failed, before its answer or in the middle of it. */
  failed(nowMs: number): void {
    const state = this.state(nowMs);
    // Calls from before the opening that fail now tell nothing new.
    if (state === "open") return;
    if (state === "half_open") return this.#open(nowMs);
    this.#inARow++;
    this.#count(nowMs);
    this.#failures++;
    if (
      this.#inARow >= FAILURES_IN_A_ROW ||
      (this.#calls >= LEAST_CALLS &&
        this.#failures >= this.#calls * FAILURE_SHARE)
    ) this.#open(nowMs);
  }

  /**
   * The upstream says that it is called too often: no failure, and no proof that it works. It is left alone for as long as it
   * asks; undefined: it does not say.
   */
  rest(nowMs: number, askedMs: number | undefined): void {
    const forMs = askedMs ??
      Math.min(FIRST_REST_MS * 2 ** this.#rests, LONGEST_UNASKED_REST_MS);
    this.#rests++;
    this.#restUntilMs = Math.max(
      this.#restUntilMs,
      nowMs + Math.min(forMs, LONGEST_REST_MS),
    );
  }

  /** The call ended in a way that tells nothing: its caller left, or the request was wrong. */
  left(wasProbe: boolean): void {
    if (wasProbe) this.#probing = false;
  }

  #count(nowMs: number): void {
    if (nowMs - this.#windowFromMs >= WINDOW_MS) {
      this.#windowFromMs = nowMs;
      this.#calls = 0;
      this.#failures = 0;
    }
    this.#calls++;
  }

  #open(nowMs: number): void {
    this.#openUntilMs = nowMs +
      Math.min(FIRST_PAUSE_MS * 2 ** this.#openings, LONGEST_PAUSE_MS);
    this.#openings++;
    this.#begin(nowMs);
  }

  #close(nowMs: number): void {
    this.#openUntilMs = 0;
    this.#begin(nowMs);
  }

  #begin(nowMs: number): void {
    this.#sinceMs = nowMs;
    this.#probing = false;
    this.#inARow = 0;
    this.#calls = 0;
    this.#failures = 0;
    this.#windowFromMs = nowMs;
  }
}
