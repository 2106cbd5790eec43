/**
 * Removes a vendor's key from a whole reply that succeeded: some upstreams repeat their request.
 *
 * @module
 */
import { Buffer } from "node:buffer";

const REMOVED = "[removed]";
/** A shorter key may occur in a reply by chance. */
const MIN_KEY_CHARS = 16;

/** The reply without the keys; the same array where it has none of them. */
export function withoutKeys(
  reply: Uint8Array,
  keys: readonly string[],
): Uint8Array {
  let clean = Buffer.from(reply.buffer, reply.byteOffset, reply.byteLength);
  for (const key of keys) {
    if (key.length < MIN_KEY_CHARS || !clean.includes(key)) continue;
    clean = Buffer.from(clean.toString().replaceAll(key, REMOVED));
  }
  return clean.buffer === reply.buffer ? reply : clean;
}
