import assert from "node:assert/strict";
import { gatewayTimers } from "./timers.ts";

Deno.test("long timers fire after their time, in order, and once", async () => {
  const timers = gatewayTimers();
  const done: string[] = [];
  const started = performance.now();
  const all = Promise.withResolvers<number>();
  timers.set(() => done.push("b"), 1_150);
  timers.set(() => done.push("a"), 1_000);
  timers.set(() => all.resolve(performance.now() - started), 1_300);
  assert.ok(await all.promise >= 1_300);
  assert.deepEqual(done, ["a", "b"]);
});

Deno.test("a cleared timer never fires and leaves no platform timer", async () => {
  const timers = gatewayTimers();
  const wrong = () => assert.fail("it was cleared");
  const long = timers.set(wrong, 1_000);
  const short = timers.set(wrong, 5);
  const later = Promise.withResolvers<void>();
  timers.set(() => later.resolve(), 1_200);
  timers.clear(long);
  timers.clear(long);
  timers.clear(short);
  await later.promise;
});

Deno.test("a timer's callback may set and clear others", async () => {
  const timers = gatewayTimers();
  const last = Promise.withResolvers<void>();
  const other = timers.set(() => assert.fail("it was cleared"), 1_500);
  timers.set(() => {
    timers.clear(other);
    timers.set(() => last.resolve(), 1_000);
  }, 1_000);
  await last.promise;
});
