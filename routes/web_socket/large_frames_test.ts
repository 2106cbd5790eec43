import assert from "node:assert/strict";
import fc from "fast-check";
import { joinPieces } from "../../translate/bytes/buffers.ts";
import {
  clientFrame,
  type FrameOptions,
  OPCODE,
} from "../../tests/support/clients/raw_web_socket.ts";
import { LargeFrames } from "./large_frames.ts";

const FRAGMENT = 32 * 1024;
const MAX_BYTES = 4 * FRAGMENT;

/** What is passed on of bytes that arrive in pieces of these sizes, one after the other. */
function split(bytes: Uint8Array, sizes: readonly number[]): Uint8Array {
  const frames = new LargeFrames(MAX_BYTES);
  const out: Uint8Array[] = [];
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const size = sizes[n % sizes.length] ?? bytes.length;
    out.push(frames.split(bytes.slice(at, at + size)).slice());
    at += size;
  }
  return joinPieces(out);
}

interface Frame {
  readonly first: number;
  readonly payload: Uint8Array;
}

/** Reads masked frames; fragments of one message are joined, as `ws` does. */
function messages(bytes: Uint8Array): Frame[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const read: Frame[] = [];
  for (let at = 0; at < bytes.length;) {
    const first = view.getUint8(at);
    const size = view.getUint8(at + 1) & 0x7f;
    const start = at + (size < 126 ? 2 : size === 126 ? 4 : 10);
    const length = size < 126
      ? size
      : size === 126
      ? view.getUint16(at + 2)
      : Number(view.getBigUint64(at + 2));
    const mask = bytes.subarray(start, start + 4);
    const payload = bytes.subarray(start + 4, start + 4 + length)
      .map((byte, n) => byte ^ (mask[n % 4] ?? 0));
    at = start + 4 + length;
    const before = read.at(-1);
    if (before !== undefined && before.first < 0x80 && (first & 0x7f) === 0) {
      read[read.length - 1] = {
        first: before.first | (first & 0x80),
        payload: joinPieces([before.payload, payload]),
      };
    } else read.push({ first, payload });
  }
  return read;
}

const SIZES = [
  ...[0, 1, 125, 126, 65_535, 65_536, FRAGMENT, FRAGMENT + 1],
  ...[2 * FRAGMENT, 2 * FRAGMENT + 3, MAX_BYTES, MAX_BYTES + 1],
];

const frame = fc.record({
  opcode: fc.constantFrom(...Object.values(OPCODE)),
  size: fc.constantFrom(...SIZES),
  isLast: fc.boolean(),
}).map(({ opcode, size, isLast }) => {
  const payload = Uint8Array.from({ length: size }, (_, n) => n % 251);
  return clientFrame(opcode, payload, { isLast });
});

Deno.test("LargeFrames: frames in pieces of any size contain the same messages", () => {
  fc.assert(
    fc.property(
      fc.array(frame, { maxLength: 4 }),
      fc.array(fc.integer({ min: 1, max: 40_000 }), { maxLength: 9 }),
      (frames, sizes) => {
        const bytes = joinPieces(frames);
        assert.deepEqual(
          messages(split(bytes, [...sizes, 65_536])),
          messages(bytes),
        );
      },
    ),
    { numRuns: 50 },
  );
});

Deno.test("LargeFrames: a large frame is passed on as it arrives", () => {
  const frames = new LargeFrames(MAX_BYTES);
  const bytes = clientFrame(OPCODE.text, "x".repeat(3 * FRAGMENT));
  let least = 0;
  for (let at = 0; at < bytes.length; at += 1000) {
    const passed = frames.split(bytes.slice(at, at + 1000)).length;
    assert.ok(passed <= FRAGMENT + 8);
    least = Math.max(least, passed);
  }
  assert.equal(least, FRAGMENT + 8);
});

Deno.test("LargeFrames: frames that are small, too large, or break a rule stay as they are", () => {
  const large = "x".repeat(2 * FRAGMENT);
  const rows: Readonly<
    Record<string, readonly [number, string, FrameOptions?]>
  > = {
    small: [OPCODE.text, "x".repeat(FRAGMENT)],
    "too large": [OPCODE.text, "x".repeat(MAX_BYTES + 1)],
    "not masked": [OPCODE.text, large, { mask: undefined }],
    compressed: [OPCODE.text, large, { reserved: 4 }],
    "a ping": [OPCODE.ping, large],
    unknown: [3, large],
    "2^63 bytes": [OPCODE.text, large, { announced: 2 ** 63 }],
  };
  for (const [name, row] of Object.entries(rows)) {
    const bytes = clientFrame(...row);
    assert.deepEqual(split(bytes, [bytes.length]), bytes, name);
    assert.deepEqual(split(bytes, [1000]), bytes, name);
  }
});
