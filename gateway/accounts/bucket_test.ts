import assert from "node:assert/strict";
import fc from "fast-check";
import { type Bucket, drawn, leaked, limitState, waitMs } from "./bucket.ts";

const EMPTY: Bucket = { level: 0, atMs: 0 };

Deno.test("waitMs() is exact to the millisecond", () => {
  const full = drawn(EMPTY, 7);
  const ms = waitMs(full, 7, 1);
  assert.equal(ms, Math.ceil(60_000 / 7));
  assert.equal(waitMs(leaked(full, 7, ms - 1), 7, 1), 1);
  assert.equal(waitMs(leaked(full, 7, ms), 7, 1), 0);
});

Deno.test("leaked() takes nothing back when the clock runs behind", () => {
  const bucket = drawn({ level: 0, atMs: 5000 }, 3);
  assert.equal(leaked(bucket, 10, 4000), bucket);
});

Deno.test("leaked() is empty without a limit, so that a new limit begins anew", () => {
  const bucket = leaked(drawn(EMPTY, 3), undefined, 1);
  assert.deepEqual(bucket, { level: 0, atMs: 1 });
});

Deno.test("drawn() gives back no more than was drawn", () => {
  assert.equal(drawn(drawn(EMPTY, 1), -2).level, 0);
});

Deno.test("limitState() tells when the bucket is empty again", () => {
  const state = limitState(drawn(EMPTY, 3), 6);
  assert.deepEqual(state, { limit: 6, remaining: 3, resetAtMs: 30_000 });
});

Deno.test("limitState() has nothing remaining where more came out than was foreseen", () => {
  assert.equal(limitState(drawn(EMPTY, 9), 6).remaining, 0);
});

Deno.test("in any minute no more than the limit fits beside what the bucket held", () => {
  fc.assert(fc.property(
    fc.integer({ min: 1, max: 50 }),
    fc.array(fc.nat(20_000), { maxLength: 200 }),
    (limit, pauses) => {
      let bucket = EMPTY;
      let nowMs = 0;
      const granted: number[] = [];
      for (const pause of pauses) {
        nowMs += pause;
        bucket = leaked(bucket, limit, nowMs);
        if (waitMs(bucket, limit, 1) > 0) continue;
        bucket = drawn(bucket, 1);
        granted.push(nowMs);
      }
      for (const from of granted) {
        const within = granted.filter((at) => at >= from && at < from + 60_000);
        // A full bucket's worth at once, and what leaks away in the minute.
        assert.ok(within.length <= 2 * limit);
        const atOnce = granted.filter((at) => at === from);
        assert.ok(atOnce.length <= limit);
      }
    },
  ));
});
