/**
 * Keys never enter the record: every byte that the recorder keeps passes through here first. A masked key keeps its
 * length, so that positions and lengths in the record stay true, and it stays visible that a key was there.
 */

/** What every mask begins with; a record that holds it held a key. */
export const KEY_MASK = "{{KEY";

/** The end of a key, which is hidden by itself, begins here. */
const TAIL_FROM = 6;

/** The secrets of one run. */
export class Redaction {
  readonly #masks = new Map<string, string>();

  /**
   * Hides a text, forms of it that differ in letter case, and its end: a key with a foreign character after its first few
   * is told by its end in whatever way that character is written. `fill` fills the mask: another one than for the key
   * itself shows that something made from it was there.
   */
  hide(secret: string, fill: "*" | "~" = "*"): void {
    if (secret.length < 8) return;
    const tail = secret.length < 2 * TAIL_FROM + 4
      ? []
      : [secret.slice(TAIL_FROM)];
    for (const part of [secret, ...tail]) {
      const mask = `${KEY_MASK.padEnd(part.length - 2, fill)}}}`;
      for (const form of [part, part.toUpperCase(), part.toLowerCase()]) {
        if (!this.#masks.has(form)) this.#masks.set(form, mask);
      }
    }
  }

  /** The text with every secret masked. */
  text(text: string): string {
    let clean = text;
    for (const [secret, mask] of this.#byLength()) {
      if (clean.includes(secret)) clean = clean.replaceAll(secret, mask);
    }
    return clean;
  }

  /** The bytes with every secret masked; the length stays. */
  bytes(bytes: Uint8Array): Uint8Array {
    if (this.#masks.size === 0 || bytes.length === 0) return bytes;
    const latin = latin1(bytes);
    const clean = this.text(latin);
    if (clean === latin) return bytes;
    return Uint8Array.from(clean, (character) => character.charCodeAt(0));
  }

  /** Fails when a finished text still holds a secret: the last look before a report is written. */
  assertClean(text: string): void {
    for (const secret of this.#masks.keys()) {
      if (text.includes(secret)) {
        throw new Error("Cannot write the report: it holds a key");
      }
    }
  }

  #byLength(): [string, string][] {
    return [...this.#masks].sort(([a], [b]) => b.length - a.length);
  }
}

/** True when a recorded text held a key. */
export function heldKey(text: string): boolean {
  return text.includes(KEY_MASK);
}

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return text;
}
