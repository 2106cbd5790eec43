import assert from "node:assert/strict";
import { SliceTurns } from "./slice_turns.ts";

Deno.test("slices run one after another, in the order in which they were given, also after one that fails", async () => {
  const turns = new SliceTurns();
  const seen: string[] = [];
  let running = 0;
  const slice = (name: string) => async (): Promise<string> => {
    running++;
    assert.equal(running, 1);
    await Promise.resolve();
    seen.push(name);
    running--;
    if (name === "b") throw new Error("b");
    return name;
  };
  const results = await Promise.allSettled(
    ["a", "b", "c"].map((name) => turns.run(slice(name))),
  );
  assert.deepEqual(seen, ["a", "b", "c"]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled"],
  );
});

Deno.test("a slice begins only when the one before has rested for as long as it took", async () => {
  let nowMs = 0;
  const turns = new SliceTurns(() => nowMs);
  const starts: number[] = [];
  const slice = (tookMs: number) => (): Promise<void> => {
    starts.push(nowMs);
    nowMs += tookMs;
    return Promise.resolve();
  };
  await turns.run(slice(0.4));
  await turns.run(slice(3));
  assert.deepEqual(starts, [0, 0.4]);
  const next = turns.run(slice(1));
  let hasRun = false;
  next.then(() => hasRun = true);
  await new Promise<void>((resolve) => queueMicrotask(resolve));
  assert.equal(hasRun, false);
  await next;
  assert.equal(starts.length, 3);
});
