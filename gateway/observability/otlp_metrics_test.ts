import assert from "node:assert/strict";
import { type MeasuredCall, otlpMetrics } from "./otlp_metrics.ts";
import { serveLoopback } from "../../tests/support/serve_loopback.ts";

const AT = "https://models.example.com/v1";
const SETTINGS = { headers: {}, isCompressed: false, resource: {} };

/** A call of one of many models, at one of many upstreams. */
function callOf(at: number): MeasuredCall {
  return {
    name: "chat",
    entry: {
      request_id: "req",
      method: "POST",
      path: "/v1/messages",
      endpoint: "/v1/messages",
      status: 200,
      duration_ms: 12,
      ended: "complete",
      model: `model-${at}`,
      usage: { input: 3, output: 4 },
    },
    candidate: {
      name: "vendor/model",
      upstreamModel: "model",
      address: { whole: AT, stream: AT },
    },
    began: true,
    vendors: [],
  };
}

Deno.test("otlpMetrics() has a bounded number of series, and loses no call", async () => {
  const received = Promise.withResolvers<string>();
  await using server = serveLoopback(async (request) => {
    received.resolve(await request.text());
    return new Response("{}");
  });
  const metrics = otlpMetrics({
    url: `http://127.0.0.1:${server.addr.port}/v1/metrics`,
    ...SETTINGS,
    isDelta: false,
    intervalMs: 1,
    timeoutMs: 60_000,
  }, () => {});
  for (let at = 0; at < 5_000; at++) metrics.record(callOf(at));
  // Before the end, which gives the last export two seconds.
  const { resourceMetrics: [one] } = JSON.parse(await received.promise);
  await metrics.close();
  assert.equal(one.scopeMetrics[0].metrics.length, 2);
  for (const { histogram: { dataPoints } } of one.scopeMetrics[0].metrics) {
    assert.ok(dataPoints.length <= 2_000, `${dataPoints.length} series`);
    const count = dataPoints.reduce(
      (sum: number, point: { count: number }) => sum + Number(point.count),
      0,
    );
    assert.equal(count % 5_000, 0);
  }
});

Deno.test("otlpMetrics() sends what has happened since the last export that arrived, if asked for", async () => {
  const counts: number[] = [];
  const answers = [500, 200, 200];
  const third = Promise.withResolvers<void>();
  await using server = serveLoopback(async (request) => {
    const { resourceMetrics: [one] } = await request.json();
    const { histogram } = one.scopeMetrics[0].metrics[0];
    assert.equal(histogram.aggregationTemporality, 1);
    counts.push(Number(histogram.dataPoints[0].count));
    if (counts.length === 2) metrics.record(callOf(1));
    if (counts.length === 3) third.resolve();
    return new Response("{}", { status: answers.shift() ?? 200 });
  });
  const events: string[] = [];
  const metrics = otlpMetrics({
    url: `http://127.0.0.1:${server.addr.port}/v1/metrics`,
    ...SETTINGS,
    isDelta: true,
    intervalMs: 20,
    timeoutMs: 10_000,
  }, ({ type }) => events.push(type));
  metrics.record(callOf(1));
  metrics.record(callOf(1));
  await third.promise;
  await metrics.close();
  assert.deepEqual(counts, [2, 2, 1]);
  assert.deepEqual(events, ["metrics_export_fails", "metrics_export_works"]);
});
