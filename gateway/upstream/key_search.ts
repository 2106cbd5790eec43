/**
 * Finds a vendor's keys in bytes, as they are and as programs write them in other forms. All forms
 * are searched for in one pass that skips most bytes (Wu and Manber, 1994).
 */
import { Buffer } from "node:buffer";
import { base64Cores } from "../../translate/errors/secret_pattern.ts";

/** A shorter key, or form of one, may occur by chance. */
const MIN_CHARS = 16;
/** Two bytes are hashed to 12 bits. */
const TABLE_SIZE = 4096;
/** Searches are made once for each set of keys; there are few. */
const MAX_KNOWN = 200;
const KNOWN = new Map<string, KeySearch | undefined>();

/** Where a form of a key is. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** The search for keys; undefined where none is long enough to be searched for. */
export function keySearch(keys: readonly string[]): KeySearch | undefined {
  const id = keys.join("\n");
  if (KNOWN.has(id)) return KNOWN.get(id);
  const forms = [...new Set(keys.flatMap(formsOf))];
  const search = forms.length === 0
    ? undefined
    : new KeySearch(forms.map((form) => Buffer.from(form)));
  if (KNOWN.size >= MAX_KNOWN) KNOWN.clear();
  KNOWN.set(id, search);
  return search;
}

/** The key in every form that is searched for; none of a short one. */
function formsOf(key: string): readonly string[] {
  if (key.length < MIN_CHARS) return [];
  const bytes = [...Buffer.from(key)].map((byte) =>
    byte.toString(16).padStart(2, "0")
  );
  const hex = bytes.join("");
  const chars = [...key];
  const each = (write: (char: string) => string): string =>
    chars.map(write).join("");
  const codeOf = (char: string): number => char.codePointAt(0) ?? 0;
  const base64 = base64Cores(key);
  return [
    key,
    key.toUpperCase(),
    key.toLowerCase(),
    chars.toReversed().join(""),
    chars.join(" "),
    hex,
    hex.toUpperCase(),
    bytes.join(" "),
    bytes.join(":"),
    `\\x${bytes.join("\\x")}`,
    ...base64,
    ...base64.map((core) => core.replaceAll("+", "-").replaceAll("/", "_")),
    encodeURIComponent(key.toWellFormed()),
    `%${bytes.join("%")}`,
    `%${bytes.join("%").toUpperCase()}`,
    JSON.stringify(key).slice(1, -1),
    each((char) => `\\u${codeOf(char).toString(16).padStart(4, "0")}`),
    each((char) => `&#${codeOf(char)};`),
    each((char) => `&#x${codeOf(char).toString(16)};`),
    key.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
  ].filter(({ length }) => length >= MIN_CHARS);
}

class KeySearch {
  readonly #forms: readonly Uint8Array[];
  /** The length of the shortest form. */
  readonly #window: number;
  /** How far the window's end can move, by the hash of its last two bytes. */
  readonly #shifts: Uint8Array;
  /** Forms by the hash of the last two bytes of their first `#window` bytes. */
  readonly #ending = new Map<number, Uint8Array[]>();

  constructor(forms: readonly Uint8Array[]) {
    this.#forms = forms;
    this.#window = Math.min(255, ...forms.map(({ length }) => length));
    this.#shifts = new Uint8Array(TABLE_SIZE).fill(this.#window - 1);
    for (const form of forms) {
      for (let at = 1; at < this.#window; at++) {
        const hash = hashOf(form[at - 1] ?? 0, form[at] ?? 0);
        const shift = this.#window - 1 - at;
        if (shift < (this.#shifts[hash] ?? 0)) this.#shifts[hash] = shift;
        if (shift > 0) continue;
        const others = this.#ending.get(hash) ?? [];
        this.#ending.set(hash, [...others, form]);
      }
    }
  }

  /** The first form of a key from `from` on; undefined if there is none. */
  find(bytes: Uint8Array, from = 0): Span | undefined {
    const { length } = bytes;
    const reach = this.#window - 1;
    for (let at = from + reach; at < length;) {
      const hash = hashOf(bytes[at - 1] ?? 0, bytes[at] ?? 0);
      const shift = this.#shifts[hash] ?? 0;
      if (shift > 0) {
        at += shift;
        continue;
      }
      const start = at - reach;
      for (const form of this.#ending.get(hash) ?? []) {
        if (start + form.length <= length && isAt(bytes, start, form)) {
          return { start, end: start + form.length };
        }
      }
      at++;
    }
    return undefined;
  }

  /** How many bytes at the end are the beginning of a form, but not all of it. */
  begunAtEnd(bytes: Uint8Array): number {
    let begun = 0;
    for (const form of this.#forms) {
      const first = form[0] ?? 0;
      for (
        let at = bytes.indexOf(
          first,
          Math.max(0, bytes.length - form.length + 1),
        );
        at >= 0;
        at = bytes.indexOf(first, at + 1)
      ) {
        const left = bytes.length - at;
        if (left <= begun) break;
        if (isAt(bytes, at, form, left)) begun = left;
      }
    }
    return begun;
  }
}

function hashOf(one: number, other: number): number {
  return (one << 4 ^ other) & (TABLE_SIZE - 1);
}

function isAt(
  bytes: Uint8Array,
  start: number,
  form: Uint8Array,
  length: number = form.length,
): boolean {
  for (let i = 0; i < length; i++) {
    if (bytes[start + i] !== form[i]) return false;
  }
  return true;
}
