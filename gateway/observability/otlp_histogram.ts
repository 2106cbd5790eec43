/**
 * A histogram as OTLP has it: values by attributes, in buckets with fixed boundaries.
 */

/** The attributes by which series of a metric differ. */
export type Attributes = Readonly<Record<string, string | number | true>>;

interface Series {
  readonly attributes: Attributes;
  readonly buckets: number[];
  count: number;
  sum: number;
  sinceMs: number;
}

export interface HistogramForm {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  /** Upper boundaries of the buckets; the last bucket has none. */
  readonly bounds: readonly number[];
}

/** The most series of a histogram; values of further ones are added to one without attributes. */
const MAX_SERIES = 2_000;
const OVERFLOW: Attributes = { "otel.metric.overflow": true };

/** Values since its beginning, or since it was last taken. */
export class OtlpHistogram {
  readonly #form: HistogramForm;
  #series = new Map<string, Series>();

  constructor(form: HistogramForm) {
    this.#form = form;
  }

  record(value: number, attributes: Attributes, nowMs: number): void {
    const { bounds } = this.#form;
    const series = this.#seriesOf(attributes, nowMs);
    // A value that equals a boundary is below it.
    const at = bounds.findIndex((bound) => value <= bound);
    const bucket = at < 0 ? bounds.length : at;
    series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
    series.count++;
    series.sum += value;
  }

  /** Its values so far, as OTLP has them in JSON; undefined if there are none. */
  json(nowMs: number, isDelta: boolean): object | undefined {
    const { name, unit, description, bounds } = this.#form;
    if (this.#series.size === 0) return undefined;
    return {
      name,
      unit,
      description,
      histogram: {
        aggregationTemporality: isDelta ? 1 : 2,
        dataPoints: Array.from(this.#series.values(), (series) => ({
          attributes: attributeList(series.attributes),
          startTimeUnixNano: nanoseconds(series.sinceMs),
          timeUnixNano: nanoseconds(nowMs),
          count: String(series.count),
          sum: series.sum,
          bucketCounts: series.buckets.map(String),
          explicitBounds: bounds,
        })),
      },
    };
  }

  /** Begins anew. Returns the function that adds the values again, for an export that failed. */
  take(): () => void {
    const taken = this.#series;
    this.#series = new Map();
    return () => {
      for (
        const { attributes, buckets, count, sum, sinceMs } of taken.values()
      ) {
        const series = this.#seriesOf(attributes, sinceMs);
        for (const [at, more] of buckets.entries()) {
          series.buckets[at] = (series.buckets[at] ?? 0) + more;
        }
        series.count += count;
        series.sum += sum;
        series.sinceMs = Math.min(series.sinceMs, sinceMs);
      }
    };
  }

  #seriesOf(attributes: Attributes, nowMs: number): Series {
    const key = JSON.stringify(attributes);
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    if (this.#series.size >= MAX_SERIES - 1 && attributes !== OVERFLOW) {
      return this.#seriesOf(OVERFLOW, nowMs);
    }
    const series = {
      attributes,
      buckets: Array.from({ length: this.#form.bounds.length + 1 }, () => 0),
      count: 0,
      sum: 0,
      sinceMs: nowMs,
    };
    this.#series.set(key, series);
    return series;
  }
}

/** Attributes as OTLP has them in JSON, where integers are texts. */
export function attributeList(attributes: Attributes): object[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === "number"
      ? { intValue: String(value) }
      : value === true
      ? { boolValue: true }
      : { stringValue: value },
  }));
}

function nanoseconds(ms: number): string {
  return `${BigInt(Math.floor(ms)) * 1_000_000n}`;
}
