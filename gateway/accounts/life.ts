/**
 * What runs beside the requests: this process gives signs of life, and settles what processes without one left open.
 *
 * @module
 */
import { recover } from "./recovery.ts";
import type { Store } from "./store.ts";
import type { Timer } from "./timer.ts";

/** What a life needs. */
export interface LifeOptions {
  /** Where signs of life are given and looked for. */
  readonly store: Store;
  /** Names this process. */
  readonly ownerId: string;
  /** The clock. */
  readonly now: () => number;
  /** How to wait. */
  readonly timer: Timer;
  /** How often, in milliseconds. */
  readonly beatMs: number;
  /** Told of calls that were settled for the dead. */
  readonly onRecovered: (calls: number) => void;
  /** Told of a round that failed. The next one comes all the same. */
  readonly onFailed: (error: unknown) => void;
}

/** A life under way. */
export interface Life {
  /** Ends it. Where nothing is open any more, nobody needs to look after this process later. */
  end(): Promise<void>;
}

/**
 * Begins: what the dead left open is settled before this resolves.
 *
 * @throws {Error} when the store does not answer
 */
export async function beginLife(options: LifeOptions): Promise<Life> {
  const { store, ownerId, now } = options;
  let cancel: () => void = () => {};
  let running: Promise<void> = Promise.resolve();
  let ended = false;
  const round = async (): Promise<void> => {
    await store.liveness.beat(ownerId);
    const calls = await recover(store, ownerId, now());
    if (calls > 0) options.onRecovered(calls);
  };
  const next = (): void => {
    if (ended) return;
    cancel = options.timer(options.beatMs, () => {
      running = round().catch(options.onFailed).finally(next);
    });
  };
  await store.liveness.enlist(ownerId);
  await round();
  next();
  return {
    async end() {
      ended = true;
      cancel();
      await running;
      try {
        const open = await store.read(
          "SELECT request_id FROM reservations WHERE owner_id = $1 LIMIT 1",
          [ownerId],
        );
        if (open.length === 0) await store.liveness.strike(ownerId);
      } catch (error) {
        options.onFailed(error);
      }
    },
  };
}
