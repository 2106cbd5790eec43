/**
 * Time that a test moves by hand: the clock and the timers of a gateway. The upstream client keeps the system's.
 *
 * @module
 */
import type { TimerId, Timers } from "../gateway/timers.ts";

/** A clock that stands still until it is moved. */
export interface HandClock {
  /** Unix time in milliseconds. */
  readonly now: () => number;
  /** Timers that go off when the clock is moved past them. */
  readonly timers: Timers;
  /** Moves the clock, and has every timer go off that is due. */
  advance(ms: number): void;
  /** Settles with the milliseconds of a timer that is wanted, set already or later, which has not gone off. */
  timer(wanted: (ms: number) => boolean): Promise<number>;
  /** Timers that are set. */
  pending(): number;
}

/** Makes one. */
export function handClock(): HandClock {
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
        // Only the system can make an id: of a timer that never runs.
        const id = setTimeout(() => {}, 0);
        clearTimeout(id);
        set.set(id, { callback, ms, dueMs: nowMs + ms });
        for (const tell of [...waiting]) tell();
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
        const tell = (): void => {
          for (const { ms } of set.values()) {
            if (!wanted(ms)) continue;
            waiting.delete(tell);
            resolve(ms);
            return;
          }
        };
        waiting.add(tell);
        tell();
      }),
    pending: () => set.size,
  };
}
