/**
 * The time at which an event was sent, written into its text: eight characters that count microseconds, of a clock that the
 * processes of one machine share well enough. What the clocks differ by is in the direct connection's figure too, and so falls
 * out of the difference.
 *
 * @module
 */

const DIGITS = 8;
/** Longer than any run: about 11 days. */
const WRAP = 10 ** 12;

/** Microseconds that a stamp can tell. */
export function stampClock(): number {
  return Math.floor((performance.timeOrigin + performance.now()) * 1000) % WRAP;
}

/** Writes a stamp at an offset. */
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

/** Reads a stamp; undefined where none is written. */
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
  // Clocks that differ can let an event arrive before it was sent.
  return delta > WRAP / 2 ? delta - WRAP : delta;
}
