/**
 * Waiting, as something that can be passed in: tests wait without time passing.
 *
 * @module
 */

/** Calls `run` after so many milliseconds, unless what it returns is called before. */
export type Timer = (ms: number, run: () => void) => () => void;

/** The platform's own. */
export function startTimer(ms: number, run: () => void): () => void {
  const id = setTimeout(run, ms);
  return () => clearTimeout(id);
}
