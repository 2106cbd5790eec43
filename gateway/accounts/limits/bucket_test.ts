import assert from "node:assert/strict";
import fc from "fast-check";
import { type Bucket, consume, leak, limitState, waitMs } from "./bucket.ts";

const EMPTY: Bucket = { level: 0, atMs: 0 };

Deno.test("waitMs() is exact to the millisecond", () => {
  const full = consume(EMPTY, 7);
  const ms = waitMs(full, 7, 1);
  assert.equal(ms, Math.ceil(60_000 / 7));
  assert.equal(waitMs(leak(full, 7, ms - 1), 7, 1), 1);
  assert.equal(waitMs(leak(full, 7, ms), 7, 1), 0);
});

Deno.test("leak() ignores a clock that runs backwards", () => {
  const bucket = consume({ level: 0, atMs: 5000 }, 3);
  assert.equal(leak(bucket, 10, 4000), bucket);
});

Deno.test("leak() is empty without a limit, so that a new limit starts afresh", () => {
  const bucket = leak(consume(EMPTY, 3), undefined, 1);
  assert.deepEqual(bucket, { level: 0, atMs: 1 });
});

Deno.test("consume() returns no more units than were consumed", () => {
  assert.equal(consume(consume(EMPTY, 1), -2).level, 0);
});

Deno.test("limitState() returns the time at which the bucket is empty", () => {
  const state = limitState(consume(EMPTY, 3), 6);
  assert.deepEqual(state, { limit: 6, remaining: 3, resetAtMs: 30_000 });
});

Deno.test("limitState() has nothing remaining when the level exceeds the limit", () => {
  assert.equal(limitState(consume(EMPTY, 9), 6).remaining, 0);
});

Deno.test("within any minute at most the limit leaks away and is granted again", () => {
  fc.assert(fc.property(
    fc.integer({ min: 1, max: 50 }),
    fc.array(fc.nat(20_000), { maxLength: 200 }),
    (limit, pauses) => {
      let bucket = EMPTY;
      let nowMs = 0;
      const granted: number[] = [];
      for (const pause of pauses) {
        nowMs += pause;
        bucket = leak(bucket, limit, nowMs);
        if (waitMs(bucket, limit, 1) > 0) continue;
        bucket = consume(bucket, 1);
        granted.push(nowMs);
      }
      for (const from of granted) {
        const within = granted.filter((at) => at >= from && at < from + 60_000);
        // A full bucket at once, and what leaks away within the minute.
        assert.ok(within.length <= 2 * limit);
        const atOnce = granted.filter((at) => at === from);
        assert.ok(atOnce.length <= limit);
      }
    },
  ));
});
