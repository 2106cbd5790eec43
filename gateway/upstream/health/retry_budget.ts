/**
 * Limits the retries of a model's calls at candidates that have failed to a share of the calls plus
 * a small reserve. Without it, retries would multiply the load on an upstream that is down.
 */

/** Deposit of each call: one retry per five calls. */
export const DEPOSIT_PER_CALL = 0.2;
/** Maximum balance, and the initial one. */
export const MAX_BALANCE = 10;
/** Deposit per second, so that a rarely called model can be retried. */
const DEPOSIT_PER_SECOND = 0.1;

/** The retry budget of one model. Callers pass the time in milliseconds. */
export class RetryBudget {
  #balance = MAX_BALANCE;
  #lastWithdrawalMs = 0;

  /** Deposits the share of one call. */
  deposit(): void {
    this.#balance = Math.min(MAX_BALANCE, this.#balance + DEPOSIT_PER_CALL);
  }

  /** Withdraws one retry; false if the balance is too low. */
  withdraw(nowMs: number): boolean {
    if (this.#lastWithdrawalMs > 0) {
      this.#balance = Math.min(
        MAX_BALANCE,
        this.#balance +
          Math.max(0, nowMs - this.#lastWithdrawalMs) / 1000 *
            DEPOSIT_PER_SECOND,
      );
    }
    this.#lastWithdrawalMs = nowMs;
    // Tolerates the rounding of fractional deposits.
    if (this.#balance < 1 - 1e-9) return false;
    this.#balance -= 1;
    return true;
  }
}
