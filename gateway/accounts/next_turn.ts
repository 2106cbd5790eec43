/**
 * Resolves in a later turn of the event loop, after sockets were read. A timer of 0 takes about a
 * millisecond; an immediate would take none, and Deno polls sockets only every 61st time then.
 * SQLite's queries run on the event loop, so awaiting one lets no timer or socket run.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
}
