/**
 * Removes a vendor's key from a reply that succeeded: some upstreams repeat their request.
 */
import { encodeText, joinPieces } from "../../translate/bytes/buffers.ts";
import { keySearch } from "./key_search.ts";

const DECODER = new TextDecoder();
const REMOVED = encodeText("[removed]");

/** The reply without the keys, in whatever form; the same array where it has none of them. */
export function withoutKeys(
  reply: Uint8Array,
  keys: readonly string[],
): Uint8Array {
  const search = keySearch(keys);
  let found = search?.find(reply);
  if (search === undefined || found === undefined) return reply;
  const pieces: Uint8Array[] = [];
  let done = 0;
  for (; found !== undefined; found = search.find(reply, done)) {
    pieces.push(reply.subarray(done, found.start), REMOVED);
    done = found.end;
  }
  pieces.push(reply.subarray(done));
  return joinPieces(pieces);
}

/** A header's value without the keys. */
export function textWithoutKeys(text: string, keys: readonly string[]): string {
  return DECODER.decode(withoutKeys(encodeText(text), keys));
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
const LINE_FEED = 0x0a;

/** A filter for a stream; undefined where no key is long enough to be searched for. */
export function keyFilter(keys: readonly string[]): KeyFilter | undefined {
  const search = keySearch(keys);
  if (search === undefined) return undefined;
  let kept: Uint8Array = NOTHING;
  let wasFound = false;
  return {
    push(chunk) {
      const all = kept.length === 0 ? chunk : joinPieces([kept, chunk]);
      kept = NOTHING;
      const clean = withoutKeys(all, keys);
      wasFound ||= clean !== all;
      // Nearly every chunk is whole lines, and no key has a line end.
      if (clean[clean.length - 1] === LINE_FEED) return clean;
      const begun = search.begunAtEnd(clean);
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
