/**
 * Waiting, as something that can be passed in: tests wait without time passing.
 *
 * @module
 */
import { clearImmediate, setImmediate } from "node:timers";

/** Calls `run` after so many milliseconds, unless what it returns is called before. */
export type Timer = (ms: number, run: () => void) => () => void;

/** The platform's own. No wait at all is still behind what has come in the present turn of the event loop. */
export function startTimer(ms: number, run: () => void): () => void {
  if (ms === 0) {
    const soon = setImmediate(run);
    return () => clearImmediate(soon);
  }
  const id = setTimeout(run, ms);
  return () => clearTimeout(id);
}
