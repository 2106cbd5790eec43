/**
 * Lets one slice of SQLite run at a time, whatever number of reports is read, and leaves the event
 * loop to calls for as long as the slice took: reports take half of it at most.
 *
 * @module
 */
import { startTimer } from "../timer.ts";

/** A longer slice is followed by no longer rest. */
const MAX_REST_MS = 20;
/** A shorter rest is none: timers are no finer. */
const MIN_REST_MS = 1;

/** The turns of one event loop. `now` is a clock in milliseconds. */
export class SliceTurns {
  readonly #now: () => number;
  #last: Promise<unknown> = Promise.resolve();
  #restUntilMs = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Runs a slice after all that were given before, and after the rest that follows each. */
  run<T>(slice: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(() => this.#runNow(slice));
    this.#last = mine.catch(() => {});
    return mine;
  }

  async #runNow<T>(slice: () => Promise<T>): Promise<T> {
    const restMs = this.#restUntilMs - this.#now();
    if (restMs >= MIN_REST_MS) {
      await new Promise<void>((resolve) => startTimer(restMs, resolve));
    }
    const startedMs = this.#now();
    try {
      return await slice();
    } finally {
      const endedMs = this.#now();
      this.#restUntilMs = endedMs + Math.min(endedMs - startedMs, MAX_REST_MS);
    }
  }
}
