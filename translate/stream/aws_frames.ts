/**
 * Splits AWS's binary event streams (`application/vnd.amazon.eventstream`) into frames. A frame is:
 * total length, length of the headers, CRC of both, headers, payload, CRC of all before it; numbers
 * are big endian.
 */
import { joinPieces } from "../bytes/buffers.ts";
import { crc32 } from "../bytes/crc32.ts";
import { ApiError } from "../model/error.ts";

/** A frame whose checksums are right. */
export interface AwsFrame {
  /** Headers of text, such as `:message-type`; those of other types are left out. */
  readonly headers: ReadonlyMap<string, string>;
  /** Usually JSON. */
  readonly payload: Uint8Array;
}

const PRELUDE_BYTES = 12;
const CRC_BYTES = 4;
/** The format's limits: 128 KiB of headers and 16 MiB of payload. */
const MAX_HEADER_BYTES = 128 * 1024;
const MAX_PAYLOAD_BYTES = 16 * 1024 * 1024;

/** Bytes of a header's value by its type; absent: two bytes of length come first. */
const VALUE_BYTES: ReadonlyMap<number, number> = new Map([
  [0, 0],
  [1, 0],
  [2, 1],
  [3, 2],
  [4, 4],
  [5, 8],
  [8, 8],
  [9, 16],
]);
const BYTES_TYPE = 6;
const TEXT_TYPE = 7;

const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** Collects bytes and returns whole frames. Unusable after it has thrown. */
export class AwsFrameSplitter {
  #pieces: Uint8Array[] = [];
  #size = 0;
  /** The least bytes that allow progress. */
  #wanted = PRELUDE_BYTES;

  /** The bytes of an unfinished frame. */
  get rest(): number {
    return this.#size;
  }

  /** Adds bytes. */
  push(chunk: Uint8Array): void {
    this.#pieces.push(chunk);
    this.#size += chunk.length;
  }

  /**
   * The next whole frame; undefined until more bytes are pushed.
   *
   * @throws {ApiError} `upstream` for a wrong checksum, length or header
   */
  next(): AwsFrame | undefined {
    if (this.#size < this.#wanted) return undefined;
    const bytes = joinPieces(this.#pieces);
    this.#pieces = [bytes];
    const total = totalLength(bytes);
    if (this.#size < total) {
      this.#wanted = total;
      return undefined;
    }
    const rest = bytes.subarray(total);
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#size = rest.length;
    this.#wanted = PRELUDE_BYTES;
    return parseFrame(bytes.subarray(0, total));
  }
}

/** The length of the frame that begins here. Checked before memory is spent on it. */
function totalLength(bytes: Uint8Array): number {
  const view = viewOf(bytes);
  const total = view.getUint32(0);
  const headers = view.getUint32(4);
  const payload = total - headers - PRELUDE_BYTES - CRC_BYTES;
  if (
    view.getUint32(8) !== crc32(bytes, 8) || headers > MAX_HEADER_BYTES ||
    payload < 0 || payload > MAX_PAYLOAD_BYTES
  ) throw corrupt();
  return total;
}

function parseFrame(frame: Uint8Array): AwsFrame {
  const view = viewOf(frame);
  const end = frame.length - CRC_BYTES;
  if (view.getUint32(end) !== crc32(frame, end)) throw corrupt();
  const headersEnd = PRELUDE_BYTES + view.getUint32(4);
  try {
    return {
      headers: parseHeaders(frame.subarray(PRELUDE_BYTES, headersEnd)),
      payload: frame.subarray(headersEnd, end),
    };
  } catch {
    // A value that reaches beyond the headers, or text that is no UTF-8.
    throw corrupt();
  }
}

function parseHeaders(bytes: Uint8Array): ReadonlyMap<string, string> {
  const view = viewOf(bytes);
  const headers = new Map<string, string>();
  let at = 0;
  const take = (length: number): Uint8Array => {
    if (at + length > bytes.length) throw new RangeError("beyond the headers");
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const name = UTF8.decode(take(view.getUint8(at++)));
    const type = view.getUint8(at++);
    const fixed = VALUE_BYTES.get(type);
    if (fixed !== undefined) {
      take(fixed);
      continue;
    }
    if (type !== TEXT_TYPE && type !== BYTES_TYPE) {
      throw new RangeError("unknown type");
    }
    const length = view.getUint16(at);
    at += 2;
    const value = take(length);
    if (type === TEXT_TYPE) headers.set(name, UTF8.decode(value));
  }
  return headers;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The error of a stream that cannot be read. */
export function corrupt(): ApiError {
  return new ApiError("upstream", "the upstream's event stream is corrupt");
}
