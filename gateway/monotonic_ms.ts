/**
 * The monotonic clock, for what is asked many times a call and for each event of a stream.
 */

let monotonic = 0;
/** The platform's time when `monotonic` was read. */
let readAtMs = -1;

/**
 * Milliseconds since some moment; never goes back. Exact to the millisecond of the platform's time,
 * which costs half as much to read as `performance.now()`.
 */
export function monotonicMs(): number {
  const nowMs = Date.now();
  if (nowMs !== readAtMs) {
    readAtMs = nowMs;
    monotonic = performance.now();
  }
  return monotonic;
}
