import assert from "node:assert/strict";
import { EventCounts } from "./event_counts.ts";
import type { LogEntry } from "./log.ts";
import { createMetrics, type GatewayState, type Metrics } from "./metrics.ts";

const STATE: GatewayState = {
  calls: () => 3,
  maxCalls: () => 2000,
  startedAtMs: 1_764_000_000_000,
  events: new EventCounts(),
  streams: () => 1,
  sockets: () => 0,
  openedSockets: () => 0,
  backlog: () => 0,
  clockAheadMs: () => 0,
  certificateEnds: () => [],
  storeSchema: () => ({ stored: 1, program: 1 }),
  audit: () => undefined,
  droppedLines: () => 0,
  candidates: () => [],
  modelsWithoutPrice: () => [],
};

const REPLIED = { first_byte_ms: 290, duration_ms: 800, status: 200 };
const ENTRY: LogEntry = {
  request_id: "r",
  method: "POST",
  path: "/v1/messages",
  endpoint: "/v1/messages",
  status: 200,
  duration_ms: 900,
  ttfb_ms: 300,
  ended: "complete",
  account_id: "a",
  key_id: "k",
  model: "m",
  upstream: "v/m",
  attempts: 1,
  upstream_calls: [{ upstream: "v/m", after_ms: 4, ...REPLIED }],
  usage: { input: 5, cacheRead: 1, cacheWrite: 1, output: 7, reasoning: 2 },
  cost_micro_usd: 12,
};

function seriesIn(metrics: Metrics): string[] {
  return metrics.text().split("\n").filter((line) => /^[a-z]/.test(line));
}

/** The value of the series with exactly these labels. */
function value(metrics: Metrics, series: string): number | undefined {
  const line = seriesIn(metrics).find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.split(" ").at(-1));
}

const CLOSED = { state: "closed", since: null, resting_until: null } as const;

/** Most series of a process with 500 models of two candidates each, called at three endpoints. */
const MOST_SERIES = 12_000;

Deno.test("1,000 keys, 500 models at three endpoints and two candidates each make a bounded number of series", () => {
  const models = Array.from({ length: 500 }, (_, i) => `model-${i}`);
  const endpoints = ["/v1/messages", "/v1/chat/completions", "/v1/responses"];
  const metrics = createMetrics({
    ...STATE,
    candidates: () =>
      models.flatMap((model) =>
        ["a", "b"].map((vendor) => ({
          ...CLOSED,
          model,
          upstream: `${vendor}/${model}`,
        }))
      ),
  });
  const call = (model: string, endpoint: string, key: number): void =>
    metrics.record({
      ...ENTRY,
      endpoint,
      model,
      upstream: `${key % 2 === 0 ? "a" : "b"}/${model}`,
      key_id: `key-${key}`,
      unpriced: true,
      bounded: true,
    });
  for (const [i, model] of models.entries()) {
    for (const endpoint of endpoints) call(model, endpoint, i);
  }
  for (let key = 0; key < 1000; key++) call("model-0", "/v1/messages", key);
  const calls = 500 * 3 + 1000;
  const found = seriesIn(metrics);
  assert.ok(found.length <= MOST_SERIES, `${found.length} series`);
  assert.ok(found.length > 5_000, `${found.length} series`);

  // What a label does not distinguish is counted all the same.
  const of = (name: string): string[] =>
    found.filter((line) => line.startsWith(`${name}{`));
  const sum = (name: string): number =>
    of(name).reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  assert.equal(sum("gateway_requests_total"), calls);
  assert.equal(sum("gateway_cost_micro_usd_total"), calls * 12);
  assert.equal(sum("gateway_request_duration_seconds_count"), calls);
  assert.equal(
    value(metrics, 'gateway_cost_micro_usd_total{model="model-499"}'),
    36,
  );
  assert.equal(of("gateway_request_duration_seconds_count").length, 101);
});

Deno.test("every outcome of every model at every endpoint makes a bounded number of series", () => {
  const metrics = createMetrics(STATE);
  for (let model = 0; model < 3_000; model++) {
    for (const status of [200, 429, 499, 500, 502, 503, 504, 529]) {
      metrics.record({
        ...ENTRY,
        model: `model-${model}`,
        status,
        endpoint: model % 2 === 0 ? "/v1/messages" : "/v1/responses",
      });
    }
  }
  const found = seriesIn(metrics);
  assert.ok(found.length <= 13_000, `${found.length} series`);
  assert.equal(
    value(metrics, 'gateway_cost_micro_usd_total{model="other"}'),
    2_500 * 8 * 12,
  );
});

Deno.test("attempts are counted by vendor and result, with their times and the gateway's own", () => {
  const metrics = createMetrics(STATE);
  metrics.record({
    ...ENTRY,
    attempts: 2,
    upstream: "w/m",
    upstream_calls: [
      { upstream: "v/m", after_ms: 4, duration_ms: 9, error: "overloaded" },
      { upstream: "w/m", after_ms: 20, ...REPLIED },
    ],
  });
  metrics.record({
    ...ENTRY,
    ended: "caller_left",
    upstream_calls: [{ upstream: "v/m", after_ms: 2, duration_ms: 5 }],
  });
  for (
    const [series, expected] of [
      ['gateway_upstream_calls_total{vendor="v",result="overloaded"}', 1],
      ['gateway_upstream_calls_total{vendor="v",result="left"}', 1],
      ['gateway_upstream_calls_total{vendor="w",result="ok"}', 1],
      ['gateway_upstream_first_byte_seconds_count{vendor="w"}', 1],
      ['gateway_upstream_first_byte_seconds_count{vendor="v"}', undefined],
      ['gateway_time_to_upstream_seconds_bucket{le="0.005"}', 2],
      ["gateway_time_to_upstream_seconds_count", 2],
      ["gateway_calls_limit", 2000],
      ["process_start_time_seconds", 1_764_000_000],
    ] as const
  ) assert.equal(value(metrics, series), expected, series);
});

Deno.test("the store, the configuration and credentials have a state, events a count", () => {
  const events = new EventCounts();
  const failing = {
    usable: false,
    failing_since: new Date(0).toISOString(),
    reason: "refused",
  };
  const usable = { ...failing, usable: true };
  const candidate = { model: "m", ...CLOSED };
  const metrics = createMetrics({
    ...STATE,
    events,
    candidates: () => [
      { ...candidate, upstream: "v/m" },
      { ...candidate, upstream: "v/n", credential: failing },
      { ...candidate, upstream: "w/m", credential: usable },
      { ...candidate, upstream: "x/m" },
    ],
  });
  const states = () =>
    ["gateway_store_up", "gateway_configuration_refused"].map((name) =>
      value(metrics, name)
    );
  assert.deepEqual(states(), [1, 0]);
  events.count("store_down");
  events.count("configuration_refused");
  assert.deepEqual(states(), [0, 1]);
  events.count("store_up");
  events.count("configuration_unchanged");
  assert.deepEqual(states(), [1, 0]);
  events.count("store_down");
  assert.equal(value(metrics, 'gateway_events_total{type="store_down"}'), 2);
  assert.deepEqual(
    ["v", "w", "x"].map((vendor) =>
      value(metrics, `gateway_credential_state{vendor="${vendor}"}`)
    ),
    [2, 1, 0],
  );
});

Deno.test("a model that an upstream does not know, and one without a price, have series of their own", () => {
  const metrics = createMetrics({
    ...STATE,
    modelsWithoutPrice: () => ["dear"],
  });
  metrics.record({
    ...ENTRY,
    upstream: "w/m",
    upstream_calls: [
      { upstream: "v/m", after_ms: 4, duration_ms: 9, error: "not_found" },
      { upstream: "w/m", after_ms: 14, ...REPLIED },
    ],
  });
  assert.deepEqual(
    seriesIn(metrics).filter((line) =>
      /not_found_total|without_price/.test(line)
    ),
    [
      'gateway_upstream_not_found_total{model="m",vendor="v"} 1',
      'gateway_model_without_price{model="dear"} 1',
    ],
  );
});
