/** Replaces parts of bytes. */
import { joinPieces } from "./buffers.ts";

/** The part from `start` to `end - 1` becomes `bytes`. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly bytes: Uint8Array;
}

/** The bytes from `from` to `to - 1` with the edits, which are in order and within the bounds. */
export function applyEdits(
  bytes: Uint8Array,
  edits: readonly Edit[],
  from = 0,
  to = bytes.length,
): Uint8Array {
  if (edits.length === 0) return bytes.subarray(from, to);
  const pieces: Uint8Array[] = [];
  let done = from;
  for (const edit of edits) {
    pieces.push(bytes.subarray(done, edit.start), edit.bytes);
    done = edit.end;
  }
  return joinPieces([...pieces, bytes.subarray(done, to)]);
}
