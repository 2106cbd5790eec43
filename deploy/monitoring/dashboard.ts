/**
 * Makes the Grafana dashboard: `deno task dashboard` writes `deploy/monitoring/dashboard.json`,
 * which Grafana imports as it is.
 */

/** A panel: a plot over time, or a single figure. */
interface Panel {
  readonly type: "timeseries" | "stat";
  readonly title: string;
  /** A unit that Grafana knows. */
  readonly unit: string;
  /** The query of each line, by the line's name, which has labels in double braces. */
  readonly queries: Readonly<Record<string, string>>;
  readonly description: string;
}

const panelOf = (type: Panel["type"]) =>
(
  title: string,
  unit: string,
  queries: Panel["queries"],
  description = "",
): Panel => ({ type, title, unit, queries, description });
const plot = panelOf("timeseries");
const stat = panelOf("stat");

/** The label matcher of every query. */
const JOB = `job=~"$job"`;

/** The label matchers of queries about calls of a model. */
const MODEL = `${JOB}, model=~"$model"`;

const ROWS: readonly (readonly [string, readonly Panel[]])[] = [
  ["Now", [
    stat("Processes", "none", { answer: `sum(up{${JOB}})` }),
    stat("Calls under way", "none", {
      calls: `sum(gateway_calls_under_way{${JOB}})`,
    }),
    stat("Calls a second", "reqps", {
      calls: `sum(rate(gateway_requests_total{${JOB}}[5m]))`,
    }),
    stat(
      "Errors",
      "percentunit",
      { errors: `max(job:gateway_request_errors:ratio_rate5m{${JOB}})` },
      "Share of calls that end with an error of the gateway or of an upstream.",
    ),
    stat("Cost an hour", "currencyUSD", {
      cost: `sum(increase(gateway_cost_micro_usd_total{${JOB}}[1h])) / 1e6`,
    }),
    stat("Audit findings", "none", {
      findings: `max(gateway_audit_findings{${JOB}})`,
    }),
  ]],
  ["Calls", [
    plot("Calls by how they ended", "reqps", {
      "{{ended}}": `sum by (ended) (job_ended:gateway_requests:rate5m{${JOB}})`,
    }),
    plot("Requests by status", "reqps", {
      "{{status}}":
        `sum by (status) (rate(gateway_requests_total{${JOB}}[5m]))`,
    }),
    plot("Calls by endpoint", "reqps", {
      "{{endpoint}}":
        `sum by (endpoint) (rate(gateway_requests_total{${JOB}}[5m]))`,
    }),
    plot("Time to the first byte, 95 %", "s", {
      "{{model}}":
        `topk(10, job_model:gateway_time_to_first_byte_seconds:p95_rate5m{${MODEL}})`,
    }),
    plot(
      "Duration of calls",
      "s",
      Object.fromEntries(
        [0.5, 0.95, 0.99].map((
          quantile,
        ) => [
          `${quantile * 100} %`,
          `histogram_quantile(${quantile}, sum by (le) (rate(gateway_request_duration_seconds_bucket{${MODEL}}[5m])))`,
        ]),
      ),
    ),
    plot("Under way, against the limit", "none", {
      "{{instance}}": `gateway_calls_under_way{${JOB}}`,
      "{{instance}} streams": `gateway_open_streams{${JOB}}`,
      "{{instance}} limit": `gateway_calls_limit{${JOB}}`,
    }),
  ]],
  ["Models", [
    plot("Cost, dollars an hour", "currencyUSD", {
      "{{model}}":
        `topk(10, sum by (model) (job_model:gateway_cost_usd:rate5m{${MODEL}}) * 3600)`,
    }),
    plot("Tokens a second", "none", {
      "{{kind}}":
        `sum by (kind) (job_model_kind:gateway_tokens:rate5m{${MODEL}})`,
    }),
    plot("Prompts read from a cache", "percentunit", {
      cache:
        `(sum(job_model_kind:gateway_tokens:rate5m{${MODEL}, kind="cache_read"}) or vector(0)) / (sum(job_model_kind:gateway_tokens:rate5m{${MODEL}, kind=~"input|cache_read|cache_write"}) > 0)`,
    }, "Share of the input tokens that upstreams had in their prompt caches."),
  ]],
  ["Upstreams", [
    plot("Failed attempts", "percentunit", {
      "{{vendor}}": `job_vendor:gateway_upstream_errors:ratio_rate5m{${JOB}}`,
    }),
    plot("Attempts by result", "reqps", {
      "{{vendor}} {{result}}":
        `sum by (vendor, result) (rate(gateway_upstream_calls_total{${JOB}}[5m]))`,
    }),
    plot("First byte, 95 %", "s", {
      "{{vendor}}":
        `job_vendor:gateway_upstream_first_byte_seconds:p95_rate5m{${JOB}}`,
    }),
    plot("Retries and other candidates", "reqps", {
      "{{vendor}} retries":
        `sum by (vendor) (rate(gateway_upstream_retries_total{${JOB}}[5m]))`,
      "replies of another candidate":
        `sum(rate(gateway_upstream_fallbacks_total{${JOB}}[5m]))`,
    }),
    plot("Breakers that are not closed", "none", {
      "{{upstream}}":
        `max by (upstream) (gateway_upstream_breaker_state{${JOB}}) > 0`,
    }),
    plot("Credentials: 0 works, 1 fails, 2 none", "none", {
      "{{vendor}}": `max by (vendor) (gateway_credential_state{${JOB}})`,
    }),
  ]],
  ["The gateway", [
    plot("Own time before the upstream", "s", {
      "99 %": `max(job:gateway_time_to_upstream_seconds:p99_rate5m{${JOB}})`,
    }),
    plot("Writes that wait", "none", {
      "{{instance}}": `gateway_ledger_backlog{${JOB}}`,
    }),
    plot("Store", "none", { "{{instance}}": `gateway_store_up{${JOB}}` }),
    plot("Read replica, seconds behind", "s", {
      "{{instance}}": `gateway_read_replica_lag_seconds{${JOB}}`,
    }, "Only where DATABASE_READ_URL is set."),
    plot("Processor", "percentunit", {
      "{{instance}}": `rate(process_cpu_seconds_total{${JOB}}[5m])`,
    }),
    plot("Memory", "bytes", {
      "{{instance}}": `process_resident_memory_bytes{${JOB}}`,
    }),
    plot("Events of the log, an hour", "none", {
      "{{type}}": `sum by (type) (increase(gateway_events_total{${JOB}}[1h]))`,
    }),
    plot("Versions", "none", {
      "{{version}}, Deno {{deno}}":
        `count by (version, deno) (gateway_build_info{${JOB}})`,
    }),
  ]],
];

const DATASOURCE = { type: "prometheus", uid: "${datasource}" };
/** Columns of Grafana's grid. */
const WIDTH = 24;

function variable(name: string, metric: string): object {
  return {
    name,
    type: "query",
    datasource: DATASOURCE,
    query: `label_values(${metric}, ${name})`,
    includeAll: true,
    allValue: ".*",
    multi: true,
    current: { text: "All", value: "$__all" },
    refresh: 2,
  };
}

function panels(): object[] {
  const made: object[] = [];
  let y = 0;
  for (const [title, row] of ROWS) {
    made.push({
      id: made.length + 1,
      type: "row",
      title,
      gridPos: { x: 0, y: y++, w: WIDTH, h: 1 },
    });
    const perLine = row[0]?.type === "stat" ? row.length : 3;
    const [w, h] = [Math.floor(WIDTH / perLine), perLine === 3 ? 8 : 4];
    row.forEach((panel, at) => {
      made.push({
        id: made.length + 1,
        type: panel.type,
        title: panel.title,
        description: panel.description,
        datasource: DATASOURCE,
        gridPos: {
          x: at % perLine * w,
          y: y + Math.floor(at / perLine) * h,
          w,
          h,
        },
        fieldConfig: {
          defaults: { unit: panel.unit, min: 0 },
          overrides: [],
        },
        targets: Object.entries(panel.queries).map((
          [legendFormat, expr],
          index,
        ) => ({
          refId: String.fromCharCode("A".charCodeAt(0) + index),
          datasource: DATASOURCE,
          expr,
          legendFormat,
        })),
      });
    });
    y += Math.ceil(row.length / perLine) * h;
  }
  return made;
}

/** The text of the dashboard's file. */
export function dashboard(): string {
  return `${
    JSON.stringify(
      {
        title: "Model Gateway",
        uid: "model-gateway",
        tags: ["model-gateway"],
        schemaVersion: 39,
        timezone: "browser",
        time: { from: "now-6h", to: "now" },
        refresh: "30s",
        templating: {
          list: [
            {
              name: "datasource",
              type: "datasource",
              query: "prometheus",
              current: {},
            },
            variable("job", "gateway_build_info"),
            variable("model", "gateway_cost_micro_usd_total"),
          ],
        },
        panels: panels(),
      },
      null,
      2,
    )
  }\n`;
}

if (import.meta.main) {
  await Deno.writeTextFile(
    new URL("dashboard.json", import.meta.url),
    dashboard(),
  );
}
