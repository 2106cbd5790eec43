/**
 * Lets other events run between two slices of work.
 *
 * @module
 */
import { startTimer } from "./timer.ts";

/**
 * Resolves after the events that are already queued. A query of SQLite runs on the event
 * loop, and awaiting it alone lets no timer or socket in between.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    startTimer(0, resolve);
  });
}
