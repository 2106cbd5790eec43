/**
 * Removes stored replies that expired or whose key ended, in small writes, so that neither the
 * event loop nor other writes wait long.
 */
import type { Store } from "../accounts/store/store.ts";
import { type Rounds, startRounds } from "../accounts/rounds.ts";
import type { Timer } from "../accounts/timer.ts";
import { removeEnded, SLICE } from "./reply_rows.ts";
import { removeLooseParts } from "./stored_parts.ts";

interface PurgeOptions {
  readonly store: Store;
  /** How long a reply is kept, in milliseconds. */
  readonly maxAgeMs: number;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  /** Waits between two rounds, and between two writes of a round. */
  readonly timer: Timer;
}

/** Pause after a round. An expired reply is never found, even before it is removed. */
const PAUSE_MS = 60_000;
const FIRST_MS = 1_000;
/** Pause after a full write, for others that wait for the store. */
const SLICE_PAUSE_MS = 10;

/** Starts the first round a second later. A failed write is repeated in the next round. */
export function startPurge(options: PurgeOptions): Rounds {
  const { store, maxAgeMs, now, timer } = options;
  const slice = async (): Promise<number> => {
    const nowMs = now();
    try {
      return await store.write(async (sql) => {
        const rows = await removeEnded(sql, store.dialect, {
          oldestMs: nowMs - maxAgeMs,
          nowMs,
        });
        return await removeLooseParts(sql, nowMs) ? SLICE : rows;
      });
    } catch {
      // Not reported here: the ledger's writer already reports outages.
      return 0;
    }
  };
  return startRounds(
    timer,
    FIRST_MS,
    async () => await slice() < SLICE ? PAUSE_MS : SLICE_PAUSE_MS,
  );
}
