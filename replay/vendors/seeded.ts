/** Deterministic pseudo-random values: ids, padding, obfuscation. */

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Returns the next pseudo-random integer from 0 to `below` - 1. */
export type SeededRandom = (below: number) => number;

/** A generator whose seed is the hash of a text. */
export function seededRandom(text: string): SeededRandom {
  // FNV-1a hashes the seed, mulberry32 generates: small, and not cryptographic.
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

/** Random letters and digits, as in vendors' ids. */
export function letters(seeded: SeededRandom, count: number): string {
  let text = "";
  for (let at = 0; at < count; at++) text += BASE62[seeded(62)];
  return text;
}
