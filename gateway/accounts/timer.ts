/**
 * Timers behind an interface, so that tests can control them.
 */
import { clearImmediate, setImmediate } from "node:timers";

/** Calls `run` after `ms` milliseconds, unless the returned function cancels it first. */
export type Timer = (ms: number, run: () => void) => () => void;

/**
 * The platform's timer. A wait of 0 runs after the events that are already queued in this
 * turn of the event loop.
 */
export function startTimer(ms: number, run: () => void): () => void {
  if (ms === 0) {
    const soon = setImmediate(run);
    return () => clearImmediate(soon);
  }
  const id = setTimeout(run, ms);
  return () => clearTimeout(id);
}
