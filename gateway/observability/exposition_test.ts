import assert from "node:assert/strict";
import { counter, gauge, histogram } from "./exposition.ts";

Deno.test("counter() sums by labels and escapes their values", () => {
  const calls = counter("calls_total", "Calls");
  calls.of({ model: 'a"b\\c\nd', status: "200" }).add(1);
  calls.of({ model: 'a"b\\c\nd', status: "200" }).add(2);
  calls.of({ model: "", status: "404" }).add(1);
  calls.of({ model: "never", status: "200" });
  assert.equal(
    calls.text(),
    "# HELP calls_total Calls\n# TYPE calls_total counter\n" +
      'calls_total{model="a\\"b\\\\c\\nd",status="200"} 3\n' +
      'calls_total{model="",status="404"} 1\n',
  );
});

Deno.test("histogram() counts values up to and including each bound", () => {
  const times = histogram("seconds", "Times", [0.5, 2]);
  const root = times.of({ path: "/" });
  for (const value of [0.25, 0.5, 1, 4]) root.observe(value);
  times.of({ path: "/never" });
  assert.equal(
    times.text(),
    "# HELP seconds Times\n# TYPE seconds histogram\n" +
      'seconds_bucket{path="/",le="0.5"} 2\n' +
      'seconds_bucket{path="/",le="2"} 3\n' +
      'seconds_bucket{path="/",le="+Inf"} 4\n' +
      'seconds_sum{path="/"} 5.75\n' +
      'seconds_count{path="/"} 4\n',
  );
});

Deno.test("gauge() reads its value, if it has one, at each export", () => {
  const now: { open?: number } = {};
  const streams = gauge("open", "Open streams", () => now.open);
  const head = "# HELP open Open streams\n# TYPE open gauge\n";
  assert.equal(streams.text(), head);
  now.open = 7;
  assert.equal(streams.text(), `${head}open 7\n`);
});

Deno.test("gauge() reads its series at each export", () => {
  const states = new Map([["a", 0], ["b", 2]]);
  const series = () =>
    [...states].map(([name, state]) => [{ name }, state] as const);
  const metric = gauge("state", "States", series);
  states.set("a", 1);
  assert.equal(
    metric.text(),
    '# HELP state States\n# TYPE state gauge\nstate{name="a"} 1\nstate{name="b"} 2\n',
  );
});
