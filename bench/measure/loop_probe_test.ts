import assert from "node:assert/strict";
import { startChild } from "../load/child.ts";
import { LONG_MS, readLoopBlocks, startProbe } from "./loop_probe.ts";

Deno.test("the probe reports the longest block since the last request", async () => {
  await using probe = startProbe(0);
  const url = `http://127.0.0.1:${probe.port}/`;
  await readLoopBlocks(url);
  const endMs = performance.now() + 5 * LONG_MS;
  while (performance.now() < endMs);
  const { longestMs, long } = await readLoopBlocks(url);
  assert.ok(longestMs >= 4 * LONG_MS, String(longestMs));
  assert.ok(long >= 1);
});

Deno.test("on its own, the probe is an idle process", async () => {
  await using child = startChild("measure/loop_probe.ts");
  // The message's shape is defined in loop_probe.ts.
  const { port } = await child.receive() as { readonly port: number };
  const { longestMs } = await readLoopBlocks(`http://127.0.0.1:${port}/`);
  assert.ok(longestMs >= 0);
});
