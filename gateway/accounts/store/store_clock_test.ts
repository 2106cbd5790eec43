import assert from "node:assert/strict";
import { StoreClock } from "./store_clock.ts";

/** A process's clocks, and a store whose time is 1,000,000 when the process starts. */
function scene(localMs: number) {
  const at = { elapsedMs: 0, localMs };
  const clock = new StoreClock({
    now: () => at.localMs + at.elapsedMs,
    elapsed: () => at.elapsedMs,
  });
  const read = (tookMs: number, storeMs = 1_000_000): Promise<void> =>
    clock.read(() => {
      at.elapsedMs += tookMs;
      return Promise.resolve(storeMs + at.elapsedMs - tookMs / 2);
    });
  return { at, clock, read };
}

Deno.test("the store's time is known to half of what its reading took", async () => {
  const { at, clock, read } = scene(5_000_000);
  assert.equal(clock.now(), 5_000_000);
  await read(10);
  assert.ok(Math.abs(clock.now() - 1_000_010) <= 5);
  assert.ok(Math.abs(clock.aheadMs() - 4_000_000) <= 5);
  await read(0);
  assert.equal(clock.now(), 1_000_010);
  at.elapsedMs += 2500;
  assert.equal(clock.now(), 1_002_510);
});

Deno.test("a change of the process's clock does not move the store's time", async () => {
  const { at, clock, read } = scene(1_000_000);
  await read(0);
  at.localMs += 400 * 86_400_000;
  assert.equal(clock.now(), 1_000_000);
  assert.equal(clock.aheadMs(), 400 * 86_400_000);
});

Deno.test("the store's time follows the store, and a slow reading changes nothing", async () => {
  const { clock, read } = scene(1_000_000);
  await read(0);
  await read(0, 2_000_000);
  assert.equal(clock.now(), 2_000_000);
  // As for a process that was suspended in between.
  await read(1001, 9_000_000);
  assert.equal(clock.now(), 2_001_001);
});
