import type { Timer } from "./timer.ts";

/** Work that repeats. */
export interface Rounds {
  /** Stops it, after the round under way. */
  stop(): Promise<void>;
}

/**
 * Runs rounds one after the other, the first after `firstMs` milliseconds. `round` returns the
 * pause until the next one in milliseconds, and never throws.
 */
export function startRounds(
  timer: Timer,
  firstMs: number,
  round: () => Promise<number>,
): Rounds {
  let cancel = (): void => {};
  let running: Promise<void> = Promise.resolve();
  let isStopped = false;
  const schedule = (ms: number): void => {
    if (isStopped) return;
    cancel = timer(ms, () => {
      running = round().then(schedule);
    });
  };
  schedule(firstMs);
  return {
    async stop() {
      isStopped = true;
      cancel();
      await running;
    },
  };
}
