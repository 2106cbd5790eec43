import assert from "node:assert/strict";
import { gatewayTimers } from "../timers.ts";
import { bodyPieces, readBytes } from "./request_body.ts";

const LIMITS = { maxBytes: 1024 * 1024, timeoutMs: 10_000 };
/** The platform reads each piece into a buffer of this size, however little arrives. */
const BUFFER_BYTES = 64 * 1024;

/** A request whose body arrives in pieces of these sizes, each at the start of a large buffer. */
function requestOf(sizes: readonly number[]): Request {
  let count = 0;
  const pieces = sizes.map((size) => {
    const piece = new Uint8Array(BUFFER_BYTES).subarray(0, size);
    for (let at = 0; at < size; at++) piece[at] = count++;
    return piece;
  });
  return new Request("http://gateway/", {
    method: "POST",
    body: ReadableStream.from(pieces),
  });
}

const SIZES: Readonly<Record<string, readonly number[]>> = {
  "single bytes": Array(1_000).fill(1),
  "small ones": Array(200).fill(700),
  "small and large ones": [1, 20_000, 1, 1, 16_384, 16_383, 2, 65_536, 5],
  "large ones": [65_536, 65_536],
  "one": [3],
  "none": [],
};

Deno.test("a body keeps a few times its bytes at most, in whatever pieces it arrives", async (t) => {
  for (const [name, sizes] of Object.entries(SIZES)) {
    await t.step(name, async () => {
      const buffers = new Set<ArrayBufferLike>();
      const got: number[] = [];
      const timers = gatewayTimers();
      const pieces = bodyPieces(requestOf(sizes), null, LIMITS, timers);
      for await (const piece of pieces) {
        buffers.add(piece.buffer);
        got.push(...piece);
      }
      const size = sizes.reduce((sum, one) => sum + one, 0);
      assert.equal(got.length, size);
      assert.ok(got.every((byte, at) => byte === at % 256));
      let kept = 0;
      for (const { byteLength } of buffers) kept += byteLength;
      assert.ok(kept <= 4 * size + BUFFER_BYTES, `${kept} bytes for ${size}`);
      const whole = await readBytes(requestOf(sizes), LIMITS, timers);
      assert.deepEqual([...whole], got);
    });
  }
});
