/**
 * Keeps keys out of the records: every byte that the recorder keeps passes through here first. A
 * mask has the length of the key, so that positions and lengths in the record stay true, and it
 * shows that a key was there.
 */
import { Buffer } from "node:buffer";

/** The beginning of every mask; a record that contains it contained a key. */
export const KEY_MASK = "{{KEY";

/** Offset at which the part of a key begins that is hidden separately. */
const TAIL_FROM = 6;

/** The secrets of one run. */
export class Redaction {
  readonly #masks = new Map<string, string>();
  /** The masks, those of longer secrets first; undefined after a change. */
  #sorted: readonly (readonly [secret: string, mask: string])[] | undefined;

  /**
   * Hides a text, variants of it in other letter case, and its end. The end identifies a key even
   * when a foreign character after its first few is encoded in any way. `fill` fills the mask: a
   * different one shows that a text derived from the key (`~`), the other key (`+`) or the
   * upstream's (`^`) was there.
   */
  hide(secret: string, fill: "*" | "~" | "+" | "^" = "*"): void {
    if (secret.length < 8) return;
    const tail = secret.length < 2 * TAIL_FROM + 4
      ? []
      : [secret.slice(TAIL_FROM)];
    for (const part of [secret, ...tail]) {
      const mask = `${KEY_MASK.padEnd(part.length - 2, fill)}}}`;
      for (const form of [part, part.toUpperCase(), part.toLowerCase()]) {
        if (!this.#masks.has(form)) this.#masks.set(form, mask);
        this.#sorted = undefined;
      }
    }
  }

  /** The text with every secret masked. */
  text(text: string): string {
    let clean = text;
    this.#sorted ??= [...this.#masks].sort(([a], [b]) => b.length - a.length);
    for (const [secret, mask] of this.#sorted) {
      if (clean.includes(secret)) clean = clean.replaceAll(secret, mask);
    }
    return clean;
  }

  /** The bytes with every secret masked; the length stays the same. */
  bytes(bytes: Uint8Array): Uint8Array {
    if (this.#masks.size === 0 || bytes.length === 0) return bytes;
    const { buffer, byteOffset, length } = bytes;
    const latin = Buffer.from(buffer, byteOffset, length).toString("latin1");
    const clean = this.text(latin);
    if (clean === latin) return bytes;
    return Uint8Array.from(clean, (character) => character.charCodeAt(0));
  }

  /**
   * Throws when a finished text still contains a secret: the last check before a report is written.
   */
  assertClean(text: string): void {
    for (const secret of this.#masks.keys()) {
      if (text.includes(secret)) {
        throw new Error("Cannot write the report: it contains a key");
      }
    }
  }
}

/** True when a recorded text contained the upstream's key. */
export function containedUpstreamKey(text: string): boolean {
  return text.includes(`${KEY_MASK}^`);
}

/** True when a recorded text contained a key. */
export function containedKey(text: string): boolean {
  return text.includes(KEY_MASK);
}
