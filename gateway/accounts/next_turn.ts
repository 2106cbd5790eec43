import { startTimer } from "./timer.ts";

/**
 * Resolves after the events that are already queued. SQLite's queries run on the event loop, so
 * awaiting one lets no timer or socket run.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    startTimer(0, resolve);
  });
}
