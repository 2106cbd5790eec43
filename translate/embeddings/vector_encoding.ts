/**
 * The two encodings of a vector: a list of numbers, and its 32-bit floats (little-endian) in
 * base64.
 */
import type { VectorEncoding } from "./embedding_request.ts";

const BYTES = 4;

/** The vector in an encoding, unchanged if it has that already; undefined if it cannot be read. */
export function encodedVector(
  vector: readonly number[] | string,
  encoding: VectorEncoding,
): readonly number[] | string | undefined {
  if (typeof vector === "string") {
    return encoding === "base64" ? vector : floats(vector);
  }
  return encoding === "float" ? vector : base64(vector);
}

/** How many numbers a text has; undefined for one that is no vector of finite ones. */
export function numbersIn(text: string): number | undefined {
  const view = viewOf(text);
  if (view === undefined) return undefined;
  for (let at = 0; at < view.byteLength; at += BYTES) {
    // The exponent of an infinite number, and of none at all.
    if ((view.getUint32(at, true) & EXPONENT) === EXPONENT) return undefined;
  }
  return view.byteLength / BYTES;
}

const EXPONENT = 0x7f80_0000;

function base64(vector: readonly number[]): string | undefined {
  // A number may be beyond the range of four bytes.
  if (!vector.every((one) => Number.isFinite(Math.fround(one)))) {
    return undefined;
  }
  const view = new DataView(new ArrayBuffer(vector.length * BYTES));
  for (const [i, value] of vector.entries()) {
    view.setFloat32(i * BYTES, value, true);
  }
  return new Uint8Array(view.buffer).toBase64();
}

function floats(text: string): readonly number[] | undefined {
  const view = viewOf(text);
  return view === undefined ? undefined : Array.from(
    { length: view.byteLength / BYTES },
    (_, i) => view.getFloat32(i * BYTES, true),
  );
}

/** The bytes of a vector's text; undefined where they are not whole numbers. */
function viewOf(text: string): DataView | undefined {
  const { buffer, byteOffset, length } = bytesOf(text);
  return length === 0 || length % BYTES !== 0
    ? undefined
    : new DataView(buffer, byteOffset, length);
}

/** The bytes of a base64 text; none for any other text. */
function bytesOf(text: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(text);
  } catch {
    return new Uint8Array(0);
  }
}
