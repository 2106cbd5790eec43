import assert from "node:assert/strict";
import { startChild } from "./child.ts";
import {
  familyOf,
  openCpuClock,
  residentBytes,
  statMicros,
} from "./cpu_time.ts";

Deno.test("the clock sees what this process uses, as /proc does to within its ticks", () => {
  using clock = openCpuClock();
  const before = clock.microsOf(Deno.pid);
  const until = performance.now() + 30;
  while (performance.now() < until);
  const after = clock.microsOf(Deno.pid);
  assert.ok(after > before);
  // Both parts of /proc's figure are rounded down to a tick.
  const ticks = statMicros(Deno.pid);
  assert.ok(ticks >= after - 20_000);
  assert.ok(clock.microsOf(Deno.pid) >= ticks);
});

Deno.test("a process that sleeps uses next to nothing while this one works", async () => {
  using clock = openCpuClock();
  await using child = startChild("targets/raw_pipe_server.ts", ["1"]);
  await child.next();
  const own = clock.microsOf(Deno.pid);
  const others = clock.microsOf(child.pid);
  let sum = 0;
  for (let index = 0; index < 1e8; index++) sum += index % 7;
  assert.ok(sum > 0);
  const used = clock.microsOf(Deno.pid) - own;
  assert.ok(clock.microsOf(child.pid) - others < used);
});

Deno.test("familyOf() finds a process's children", async () => {
  await using child = startChild("targets/raw_pipe_server.ts", ["1"]);
  await child.next();
  assert.ok(familyOf(Deno.pid).includes(child.pid));
  assert.deepEqual(familyOf(child.pid), [child.pid]);
});

Deno.test("the clock refuses a process that is not there", () => {
  using clock = openCpuClock();
  // Larger than any process id that Linux gives.
  assert.throws(() => clock.microsOf(2 ** 22 + 1));
});

Deno.test("residentBytes() is a plausible figure", () => {
  const bytes = residentBytes(Deno.pid);
  assert.ok(bytes > 2 ** 20 && bytes < 2 ** 36);
});
