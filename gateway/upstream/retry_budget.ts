/**
 * How many further attempts a model's calls may make together: a share of the calls, and a few beside. When an upstream is
 * down, retries would otherwise multiply the calls that it cannot answer anyway.
 *
 * @module
 */

/** What each call pays in: one in five may be tried again. */
export const RETRY_SHARE = 0.2;
/** Most that is saved up; also what there is at the start. */
export const MOST_SAVED = 10;
/** Paid in with time, so that a model that is seldom called can be tried again. */
const PER_SECOND = 0.1;

/** The budget of one model. The clock is the caller's, in milliseconds. */
export class RetryBudget {
  #saved = MOST_SAVED;
  #paidMs = 0;

  /** A call came: it pays in. */
  deposit(): void {
    this.#saved = Math.min(MOST_SAVED, this.#saved + RETRY_SHARE);
  }

  /** Pays for one further attempt; false where there is not enough. */
  withdraw(nowMs: number): boolean {
    if (this.#paidMs > 0) {
      this.#saved = Math.min(
        MOST_SAVED,
        this.#saved +
          Math.max(0, nowMs - this.#paidMs) / 1000 * PER_SECOND,
      );
    }
    this.#paidMs = nowMs;
    // Fifths do not add up exactly.
    if (this.#saved < 1 - 1e-9) return false;
    this.#saved -= 1;
    return true;
  }
}
