/**
 * What a Prometheus server reads: counts and times of calls. Everything comes from the entries of the request log and from
 * what is under way, so that log and metrics cannot disagree. Labels are words of ours (routes, models, vendors): nothing that
 * a caller wrote, so that there are few series and no secret.
 *
 * @module
 */
import type { Usage } from "../translate/reply.ts";
import {
  counter,
  type CounterSeries,
  EXPOSITION_TYPE,
  gauge,
  gauges,
  histogram,
  type HistogramSeries,
  type Metric,
} from "./exposition.ts";
import type { LogEntry } from "./log.ts";
import type { BreakerState } from "./upstream/breaker.ts";
import type { CandidateReport } from "./upstream/candidate_report.ts";

/** What is under way, asked when the metrics are read. */
export interface UnderWay {
  /** Calls that are being served, their bodies' reading included. */
  calls(): number;
  /** Streams whose callers are being sent an answer. */
  streams(): number;
  /** What the ledger still has to write. */
  backlog(): number;
  /** How each candidate is. */
  candidates(): readonly CandidateReport[];
}

/** The metrics of one gateway. */
export interface Metrics {
  /** Counts an entry of the request log. */
  record(entry: LogEntry): void;
  /** All of them, in Prometheus' text format. */
  text(): string;
  /** Of that text. */
  readonly contentType: string;
}

/** In seconds: from an answer that fails at once to a long stream. */
const DURATION_BUCKETS: readonly number[] = [
  0.01,
  0.05,
  0.1,
  0.25,
  0.5,
  1,
  2.5,
  5,
  10,
  30,
  60,
  120,
  300,
  600,
  1800,
];

/** A breaker as a figure: the higher, the worse. */
const BREAKER_FIGURES: Readonly<Record<BreakerState, number>> = {
  closed: 0,
  half_open: 1,
  open: 2,
};

/** The label of a request that no route has. */
const NO_ROUTE = "other";

/** The kinds of tokens, and which figure of a usage counts them. */
const TOKEN_KINDS: readonly {
  readonly kind: string;
  readonly of: keyof Usage;
}[] = [
  { kind: "input", of: "input" },
  { kind: "cache_read", of: "cacheRead" },
  { kind: "cache_write", of: "cacheWrite" },
  { kind: "output", of: "output" },
  { kind: "reasoning", of: "reasoning" },
];

/** The series that an entry counts in: the same for all with its route, model, status and end. */
interface Series {
  readonly requests: CounterSeries;
  readonly duration: HistogramSeries;
  readonly firstByte: HistogramSeries;
  readonly tokens: readonly {
    readonly of: keyof Usage;
    readonly series: CounterSeries;
  }[];
  readonly cost: CounterSeries;
}

/** Makes metrics that stand at zero. */
export function createMetrics(underWay: UnderWay): Metrics {
  const requests = counter(
    "gateway_requests_total",
    "Generation calls that were granted, and requests of any kind that were refused",
  );
  const tokens = counter(
    "gateway_tokens_total",
    "Tokens as upstreams told them; reasoning is a part of output",
  );
  const cost = counter(
    "gateway_cost_micro_usd_total",
    "What calls were charged, in millionths of a dollar",
  );
  const firstByte = histogram(
    "gateway_time_to_first_byte_seconds",
    "From a granted call's arrival to the first byte of its answer",
    DURATION_BUCKETS,
  );
  const duration = histogram(
    "gateway_request_duration_seconds",
    "From a granted call's arrival to its end",
    DURATION_BUCKETS,
  );
  const upstreamErrors = counter(
    "gateway_upstream_errors_total",
    "Granted calls that failed at the upstream or on the way to it",
  );
  const retries = counter(
    "gateway_upstream_retries_total",
    "Failed attempts that another attempt followed, by what had failed",
  );
  const fallbacks = counter(
    "gateway_upstream_fallbacks_total",
    "Calls that were answered by another candidate than the first one tried",
  );
  const all: readonly Metric[] = [
    requests,
    tokens,
    cost,
    firstByte,
    duration,
    upstreamErrors,
    retries,
    fallbacks,
    gauges(
      "gateway_upstream_breaker_state",
      "Circuit breakers: 0 closed, 1 half-open, 2 open",
      () =>
        underWay.candidates().map((
          { model, upstream, state },
        ) => [{ model, upstream }, BREAKER_FIGURES[state]]),
    ),
    gauges(
      "gateway_upstream_resting",
      "1 where an upstream asked to be left alone for a while",
      () =>
        underWay.candidates().map((
          { model, upstream, resting_until },
        ) => [{ model, upstream }, resting_until === null ? 0 : 1]),
    ),
    gauge(
      "gateway_open_streams",
      "Streams whose callers are being sent an answer",
      () => underWay.streams(),
    ),
    gauge(
      "gateway_ledger_backlog",
      "Reservations and settlements that are not written yet",
      () => underWay.backlog(),
    ),
    gauge(
      "gateway_calls_under_way",
      "Calls that are being served",
      () => underWay.calls(),
    ),
  ];
  const seriesOf = (entry: LogEntry): Series => {
    const { endpoint = NO_ROUTE, model = "", ended } = entry;
    return {
      requests: requests.of({
        endpoint,
        model,
        status: String(entry.status),
        ended,
      }),
      duration: duration.of({ endpoint, model }),
      firstByte: firstByte.of({ endpoint, model }),
      tokens: TOKEN_KINDS.map(({ kind, of }) => ({
        of,
        series: tokens.of({ model, kind }),
      })),
      cost: cost.of({ model }),
    };
  };
  const known = new Map<string, Series>();
  return {
    contentType: EXPOSITION_TYPE,
    text: () => all.map((metric) => metric.text()).join(""),
    record(entry) {
      const { endpoint = NO_ROUTE, model, status, ended, usage } = entry;
      const id = `${endpoint} ${model} ${status} ${ended}`;
      let series = known.get(id);
      if (series === undefined) known.set(id, series = seriesOf(entry));
      series.requests.add(1);
      // Only a granted call has a model: then the rest is known as well.
      if (model === undefined) return;
      series.duration.observe(entry.duration_ms / 1000);
      if (entry.ttfb_ms !== undefined) {
        series.firstByte.observe(entry.ttfb_ms / 1000);
      }
      for (const { of, series: told } of series.tokens) {
        const count = usage?.[of] ?? 0;
        // A counter only goes up, whatever an upstream says.
        if (count > 0) told.add(count);
      }
      series.cost.add(entry.cost_micro_usd ?? 0);
      const { tried = [] } = entry;
      for (const { upstream, error } of tried.slice(0, attemptsAfter(entry))) {
        retries.of({ vendor: vendorOf(upstream), kind: error }).add(1);
      }
      if (
        ended !== "refused" && tried.length > 0 &&
        tried[0]?.upstream !== entry.upstream
      ) fallbacks.of({ model }).add(1);
      if (entry.error_of === "upstream") {
        upstreamErrors.of({
          vendor: vendorOf(entry.upstream),
          kind: entry.error ?? "",
        }).add(1);
      }
    },
  };
}

/** How many attempts were made after a failed one. */
function attemptsAfter({ attempts = 1 }: LogEntry): number {
  return attempts - 1;
}

function vendorOf(upstream: string | undefined): string {
  return upstream?.split("/", 1)[0] ?? "";
}
