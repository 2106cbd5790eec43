/**
 * Limits the reports that are read at the same time, apart from the slots of calls: a report reads
 * very much of the store, and a key may ask for as many as it likes.
 *
 * @module
 */
import { ApiError } from "../../translate/model/error.ts";

/** Reports of one credential at a time. */
const PER_CREDENTIAL = 4;
/** Reports of all credentials of this process at a time. */
const PER_PROCESS = 16;
const RETRY_SECONDS = 1;

/** The slots of one process. */
export class ReportSlots {
  readonly #running = new Map<string, number>();
  #total = 0;

  /**
   * Reads a report of a credential.
   *
   * @throws {ApiError} `rate_limit` if too many reports are being read
   */
  async run<T>(credential: string, read: () => T | Promise<T>): Promise<T> {
    const own = this.#running.get(credential) ?? 0;
    if (own >= PER_CREDENTIAL) {
      throw refusal(`this credential is reading ${own} reports`);
    }
    if (this.#total >= PER_PROCESS) {
      throw refusal("the gateway has reached its limit of reports at a time");
    }
    this.#running.set(credential, own + 1);
    this.#total++;
    try {
      return await read();
    } finally {
      this.#total--;
      const left = (this.#running.get(credential) ?? 1) - 1;
      if (left === 0) this.#running.delete(credential);
      else this.#running.set(credential, left);
    }
  }
}

function refusal(problem: string): ApiError {
  return new ApiError("rate_limit", `${problem}; try again`, {
    code: "concurrent_reports",
    retryAfterSeconds: RETRY_SECONDS,
  });
}
