/** Values that look random and are the same for the same seed: ids, padding, obfuscation. */

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** A source of numbers; each call moves it on. */
export type Seeded = (below: number) => number;

/** Starts a source from a text. */
export function seededBy(text: string): Seeded {
  // FNV-1a for the start, mulberry32 for the steps: small, and nobody's secret.
  let state = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
  }
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Letters and digits, as in vendors' ids. */
export function letters(seeded: Seeded, count: number): string {
  let text = "";
  for (let at = 0; at < count; at++) text += BASE62[seeded(62)];
  return text;
}
