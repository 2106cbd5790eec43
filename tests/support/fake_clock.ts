/**
 * A clock that tests advance by hand: it replaces the gateway's clock and timers. The upstream HTTP
 * client keeps the system's timers.
 */
import type { TimerId, Timers } from "../../gateway/timers.ts";

/** A clock that stops until a test advances it. */
export interface FakeClock {
  /** Unix time in milliseconds. */
  readonly now: () => number;
  readonly timers: Timers;
  /** Advances the clock and fires every timer that is due. */
  advance(ms: number): void;
  /**
   * Resolves, now or later, once a timer is set whose delay `wanted` accepts and that has not
   * fired.
   */
  timer(wanted: (ms: number) => boolean): Promise<number>;
  pending(): number;
}

export function fakeClock(): FakeClock {
  let nowMs = 1_800_000_000_000;
  const set = new Map<
    TimerId,
    { readonly dueMs: number; readonly ms: number; callback(): void }
  >();
  const waiting = new Set<() => void>();
  return {
    now: () => nowMs,
    timers: {
      set(callback, ms) {
        // Only the system creates timer ids: take one from a timer that never runs.
        const id = setTimeout(() => {}, 0);
        clearTimeout(id);
        set.set(id, { callback, ms, dueMs: nowMs + ms });
        for (const check of [...waiting]) check();
        return id;
      },
      clear(id) {
        set.delete(id);
      },
    },
    advance(ms) {
      nowMs += ms;
      for (const [id, timer] of [...set]) {
        if (timer.dueMs > nowMs || !set.delete(id)) continue;
        timer.callback();
      }
    },
    timer: (wanted) =>
      new Promise((resolve) => {
        const check = (): void => {
          for (const { ms } of set.values()) {
            if (!wanted(ms)) continue;
            waiting.delete(check);
            resolve(ms);
            return;
          }
        };
        waiting.add(check);
        check();
      }),
    pending: () => set.size,
  };
}
