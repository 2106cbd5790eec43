/**
 * The time of a store: of the Postgres server, or of the file system that holds the SQLite file.
 * All processes on a store date their calls by it, so that a wrong clock in one of them neither
 * fills nor opens the limits of a day, week or month.
 *
 * Between two readings the time advances with the platform's monotonic clock, which no clock change
 * moves.
 */

import { monotonicMs } from "../../monotonic_ms.ts";

/** Clocks of the process; absent: the platform's. */
export interface ProcessClocks {
  /** Unix time in milliseconds. */
  readonly now?: () => number;
  /** Milliseconds since some moment; never goes back. */
  readonly elapsed?: () => number;
}

/** Difference between a process's clock and the store's that operators are warned of. */
export const MAX_CLOCK_DIFFERENCE_MS = 5000;

/** A reading that took longer is too inexact. */
const MAX_READING_MS = 1000;

/** The store's time, as a process knows it. */
export class StoreClock {
  readonly #local: () => number;
  readonly #elapsed: () => number;
  /** The store's time when `#elapsed` was 0; undefined before the first reading. */
  #originMs: number | undefined;

  constructor(clocks: ProcessClocks = {}) {
    this.#local = clocks.now ?? Date.now;
    this.#elapsed = clocks.elapsed ?? monotonicMs;
  }

  /** Unix time in milliseconds; before the first reading that of this process. */
  now(): number {
    return this.#originMs === undefined
      ? this.#local()
      : Math.floor(this.#originMs + this.#elapsed());
  }

  /** Milliseconds by which the clock of this process is ahead of the store's; negative: behind. */
  aheadMs(): number {
    return this.#local() - this.now();
  }

  /**
   * Reads the store's time by `read`, exact to `precisionMs`. The known time moves no more than the
   * reading requires. A reading that took too long is left out, unless it is the first.
   */
  async read(
    read: () => Promise<number>,
    precisionMs: number = 0,
  ): Promise<void> {
    const startMs = this.#elapsed();
    const storeMs = await read();
    const tookMs = this.#elapsed() - startMs;
    if (tookMs > MAX_READING_MS && this.#originMs !== undefined) return;
    const measuredMs = storeMs - startMs - tookMs / 2;
    const errorMs = precisionMs + tookMs / 2;
    const knownMs = this.#originMs ?? this.#local() - this.#elapsed();
    this.#originMs = Math.min(
      Math.max(knownMs, measuredMs - errorMs),
      measuredMs + errorMs,
    );
  }
}
