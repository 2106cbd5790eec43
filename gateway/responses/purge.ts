/**
 * Removes stored replies that expired or whose key ended, in small writes, so that neither the
 * event loop nor other writes wait long.
 *
 * @module
 */
import type { Store } from "../accounts/store/store.ts";
import type { Timer } from "../accounts/timer.ts";
import { removeEnded, SLICE } from "./reply_rows.ts";

/** Options of {@linkcode startPurge}. */
interface PurgeOptions {
  /** The store with the replies. */
  readonly store: Store;
  /** How long a reply is kept, in milliseconds. */
  readonly maxAgeMs: number;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  /** Waits between two rounds, and between two writes of a round. */
  readonly timer: Timer;
}

/** A running purge. */
interface Purge {
  /** Stops it, after the write under way. */
  stop(): Promise<void>;
}

/** Pause after a round. An expired reply is never found, even before it is removed. */
const PAUSE_MS = 60_000;
const FIRST_MS = 1_000;
/** Pause after a full write, for others that wait for the store. */
const SLICE_PAUSE_MS = 10;

/** Starts the first round a second later. A failed write is repeated in the next round. */
export function startPurge(options: PurgeOptions): Purge {
  const { store, maxAgeMs, now, timer } = options;
  let running: Promise<void> = Promise.resolve();
  let cancel = (): void => {};
  let isStopped = false;
  const slice = async (): Promise<number> => {
    const nowMs = now();
    try {
      return await store.write((sql) =>
        removeEnded(sql, store.dialect, { oldestMs: nowMs - maxAgeMs, nowMs })
      );
    } catch {
      // Not reported here: the ledger's writer already reports outages.
      return 0;
    }
  };
  const schedule = (ms: number): void => {
    if (isStopped) return;
    cancel = timer(ms, () => {
      running = slice().then((removed) =>
        schedule(removed < SLICE ? PAUSE_MS : SLICE_PAUSE_MS)
      );
    });
  };
  schedule(FIRST_MS);
  return {
    async stop() {
      isStopped = true;
      cancel();
      await running;
    },
  };
}
