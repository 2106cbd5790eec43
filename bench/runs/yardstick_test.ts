import assert from "node:assert/strict";
import { yardstickLines, type YardstickRow } from "./yardstick.ts";

Deno.test("yardstickLines() has a column for each target, and a dash for what could not be measured", () => {
  const row: YardstickRow = {
    target: "gateway, bare",
    cpuMicros: { median: 240, low: 230, high: 250 },
    addedMs: { p50: 0.4, p99: 1.25 },
    frontiers: [
      { boundMs: 1, perSecond: 0, isOpen: false },
      { boundMs: 5, perSecond: 610, isOpen: false },
      { boundMs: 10, perSecond: 763, isOpen: false },
      { boundMs: 50, perSecond: 17347, isOpen: true },
    ],
    steadyBytes: 150 * 2 ** 20,
    discarded: 2,
  };
  const cells = new Map(
    yardstickLines([{ ...row, target: "other" }, row]).map((line) => {
      const [name = "", ...values] = line.split(/ {2,}/);
      return [name, values.at(-1)];
    }),
  );
  assert.equal(cells.get(""), "gateway, bare");
  assert.equal(cells.get("processor time of a call, µs"), "240");
  assert.equal(cells.get("added to a whole reply, p99, ms"), "1.25");
  assert.equal(cells.get("added to the first token, p50, ms"), "–");
  assert.equal(cells.get("calls/s with p99 ≤ 1 ms added"), "< 200");
  assert.equal(cells.get("calls/s with p99 ≤ 10 ms added"), "763");
  assert.equal(cells.get("calls/s with p99 ≤ 50 ms added"), "≥ 17347");
  assert.equal(cells.get("memory under load, MiB"), "150");
  assert.equal(cells.get("memory idle, MiB"), "–");
  assert.equal(cells.get("windows left out"), "2");
});
