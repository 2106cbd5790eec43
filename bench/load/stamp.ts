/**
 * The time at which an event is sent, written into its text as eight base-36 digits of
 * microseconds. Sender and receiver use the wall clock of the same machine. A remaining offset
 * between their clocks is also in the figure of the direct connection, so it cancels out in the
 * difference.
 */

const DIGITS = 8;
/** About 11 days in microseconds: longer than any run, and at most eight base-36 digits. */
const WRAP = 10 ** 12;

/** The current time in microseconds, modulo the range of a stamp. */
export function stampClock(): number {
  return Math.floor((performance.timeOrigin + performance.now()) * 1000) % WRAP;
}

/** Writes a stamp into `bytes` at an offset. */
export function writeStamp(
  bytes: Uint8Array,
  offset: number,
  micros: number,
): void {
  let rest = micros;
  for (let at = offset + DIGITS - 1; at >= offset; at--) {
    const digit = rest % 36;
    rest = (rest - digit) / 36;
    bytes[at] = digit < 10 ? 48 + digit : 87 + digit;
  }
}

/** Reads the stamp at an offset; undefined when there is none. */
export function readStamp(
  bytes: Uint8Array,
  offset: number,
): number | undefined {
  let micros = 0;
  for (let at = offset; at < offset + DIGITS; at++) {
    const code = bytes[at] ?? 0;
    const digit = code >= 97 && code <= 122
      ? code - 87
      : code >= 48 && code <= 57
      ? code - 48
      : undefined;
    if (digit === undefined) return undefined;
    micros = micros * 36 + digit;
  }
  return micros;
}

/** Microseconds from one stamp to a later one. */
export function stampDelta(from: number, to: number): number {
  const delta = (to - from + WRAP) % WRAP;
  // Negative when the clocks differ by more than the delay.
  return delta > WRAP / 2 ? delta - WRAP : delta;
}
