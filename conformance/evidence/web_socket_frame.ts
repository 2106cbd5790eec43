/** Frames of a web socket (RFC 6455, 5.2) as bytes, right or wrong. */

export const OPCODE = {
  continuation: 0,
  text: 1,
  close: 8,
  ping: 9,
  pong: 10,
} as const;

/** What a frame has beside its length. */
export interface WebSocketFrame {
  /** See {@linkcode OPCODE}; another one is possible. */
  readonly opcode: number;
  /** False while fragments of the same message follow. */
  readonly isLast: boolean;
  /** The reserved bits, 0 to 7. */
  readonly reserved: number;
  /** Whether the payload was masked. */
  readonly isMasked: boolean;
  /** The payload without its mask. */
  readonly payload: Uint8Array;
}

/** A frame, and the bytes that it took. */
export interface ReadFrame extends WebSocketFrame {
  readonly length: number;
}

/** The first frame; undefined while it is not whole. */
export function readFrame(bytes: Uint8Array): ReadFrame | undefined {
  const [first, second] = bytes;
  if (first === undefined || second === undefined) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const short = second & 0x7f;
  const wide = short === 126 ? 2 : short === 127 ? 8 : 0;
  const isMasked = (second & 0x80) !== 0;
  const head = 2 + wide + (isMasked ? 4 : 0);
  if (bytes.length < head) return undefined;
  const size = wide === 0
    ? short
    : wide === 2
    ? view.getUint16(2)
    : Number(view.getBigUint64(2));
  if (bytes.length < head + size) return undefined;
  const payload = bytes.slice(head, head + size);
  if (isMasked) applyMask(payload, bytes.subarray(head - 4, head));
  return {
    opcode: first & 0x0f,
    isLast: (first & 0x80) !== 0,
    reserved: (first & 0x70) >> 4,
    isMasked,
    payload,
    length: head + size,
  };
}

/** Writes a frame; masked, with the same mask each time. */
export function frameBytes(frame: WebSocketFrame): Uint8Array {
  const { opcode, isLast, reserved, isMasked, payload } = frame;
  const size = payload.length;
  const wide = size < 126 ? 0 : size < 65_536 ? 2 : 8;
  const head = 2 + wide;
  const bytes = new Uint8Array(head + (isMasked ? 4 : 0) + size);
  const view = new DataView(bytes.buffer);
  bytes[0] = (isLast ? 0x80 : 0) | reserved << 4 | opcode;
  bytes[1] = (isMasked ? 0x80 : 0) |
    (wide === 0 ? size : wide === 2 ? 126 : 127);
  if (wide === 2) view.setUint16(2, size);
  if (wide === 8) view.setBigUint64(2, BigInt(size));
  bytes.set(payload, bytes.length - size);
  if (isMasked) {
    const mask = Uint8Array.of(7, 11, 13, 17);
    bytes.set(mask, head);
    applyMask(bytes.subarray(head + 4), mask);
  }
  return bytes;
}

/** The code of a close; undefined if it has none. */
export function closeCode({ payload }: WebSocketFrame): number | undefined {
  const [high, low] = payload;
  return high === undefined || low === undefined ? undefined : high << 8 | low;
}

function applyMask(payload: Uint8Array, mask: Uint8Array): void {
  for (let at = 0; at < payload.length; at++) {
    payload[at] = (payload[at] ?? 0) ^ (mask[at % 4] ?? 0);
  }
}
