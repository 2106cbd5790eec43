import assert from "node:assert/strict";
import { readStamp, stampClock, stampDelta, writeStamp } from "./stamp.ts";

Deno.test("a stamp is read as it was written", () => {
  const bytes = new Uint8Array(12);
  for (const micros of [0, 1, 35, 36, 999_999_999_999, stampClock()]) {
    writeStamp(bytes, 2, micros);
    assert.equal(readStamp(bytes, 2), micros);
  }
  assert.deepEqual([bytes[0], bytes[1], bytes[10], bytes[11]], [0, 0, 0, 0]);
});

Deno.test("readStamp() returns undefined without a stamp", () => {
  assert.equal(
    readStamp(new TextEncoder().encode("--------"), 0),
    undefined,
  );
});

Deno.test("stampDelta() handles the wrap, and clocks that differ", () => {
  assert.equal(stampDelta(10, 25), 15);
  assert.equal(stampDelta(25, 10), -15);
  assert.equal(stampDelta(999_999_999_990, 10), 20);
});
