/**
 * Removes a vendor's key from a reply that succeeded: some upstreams repeat their request.
 */
import { Buffer } from "node:buffer";
import { joinPieces } from "../../translate/bytes/buffers.ts";

const DECODER = new TextDecoder();
const REMOVED = "[removed]";
/** A shorter key may occur in a reply by chance. */
const MIN_KEY_CHARS = 16;

/** The reply without the keys; the same array where it has none of them. */
export function withoutKeys(
  reply: Uint8Array,
  keys: readonly string[],
): Uint8Array {
  // A character for each byte: a text is searched much faster than bytes, and a chunk may begin or
  // end within a character.
  const { buffer, byteOffset, byteLength } = reply;
  const text = Buffer.from(buffer, byteOffset, byteLength).toString("latin1");
  let clean = text;
  for (const key of keys) {
    if (key.length < MIN_KEY_CHARS) continue;
    clean = clean.replaceAll(Buffer.from(key).toString("latin1"), REMOVED);
  }
  return clean === text ? reply : Buffer.from(clean, "latin1");
}

/** The reply without the keys, and its text: to search the text takes a tenth of the time. */
export function cleanReply(
  reply: Uint8Array,
  keys: readonly string[],
): { readonly bytes: Uint8Array; readonly text: string } {
  const text = DECODER.decode(reply);
  if (!keys.some((key) => text.includes(key))) return { bytes: reply, text };
  const bytes = withoutKeys(reply, keys);
  return { bytes, text: bytes === reply ? text : DECODER.decode(bytes) };
}

/** A header's value without the keys. */
export function textWithoutKeys(text: string, keys: readonly string[]): string {
  return keys.filter(({ length }) => length >= MIN_KEY_CHARS)
    .reduce((rest, key) => rest.replaceAll(key, REMOVED), text);
}

/** Removes keys from a stream as it passes. */
export interface KeyFilter {
  /** The chunk without keys, and without an end that may be the beginning of one. */
  push(chunk: Uint8Array): Uint8Array;
  /** What was kept back. */
  rest(): Uint8Array;
  /** Whether a key was removed. */
  found(): boolean;
}

const NOTHING = new Uint8Array(0);
/** Characters of keys, rare ones in JSON text first: each is searched for in all of a stream. */
const BY_RARITY =
  "QZXJKWYVUGFHBLDPMRONSECTIA9876543210zqjxk/+-_vbygpfwhucdmlnrstioae";

/** A filter for a stream; undefined where no key is long enough to be searched for. */
export function keyFilter(keys: readonly string[]): KeyFilter | undefined {
  const searched = keys.filter(({ length }) => length >= MIN_KEY_CHARS).map(
    (key): SearchedKey => {
      const bytes = new TextEncoder().encode(key);
      const rare = [...BY_RARITY].find((one) => key.includes(one));
      return {
        bytes,
        rareAt: rare === undefined ? 0 : bytes.indexOf(rare.charCodeAt(0)),
      };
    },
  );
  if (searched.length === 0) return undefined;
  let kept: Uint8Array = NOTHING;
  let wasFound = false;
  return {
    push(chunk) {
      const all = kept.length === 0 ? chunk : joinPieces([kept, chunk]);
      kept = NOTHING;
      let clean = all;
      for (const key of searched) {
        if (!occursIn(all, key)) continue;
        wasFound = true;
        clean = withoutKeys(all, keys);
        break;
      }
      // Nearly every chunk is whole lines, and no key has a line end.
      if (clean[clean.length - 1] === LINE_FEED) return clean;
      const begun = Math.max(
        ...searched.map(({ bytes }) => begunAtEnd(clean, bytes)),
      );
      if (begun === 0) return clean;
      kept = clean.slice(clean.length - begun);
      return clean.subarray(0, clean.length - begun);
    },
    rest() {
      const rest = kept;
      kept = NOTHING;
      return rest;
    },
    found: () => wasFound,
  };
}

const LINE_FEED = 0x0a;

interface SearchedKey {
  readonly bytes: Uint8Array;
  /** Position of the byte that is searched for first. */
  readonly rareAt: number;
}

function occursIn(text: Uint8Array, { bytes, rareAt }: SearchedKey): boolean {
  const rare = bytes[rareAt] ?? 0;
  for (
    let at = text.indexOf(rare, rareAt);
    at >= 0;
    at = text.indexOf(rare, at + 1)
  ) {
    if (matches(text, at - rareAt, bytes, bytes.length)) return true;
  }
  return false;
}

/** How many bytes at the end of the text are the beginning of the key, but not all of it. */
function begunAtEnd(text: Uint8Array, key: Uint8Array): number {
  const first = key[0] ?? 0;
  for (
    let at = text.indexOf(first, Math.max(0, text.length - key.length + 1));
    at >= 0;
    at = text.indexOf(first, at + 1)
  ) {
    if (matches(text, at, key, text.length - at)) return text.length - at;
  }
  return 0;
}

function matches(
  text: Uint8Array,
  at: number,
  key: Uint8Array,
  length: number,
): boolean {
  for (let i = 0; i < length; i++) {
    if (text[at + i] !== key[i]) return false;
  }
  return true;
}
