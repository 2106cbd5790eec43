/**
 * Makes the Grafana dashboard: `deno task dashboard` writes `deploy/monitoring/dashboard.json`, which Grafana
 * imports as it is.
 *
 * @module
 */

/** A query of a panel. */
interface Query {
  readonly expr: string;
  /** Name of a line, with labels in double braces. */
  readonly legend: string;
}

interface Panel {
  readonly title: string;
  readonly queries: readonly Query[];
  /** A unit that Grafana knows. */
  readonly unit: string;
  readonly description?: string;
  /** Absent: a plot over time. */
  readonly kind?: "stat";
}

const query = (expr: string, legend: string): Query => ({ expr, legend });

/** The label matchers of every query. */
const M = `job=~"$job"`;

/** The calls of a model, `$model`. */
const MODEL = `${M}, model=~"$model"`;

const ROWS: readonly (readonly [string, readonly Panel[]])[] = [
  ["Now", [
    {
      title: "Processes",
      kind: "stat",
      unit: "none",
      queries: [query(`sum(up{${M}})`, "answer")],
    },
    {
      title: "Calls under way",
      kind: "stat",
      unit: "none",
      queries: [query(`sum(gateway_calls_under_way{${M}})`, "calls")],
    },
    {
      title: "Calls a second",
      kind: "stat",
      unit: "reqps",
      queries: [
        query(`sum(rate(gateway_requests_total{${M}}[5m]))`, "calls"),
      ],
    },
    {
      title: "Errors",
      description:
        "Share of calls that end with an error of the gateway or of an upstream.",
      kind: "stat",
      unit: "percentunit",
      queries: [
        query(`max(job:gateway_request_errors:ratio_rate5m{${M}})`, "errors"),
      ],
    },
    {
      title: "Cost an hour",
      kind: "stat",
      unit: "currencyUSD",
      queries: [
        query(
          `sum(increase(gateway_cost_micro_usd_total{${M}}[1h])) / 1e6`,
          "cost",
        ),
      ],
    },
    {
      title: "Audit findings",
      kind: "stat",
      unit: "none",
      queries: [query(`max(gateway_audit_findings{${M}})`, "findings")],
    },
  ]],
  ["Calls", [
    {
      title: "Calls by how they ended",
      unit: "reqps",
      queries: [
        query(
          `sum by (ended) (job_ended:gateway_requests:rate5m{${M}})`,
          "{{ended}}",
        ),
      ],
    },
    {
      title: "Requests by status",
      unit: "reqps",
      queries: [
        query(
          `sum by (status) (rate(gateway_requests_total{${M}}[5m]))`,
          "{{status}}",
        ),
      ],
    },
    {
      title: "Calls by endpoint",
      unit: "reqps",
      queries: [
        query(
          `sum by (endpoint) (rate(gateway_requests_total{${M}}[5m]))`,
          "{{endpoint}}",
        ),
      ],
    },
    {
      title: "Time to the first byte, 95 %",
      unit: "s",
      queries: [
        query(
          `topk(10, job_model:gateway_time_to_first_byte_seconds:p95_rate5m{${MODEL}})`,
          "{{model}}",
        ),
      ],
    },
    {
      title: "Duration of calls",
      unit: "s",
      queries: [0.5, 0.95, 0.99].map((quantile) =>
        query(
          `histogram_quantile(${quantile}, sum by (le) (rate(gateway_request_duration_seconds_bucket{${MODEL}}[5m])))`,
          `${quantile * 100} %`,
        )
      ),
    },
    {
      title: "Under way, against the limit",
      unit: "none",
      queries: [
        query(`gateway_calls_under_way{${M}}`, "{{instance}}"),
        query(`gateway_open_streams{${M}}`, "{{instance}} streams"),
        query(`gateway_calls_limit{${M}}`, "{{instance}} limit"),
      ],
    },
  ]],
  ["Models", [
    {
      title: "Cost, dollars an hour",
      unit: "currencyUSD",
      queries: [
        query(
          `topk(10, sum by (model) (job_model:gateway_cost_usd:rate5m{${MODEL}}) * 3600)`,
          "{{model}}",
        ),
      ],
    },
    {
      title: "Tokens a second",
      unit: "none",
      queries: [
        query(
          `sum by (kind) (job_model_kind:gateway_tokens:rate5m{${MODEL}})`,
          "{{kind}}",
        ),
      ],
    },
    {
      title: "Prompts read from a cache",
      description:
        "Share of the input tokens that upstreams had in their prompt caches.",
      unit: "percentunit",
      queries: [
        query(
          `(sum(job_model_kind:gateway_tokens:rate5m{${MODEL}, kind="cache_read"}) or vector(0)) / (sum(job_model_kind:gateway_tokens:rate5m{${MODEL}, kind=~"input|cache_read|cache_write"}) > 0)`,
          "cache",
        ),
      ],
    },
  ]],
  ["Upstreams", [
    {
      title: "Failed attempts",
      unit: "percentunit",
      queries: [
        query(
          `job_vendor:gateway_upstream_errors:ratio_rate5m{${M}}`,
          "{{vendor}}",
        ),
      ],
    },
    {
      title: "Attempts by result",
      unit: "reqps",
      queries: [
        query(
          `sum by (vendor, result) (rate(gateway_upstream_calls_total{${M}}[5m]))`,
          "{{vendor}} {{result}}",
        ),
      ],
    },
    {
      title: "First byte, 95 %",
      unit: "s",
      queries: [
        query(
          `job_vendor:gateway_upstream_first_byte_seconds:p95_rate5m{${M}}`,
          "{{vendor}}",
        ),
      ],
    },
    {
      title: "Retries and other candidates",
      unit: "reqps",
      queries: [
        query(
          `sum by (vendor) (rate(gateway_upstream_retries_total{${M}}[5m]))`,
          "{{vendor}} retries",
        ),
        query(
          `sum(rate(gateway_upstream_fallbacks_total{${M}}[5m]))`,
          "replies of another candidate",
        ),
      ],
    },
    {
      title: "Breakers that are not closed",
      unit: "none",
      queries: [
        query(
          `max by (upstream) (gateway_upstream_breaker_state{${M}}) > 0`,
          "{{upstream}}",
        ),
      ],
    },
    {
      title: "Credentials: 0 works, 1 fails, 2 none",
      unit: "none",
      queries: [
        query(
          `max by (vendor) (gateway_credential_state{${M}})`,
          "{{vendor}}",
        ),
      ],
    },
  ]],
  ["The gateway", [
    {
      title: "Own time before the upstream",
      unit: "s",
      queries: [
        query(
          `max(job:gateway_time_to_upstream_seconds:p99_rate5m{${M}})`,
          "99 %",
        ),
      ],
    },
    {
      title: "Writes that wait",
      unit: "none",
      queries: [query(`gateway_ledger_backlog{${M}}`, "{{instance}}")],
    },
    {
      title: "Store",
      unit: "none",
      queries: [query(`gateway_store_up{${M}}`, "{{instance}}")],
    },
    {
      title: "Read replica, seconds behind",
      description: "Only where DATABASE_READ_URL is set.",
      unit: "s",
      queries: [
        query(`gateway_read_replica_lag_seconds{${M}}`, "{{instance}}"),
      ],
    },
    {
      title: "Processor",
      unit: "percentunit",
      queries: [
        query(
          `rate(process_cpu_seconds_total{${M}}[5m])`,
          "{{instance}}",
        ),
      ],
    },
    {
      title: "Memory",
      unit: "bytes",
      queries: [
        query(`process_resident_memory_bytes{${M}}`, "{{instance}}"),
      ],
    },
    {
      title: "Events of the log, an hour",
      unit: "none",
      queries: [
        query(
          `sum by (type) (increase(gateway_events_total{${M}}[1h]))`,
          "{{type}}",
        ),
      ],
    },
    {
      title: "Versions",
      unit: "none",
      queries: [
        query(
          `count by (version, deno) (gateway_build_info{${M}})`,
          "{{version}}, Deno {{deno}}",
        ),
      ],
    },
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
    const perLine = row[0]?.kind === "stat" ? row.length : 3;
    const [w, h] = [Math.floor(WIDTH / perLine), perLine === 3 ? 8 : 4];
    row.forEach((panel, at) => {
      made.push({
        id: made.length + 1,
        type: panel.kind ?? "timeseries",
        title: panel.title,
        description: panel.description ?? "",
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
        targets: panel.queries.map(({ expr, legend }, index) => ({
          refId: String.fromCharCode("A".charCodeAt(0) + index),
          datasource: DATASOURCE,
          expr,
          legendFormat: legend,
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
