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

Deno.test("after the process was stopped, what has arrived meanwhile comes before a long timer", async () => {
  const timers = gatewayTimers();
  const marker = await Deno.makeTempFile();
  const child = new Deno.Command("sh", {
    args: ["-c", `echo arrived; echo x >> ${marker}; cat`],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const order: string[] = [];
  const fired = Promise.withResolvers<void>();
  timers.set(() => {
    order.push("timer");
    fired.resolve();
  }, 1_000);
  const dueMs = performance.now() + 1_500;
  const reader = child.stdout.getReader();
  const read = reader.read().then(() => order.push("bytes"));
  // Nothing runs here meanwhile, as in a process that is stopped.
  const pause = new Int32Array(new SharedArrayBuffer(4));
  while (
    performance.now() < dueMs || Deno.readTextFileSync(marker) === ""
  ) Atomics.wait(pause, 0, 0, 10);
  await Promise.all([fired.promise, read]);
  assert.deepEqual(order, ["bytes", "timer"]);
  await child.stdin.close();
  await reader.cancel();
  await child.status;
  await Deno.remove(marker);
});
