import assert from "node:assert/strict";
import { coresLines, coresRows, leastCoresMs } from "./cores.ts";

Deno.test("coresRows() compares with one process in the same round", () => {
  const [one, two, apart] = coresRows("sqlite", "whole-small", [{
    processes: 1,
    apart: false,
    connections: 64,
    perSecond: [900, 1000, 1100],
    cpuMicros: [100, 200, 400],
    waits: [{ p50: 3, p99: 9 }],
    shares: [[1], [1], [1]],
  }, {
    processes: 2,
    apart: false,
    connections: 64,
    perSecond: [1500, 1600, 1700],
    cpuMicros: [150, 220, 440],
    waits: [{ p50: 4, p99: 8 }],
    shares: [[0.4, 0.6], [0.5, 0.5], [0.6, 0.4]],
  }, {
    processes: 2,
    apart: true,
    connections: 128,
    perSecond: [1600],
    cpuMicros: [150],
    waits: [],
    shares: [[0.5, 0.5]],
  }]);
  assert.equal(one?.overOne, undefined);
  assert.equal(one?.goal, undefined);
  assert.deepEqual(two?.overOne, { median: 1.1, low: 1.1, high: 1.5 });
  assert.deepEqual(two?.shares, [0.5, 0.5]);
  assert.equal(two?.goal?.reached, true);
  assert.equal(apart?.overOne?.median, 1.5);
  assert.equal(apart?.goal, undefined);
  const lines = coresLines([one, two].filter((row) => row !== undefined));
  assert.match(
    lines[3] ?? "",
    /^2 +64 +1600 +4\.00 +8\.00 +220 +1\.10 .* ok +50 % 50 %$/,
  );
});

Deno.test("leastCoresMs() adds up the turns of a store", () => {
  const length = { rounds: 1, ms: 100 };
  // Two kinds of exchange, a warm-up and a round.
  assert.equal(leastCoresMs([1], ["each"], length), 400);
  assert.equal(leastCoresMs([1, 2], ["each"], length), 3 * 400);
  assert.equal(leastCoresMs([1, 2, 4], ["shared", "each"], length), 9 * 400);
});
