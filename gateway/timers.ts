/**
 * Timers: passed in wherever something waits, so that tests can stand in for them.
 *
 * @module
 */

/** A timer that is set. */
export type TimerId = ReturnType<typeof setTimeout> | LongTimer;

/** Sets timers. */
export interface Timers {
  /** Calls back once after `ms` milliseconds; one of a second or more may be a tick late. */
  set(callback: () => void, ms: number): TimerId;
  /** Keeps a timer from calling back; nothing where it has. */
  clear(id: TimerId): void;
}

/** How late a long timer may be, in milliseconds. */
const TICK_MS = 100;
/** Shorter timers are the platform's own, and exact. */
const LONG_MS = 1_000;

/** A timer that shares the platform's one. */
export class LongTimer {
  /** What to call. */
  readonly callback: () => void;
  /** When, in ticks of the monotonic clock. */
  readonly due: number;

  /** Sets nothing yet. */
  constructor(callback: () => void, due: number) {
    this.callback = callback;
    this.due = due;
  }
}

/**
 * Timers of which nearly all are cleared before they go off, as limits are: setting and clearing a long one costs next to
 * nothing, because all of them share one timer of the platform's.
 */
export function gatewayTimers(): Timers {
  const byTick = new Map<number, Set<LongTimer>>();
  let count = 0;
  let platform: ReturnType<typeof setTimeout> | undefined;
  let ticked = 0;
  const nowTick = (): number => Math.floor(performance.now() / TICK_MS);
  const tick = (): void => {
    platform = undefined;
    const now = nowTick();
    const due: LongTimer[] = [];
    // In order, and none left out, however late the platform is.
    for (; ticked <= now; ticked++) {
      const timers = byTick.get(ticked);
      if (timers === undefined) continue;
      byTick.delete(ticked);
      count -= timers.size;
      due.push(...timers);
    }
    wind();
    for (const { callback } of due) callback();
  };
  const wind = (): void => {
    if (count > 0) platform ??= setTimeout(tick, TICK_MS);
  };
  return {
    set(callback, ms) {
      if (ms < LONG_MS) return setTimeout(callback, ms);
      if (count === 0) ticked = nowTick();
      const due = Math.ceil((performance.now() + ms) / TICK_MS);
      const timer = new LongTimer(callback, due);
      const timers = byTick.get(due);
      if (timers === undefined) byTick.set(due, new Set([timer]));
      else timers.add(timer);
      count++;
      wind();
      return timer;
    },
    clear(id) {
      if (!(id instanceof LongTimer)) return clearTimeout(id);
      const timers = byTick.get(id.due);
      if (timers?.delete(id) !== true) return;
      count--;
      if (timers.size === 0) byTick.delete(id.due);
      if (count > 0 || platform === undefined) return;
      clearTimeout(platform);
      platform = undefined;
    },
  };
}
