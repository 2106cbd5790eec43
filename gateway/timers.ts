/**
 * Timers, passed in so that tests can replace them.
 */
import { monotonicMs } from "./monotonic_ms.ts";

export type TimerId = ReturnType<typeof setTimeout> | LongTimer;

export interface Timers {
  /**
   * Calls back once after `ms` milliseconds; a timer of a second or more may be a tick late. Time
   * in which the process was stopped does not count for such a timer: what has arrived meanwhile is
   * read first, and may clear it.
   */
  set(callback: () => void, ms: number): TimerId;
  /** Cancels a timer; does nothing if it has fired. */
  clear(id: TimerId): void;
}

/** How late a long timer may be, in milliseconds. */
const TICK_MS = 100;
/** A tick so many ticks late follows time in which the process, or its machine, was stopped. */
const LATE_TICKS = 3;
/** Shorter timers are the platform's own, and exact. */
const LONG_MS = 1_000;

/** A timer that shares one platform timer with others. */
export class LongTimer {
  readonly callback: () => void;
  /** When to call it, in ticks of the monotonic clock. */
  readonly due: number;

  /** Creates the handle only; {@linkcode Timers.set} starts it. */
  constructor(callback: () => void, due: number) {
    this.callback = callback;
    this.due = due;
  }
}

/**
 * Creates timers that are optimized for timeouts, which are nearly always cleared before they fire:
 * all long timers share one platform timer, so setting and clearing one is cheap.
 */
export function gatewayTimers(): Timers {
  const byTick = new Map<number, Set<LongTimer>>();
  let count = 0;
  let platform: ReturnType<typeof setTimeout> | undefined;
  let nextTick = 0;
  let isPutOff = false;
  let skippedTicks = 0;
  const nowTick = (): number =>
    Math.floor(monotonicMs() / TICK_MS) - skippedTicks;
  const tick = (): void => {
    platform = undefined;
    const now = nowTick();
    const late = now - nextTick;
    // Not twice in a row, so that time goes on where every turn of the event loop is long.
    isPutOff = !isPutOff && late > LATE_TICKS;
    if (isPutOff) {
      skippedTicks += late;
      return arm();
    }
    const due: LongTimer[] = [];
    // Visits every tick in order, however late the platform fires.
    for (; nextTick <= now; nextTick++) {
      const timers = byTick.get(nextTick);
      if (timers === undefined) continue;
      byTick.delete(nextTick);
      count -= timers.size;
      due.push(...timers);
    }
    arm();
    for (const { callback } of due) callback();
  };
  const arm = (): void => {
    if (count > 0) platform ??= setTimeout(tick, TICK_MS);
  };
  return {
    set(callback, ms) {
      if (ms < LONG_MS) return setTimeout(callback, ms);
      if (count === 0) nextTick = nowTick();
      const due = Math.ceil((monotonicMs() + ms) / TICK_MS) - skippedTicks;
      const timer = new LongTimer(callback, due);
      const timers = byTick.get(due);
      if (timers === undefined) byTick.set(due, new Set([timer]));
      else timers.add(timer);
      count++;
      arm();
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
