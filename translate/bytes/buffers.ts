/**
 * Allocates the many small pieces of streams from large blocks, because one allocation per piece
 * costs more than the work on it. A piece is never written to after it is returned.
 */

const BLOCK_BYTES = 64 * 1024;
/** Larger pieces get a block of their own; otherwise one piece could keep most of a block alive. */
const MAX_PIECE_BYTES = 8 * 1024;
/** The most UTF-8 bytes per UTF-16 code unit. */
const MAX_BYTES_PER_UNIT = 3;

const ENCODER = new TextEncoder();

let block = new Uint8Array(BLOCK_BYTES);
let used = 0;

/** The text as UTF-8. */
export function encodeText(text: string): Uint8Array {
  const most = text.length * MAX_BYTES_PER_UNIT;
  if (most > MAX_PIECE_BYTES) return ENCODER.encode(text);
  makeRoom(most);
  const { written } = ENCODER.encodeInto(text, block.subarray(used));
  return take(written);
}

export function joinPieces(pieces: readonly Uint8Array[]): Uint8Array {
  const only = pieces[0];
  if (pieces.length === 1 && only !== undefined) return only;
  let length = 0;
  for (const piece of pieces) length += piece.length;
  makeRoom(length);
  const whole = length > MAX_PIECE_BYTES
    ? new Uint8Array(length)
    : take(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function makeRoom(bytes: number): void {
  if (bytes > MAX_PIECE_BYTES || used + bytes <= BLOCK_BYTES) return;
  block = new Uint8Array(BLOCK_BYTES);
  used = 0;
}

function take(bytes: number): Uint8Array {
  const piece = block.subarray(used, used + bytes);
  used += bytes;
  return piece;
}

/** Without a byte order mark: JSON has none (RFC 8259, 8.1), and many clients fail at it. */
export function withoutMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
    ? bytes.subarray(3)
    : bytes;
}
