/**
 * The two encodings of a vector: a list of numbers, and its 32-bit floats (little-endian) in base64.
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

function base64(vector: readonly number[]): string {
  const view = new DataView(new ArrayBuffer(vector.length * BYTES));
  for (const [i, value] of vector.entries()) {
    view.setFloat32(i * BYTES, value, true);
  }
  return new Uint8Array(view.buffer).toBase64();
}

function floats(text: string): readonly number[] | undefined {
  const bytes = bytesOf(text);
  if (bytes.length === 0 || bytes.length % BYTES !== 0) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const vector = Array.from(
    { length: bytes.length / BYTES },
    (_, i) => view.getFloat32(i * BYTES, true),
  );
  // JSON has no others.
  return vector.every(Number.isFinite) ? vector : undefined;
}

/** The bytes of a base64 text; none for any other text. */
function bytesOf(text: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(text);
  } catch {
    return new Uint8Array(0);
  }
}
