/**
 * Counters, histograms and gauges in Prometheus' text format
 * (https://prometheus.io/docs/instrumenting/exposition_formats/, version 0.0.4). No package:
 * `npm:prom-client` makes `deno compile` of 2.8.2 overflow its stack.
 */

/** The content type of the format. */
export const EXPOSITION_TYPE: string =
  "text/plain; version=0.0.4; charset=utf-8";

/** Labels by name; the same names in the same order for every series of a metric. */
type Labels = Readonly<Record<string, string>>;

/** A metric that can be exported. */
export interface Metric {
  /** All its lines, each with its line end. */
  text(): string;
}

/** A value that never decreases. */
interface Counter extends Metric {
  /** The series for these labels; exported after its first increment. */
  of(labels: Labels): CounterSeries;
}

export interface CounterSeries {
  /** Increases the value; `by` is at least 0. */
  add(by: number): void;
}

/** Counts of values in buckets with upper bounds. */
interface Histogram extends Metric {
  /** The series for these labels; exported after its first value. */
  of(labels: Labels): HistogramSeries;
}

export interface HistogramSeries {
  observe(value: number): void;
}

/** Creates a {@linkcode Counter} without series. */
export function counter(name: string, help: string): Counter {
  const series = new Map<string, number>();
  return {
    of(labels) {
      const key = labelText(labels);
      return { add: (by) => void series.set(key, (series.get(key) ?? 0) + by) };
    },
    text: () =>
      head(name, help, "counter") +
      [...series].map(([labels, value]) => line(name, labels, value)).join(""),
  };
}

/** Creates a {@linkcode Histogram} without series; `bounds` ascend. */
export function histogram(
  name: string,
  help: string,
  bounds: readonly number[],
): Histogram {
  const series = new Map<string, { counts: number[]; sum: number }>();
  return {
    of(labels) {
      const key = labelText(labels);
      return {
        observe(value) {
          let one = series.get(key);
          if (one === undefined) {
            one = { counts: new Array(bounds.length + 1).fill(0), sum: 0 };
            series.set(key, one);
          }
          const at = bounds.findIndex((bound) => value <= bound);
          const bucket = at === -1 ? bounds.length : at;
          one.counts[bucket] = (one.counts[bucket] ?? 0) + 1;
          one.sum += value;
        },
      };
    },
    text() {
      let text = head(name, help, "histogram");
      for (const [labels, { counts, sum }] of series) {
        let total = 0;
        for (const [i, count] of counts.entries()) {
          total += count;
          const bound = labelText({ le: String(bounds[i] ?? "+Inf") });
          text += line(`${name}_bucket`, joinLabels(labels, bound), total);
        }
        text += line(`${name}_sum`, labels, sum);
        text += line(`${name}_count`, labels, total);
      }
      return text;
    },
  };
}

/** The value of a metric without labels, or its series; undefined: it has none now. */
type Reading = number | undefined | Iterable<readonly [Labels, number]>;

/** Creates a counter; `read` returns its value or series at each export. */
export function readCounter(
  name: string,
  help: string,
  read: () => Reading,
): Metric {
  return { text: () => readText(name, help, "counter", read()) };
}

/** Creates a gauge; `read` returns its value or series at each export. */
export function gauge(
  name: string,
  help: string,
  read: () => Reading,
): Metric {
  return { text: () => readText(name, help, "gauge", read()) };
}

function readText(
  name: string,
  help: string,
  type: string,
  reading: Reading = [],
): string {
  const series = typeof reading === "number"
    ? [[{}, reading] as const]
    : [...reading];
  return head(name, help, type) +
    series.map(([labels, value]) => line(name, labelText(labels), value))
      .join("");
}

function head(name: string, help: string, type: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function line(name: string, labels: string, value: number): string {
  return `${name}${labels === "" ? "" : `{${labels}}`} ${value}\n`;
}

function joinLabels(labels: string, more: string): string {
  return labels === "" ? more : `${labels},${more}`;
}

function labelText(labels: Labels): string {
  return Object.entries(labels).map(([name, value]) =>
    `${name}="${
      value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll(
        "\n",
        "\\n",
      )
    }"`
  ).join(",");
}
