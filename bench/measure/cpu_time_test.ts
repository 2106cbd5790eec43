import assert from "node:assert/strict";
import { startChild } from "../load/child.ts";
import {
  openCpuClock,
  processTree,
  residentBytes,
  statMicros,
} from "./cpu_time.ts";

Deno.test("the clock agrees with /proc to within some ticks", async () => {
  using clock = openCpuClock();
  // Of a child without children of its own: this process has children of other tests.
  await using child = startChild("targets/raw_pipe_server.ts", ["1"]);
  await child.receive();
  const before = clock.microsOf(child.pid);
  assert.ok(before > 0);
  // Both parts of /proc's figure are rounded down to a tick of 10 ms, and on a busy machine they
  // are some ticks behind.
  const ticks = statMicros(child.pid);
  assert.ok(ticks >= before - 100_000, `${ticks} and ${before}`);
  assert.ok(clock.microsOf(child.pid) >= ticks);
});

Deno.test("the processor time of a process grows with its work", async () => {
  using clock = openCpuClock();
  await using child = startChild("targets/raw_pipe_server.ts", [
    "http://127.0.0.1:1",
  ]);
  // The message's shape is defined in raw_pipe_server.ts.
  const { port } = await child.receive() as { readonly port: number };
  const before = clock.microsOf(child.pid);
  const response = await fetch(`http://127.0.0.1:${port}/`);
  await response.body?.cancel();
  assert.ok(clock.microsOf(child.pid) > before);
});

Deno.test("processTree() finds a process's children", async () => {
  await using child = startChild("targets/raw_pipe_server.ts", ["1"]);
  await child.receive();
  assert.ok(processTree(Deno.pid).includes(child.pid));
  assert.deepEqual(processTree(child.pid), [child.pid]);
});

Deno.test("the clock throws for an unknown process", () => {
  using clock = openCpuClock();
  // Larger than any process id that Linux gives.
  assert.throws(() => clock.microsOf(2 ** 22 + 1));
});

Deno.test("residentBytes() is a plausible figure", () => {
  const bytes = residentBytes(Deno.pid);
  assert.ok(bytes > 2 ** 20 && bytes < 2 ** 36);
});
