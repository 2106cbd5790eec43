/**
 * The checksum CRC-32 (ISO 3309), as used by zip and by the event streams of AWS.
 */

const POLYNOMIAL = 0xedb88320;

const TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) {
    value = (value & 1) === 0 ? value >>> 1 : (value >>> 1) ^ POLYNOMIAL;
  }
  return value;
});

/** The checksum of the bytes before `end`, as an unsigned number. */
export function crc32(bytes: Uint8Array, end: number): number {
  let crc = 0xffffffff;
  for (let at = 0; at < end; at++) {
    crc = (TABLE[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0) ^ (crc >>> 8);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
