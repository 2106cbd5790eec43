import assert from "node:assert/strict";
import type { Sample } from "../measure/measure.ts";
import type { Cell } from "../measure/rounds.ts";
import { selectScenarios } from "../measure/scenarios.ts";
import { summarise } from "./summary.ts";

function sample(cpuMicros: number, delayMs = 1): Sample {
  return {
    cpuMicros,
    perSecond: 100,
    result: {
      requests: 10,
      events: 10,
      tookMs: 100,
      waits: { p50: 1, p99: 2 },
      firsts: { p50: 1, p99: 2 },
      delays: { p50: delayMs, p99: delayMs * 10 },
      faults: 0,
      problems: [],
      overlooked: [],
    },
  };
}

function cell(
  name: string,
  target: string,
  pairs: readonly (readonly [number, number])[],
): Cell {
  const [scenario] = selectScenarios([name]);
  assert.ok(scenario !== undefined);
  return {
    scenario,
    target,
    pairs: pairs.map(([one, base]) => ({
      sample: sample(one, one),
      base: sample(base, base),
    })),
  };
}

Deno.test("summarise() compares within each round, and returns the median and the range", () => {
  const [row] = summarise([
    cell("messages/whole-small", "gateway", [[100, 100], [600, 200], [
      200,
      100,
    ]]),
  ]);
  assert.deepEqual(row?.cpuRatio, { median: 2, low: 1, high: 3 });
  assert.deepEqual(row?.cpuMicros, { median: 200, low: 100, high: 600 });
  assert.deepEqual(row?.goals, [{
    of: "raw pipe",
    is: 2,
    atMost: 2,
    reached: true,
  }]);
});

Deno.test("summarise() compares only the gateway with Portkey, on the same scenario", () => {
  const rows = summarise([
    cell("chat/stream-unpaced", "gateway", [[1, 1]]),
    cell("chat/stream-unpaced", "portkey", [[5, 1]]),
    cell("chat-to-messages/stream-unpaced", "gateway", [[2, 1]]),
  ]);
  assert.deepEqual(rows.map(({ cpuOfPortkey }) => cpuOfPortkey), [
    0.2,
    undefined,
    undefined,
  ]);
  assert.deepEqual(rows[0]?.goals?.map(({ of, reached }) => [of, reached]), [
    ["raw pipe", true],
    ["Portkey", true],
  ]);
  assert.equal(rows[1]?.goals, undefined);
});

Deno.test("summarise() has other goals for unpaced streams over TLS, and compares with Portkey over TLS", () => {
  const goals = (name: string) =>
    summarise([
      cell(name, "gateway", [[15, 10]]),
      cell(name, "portkey", [[100, 10]]),
    ])[0]?.goals?.map(({ of, atMost }) => [of, atMost]);
  assert.deepEqual(goals("chat/stream-unpaced"), [
    ["raw pipe", 1.4],
    ["Portkey", 0.2],
  ]);
  assert.deepEqual(goals("tls/chat/stream-unpaced"), [
    ["raw pipe", 1.8],
    ["Portkey", 0.2],
  ]);
  assert.deepEqual(goals("tls/chat-to-messages/stream-unpaced"), [
    ["raw pipe", 2.2],
    ["Portkey", 0.2],
  ]);
  assert.deepEqual(goals("tls/messages/whole-100k"), [
    ["raw pipe", 2.2],
    ["Portkey", 0.12],
  ]);
});

Deno.test("summarise() reports the delay that a target adds to an event", () => {
  const [row] = summarise([
    cell("messages/event-delay", "gateway", [[0.5, 0.25], [0.75, 0.25]]),
  ]);
  assert.deepEqual(row?.addedMs?.p50, { median: 0.375, low: 0.25, high: 0.5 });
  assert.equal(row?.addedMs?.p99.high, 5);
  assert.deepEqual(row?.goals?.map(({ of, reached }) => [of, reached]), [
    ["delay", false],
  ]);
});

Deno.test("summarise() omits cells without a measurement", () => {
  assert.deepEqual(
    summarise([cell("messages/whole-small", "gateway", [])]),
    [],
  );
});
