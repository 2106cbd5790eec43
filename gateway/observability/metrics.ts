/**
 * Prometheus metrics of the gateway. All values come from the request log's entries and from the
 * current state, so log and metrics agree. Labels are routes, models, vendors and a few of their
 * words, never client input, which excludes secrets. Only so many models have labels of their own,
 * which bounds the number of series.
 */
import {
  counter,
  type CounterSeries,
  EXPOSITION_TYPE,
  gauge,
  histogram,
  type HistogramSeries,
  type Metric,
  readCounter,
} from "./exposition.ts";
import type { EventCounts } from "./event_counts.ts";
import type { LogEntry, UpstreamCall } from "./log.ts";
import { processMetrics } from "./process_metrics.ts";
import type { BreakerState } from "../upstream/health/breaker.ts";
import type { CandidateReport } from "../upstream/health/candidate_report.ts";

/** The current state, read at each export. */
export interface GatewayState {
  /** Calls being served, including those whose body is still being read. */
  calls(): number;
  /** The most calls that are served at once. */
  maxCalls(): number;
  /** Start of the process, as Unix time in milliseconds. */
  readonly startedAtMs: number;
  readonly events: EventCounts;
  /** Replies that are being streamed. */
  streams(): number;
  /** Web sockets that are open. */
  sockets(): number;
  /** All that have been opened. */
  openedSockets(): number;
  /** Ledger events that are not written yet. */
  backlog(): number;
  /** Milliseconds by which the clock of this process is ahead of the store's. */
  clockAheadMs(): number;
  /** Schema versions of the store and of this program. */
  storeSchema(): { readonly stored: number; readonly program: number };
  /** When the certificates of upstreams and databases end, Unix milliseconds. */
  certificateEnds(): readonly {
    readonly peer: "upstream" | "database";
    readonly server: string;
    readonly endMs: number;
  }[];
  /** See {@linkcode Replica.lagMs}; absent: reports are read from the store. */
  readonly replicaLagMs?: () => number | undefined;
  /** The newest daily audit of the books; undefined before the first. */
  audit():
    | { readonly endedAtMs: number; readonly findings: readonly string[] }
    | undefined;
  /** Lines of the log that were dropped because nothing read them. */
  droppedLines(): number;
  /** Health of each candidate. */
  candidates(): readonly CandidateReport[];
  /** Models that cannot be called, because the configuration gives them no price. */
  modelsWithoutPrice(): readonly string[];
}

export interface Metrics {
  /** Counts an entry of the request log. */
  record(entry: LogEntry): void;
  /** Counts an uncaught exception. */
  countFault(): void;
  /** All metrics in Prometheus' text format. */
  text(): string;
  readonly contentType: string;
}

/** In seconds: from an immediate error to a long stream. */
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

/** In seconds: the gateway's own work before the first attempt at an upstream. */
const OWN_BUCKETS: readonly number[] = [
  0.001,
  0.0025,
  0.005,
  0.01,
  0.025,
  0.05,
  0.1,
  0.25,
  0.5,
  1,
  5,
];

/** Breaker states as numbers; a higher one is worse. */
const BREAKER_FIGURES: Readonly<Record<BreakerState, number>> = {
  closed: 0,
  half_open: 1,
  open: 2,
};

/** The `endpoint` label of a request that matches no route. */
const NO_ROUTE = "other";

/** Kinds of tokens, and the field of {@linkcode Usage} that counts each. */
const TOKEN_KINDS: readonly {
  readonly kind: string;
  readonly of: "input" | "cacheRead" | "cacheWrite" | "output" | "reasoning";
}[] = [
  { kind: "input", of: "input" },
  { kind: "cache_read", of: "cacheRead" },
  { kind: "cache_write", of: "cacheWrite" },
  { kind: "output", of: "output" },
  { kind: "reasoning", of: "reasoning" },
];

/** The most codes of refusals that are labels of their own. */
const MAX_CODES = 50;
/** Keys and addresses have more digits or other characters; a status is the code of some. */
const CODE = /^(?:[A-Za-z_]{1,64}|(?:unknown_)?[1-9]\d\d)$/;
/** The label of everything that has none of its own. */
const OTHER = "other";
/** The most models with counts of their own. */
const MAX_MODELS = 500;
/** The most models with times of their own, 36 series each. */
const MAX_TIMED_MODELS = 100;
/** The most series of requests that have a model's label. */
const MAX_REQUEST_SERIES = 5_000;

/** The series that an entry is counted in, cached by route, model, status and end. */
interface Series {
  /** The model's label. */
  readonly model: string;
  readonly requests: CounterSeries;
  readonly duration: HistogramSeries;
  readonly firstByte: HistogramSeries;
  readonly tokens: readonly {
    readonly of: typeof TOKEN_KINDS[number]["of"];
    readonly series: CounterSeries;
  }[];
  readonly cost: CounterSeries;
}

/** The series that an attempt is counted in, cached by upstream and result. */
interface AttemptSeries {
  readonly calls: CounterSeries;
  readonly firstByte: HistogramSeries;
}

/** Creates the metrics, with all values at zero. */
export function createMetrics(state: GatewayState): Metrics {
  const requests = counter(
    "gateway_requests_total",
    "Reserved generation calls, and refused requests of any kind",
  );
  const tokens = counter(
    "gateway_tokens_total",
    "Tokens reported by upstreams; output includes reasoning",
  );
  const cost = counter(
    "gateway_cost_micro_usd_total",
    "Charges of calls, in millionths of a dollar",
  );
  const estimated = counter(
    "gateway_estimated_micro_usd_total",
    "Charges whose usage the upstream did not report, in millionths of a dollar",
  );
  const unpriced = counter(
    "gateway_unpriced_calls_total",
    "Calls with a part that the model's price has no rate for, charged at the dearest rate",
  );
  const bounded = counter(
    "gateway_bounded_calls_total",
    "Calls whose upstream reported more than they can have used, charged at the bound",
  );
  const firstByte = histogram(
    "gateway_time_to_first_byte_seconds",
    "From a reserved call's arrival to the first byte of its reply",
    DURATION_BUCKETS,
  );
  const duration = histogram(
    "gateway_request_duration_seconds",
    "From a reserved call's arrival to its end",
    DURATION_BUCKETS,
  );
  const upstreamErrors = counter(
    "gateway_upstream_errors_total",
    "Reserved calls that failed at the upstream or on the connection to it",
  );
  const refusals = counter(
    "gateway_upstream_refusals_total",
    "Attempts refused for a reason of the operator's (credential, account, limit of spending), by the upstream's code",
  );
  const upstreamCalls = counter(
    "gateway_upstream_calls_total",
    "Attempts at upstreams, by vendor and kind of error; ok: a reply began, left: the client disconnected before",
  );
  const notFound = counter(
    "gateway_upstream_not_found_total",
    "Attempts that the upstream answered with not found, as for a retired model",
  );
  const upstreamFirstByte = histogram(
    "gateway_upstream_first_byte_seconds",
    "From the start of an attempt to the reply's first frame, for a whole reply to its end",
    DURATION_BUCKETS,
  );
  const ownTimes = histogram(
    "gateway_time_to_upstream_seconds",
    "From a call's arrival to its first attempt: the client's body, and the gateway's own work",
    OWN_BUCKETS,
  );
  const own = ownTimes.of({});
  const refusalCodes = labelSet(MAX_CODES);
  const retries = counter(
    "gateway_upstream_retries_total",
    "Failed attempts that another attempt followed, by vendor and kind of error",
  );
  const fallbacks = counter(
    "gateway_upstream_fallbacks_total",
    "Calls whose reply came from another candidate than the first one tried",
  );
  const storedReplies = counter(
    "gateway_stored_replies_total",
    "Replies that clients let the gateway store, by whether the store took them",
  );
  const faults = counter(
    "gateway_faults_total",
    "Uncaught exceptions; the process shuts down after the first",
  );
  const faultCount = faults.of({});
  faultCount.add(0);
  const all: readonly Metric[] = [
    ...processMetrics(state.startedAtMs),
    requests,
    tokens,
    cost,
    estimated,
    unpriced,
    bounded,
    firstByte,
    duration,
    upstreamCalls,
    notFound,
    upstreamFirstByte,
    ownTimes,
    upstreamErrors,
    refusals,
    retries,
    fallbacks,
    storedReplies,
    faults,
    readCounter(
      "gateway_log_lines_dropped_total",
      "Lines of the log that were dropped because nobody read standard output",
      () => state.droppedLines(),
    ),
    gauge(
      "gateway_upstream_breaker_state",
      "Circuit breakers: 0 closed, 1 half-open, 2 open",
      () =>
        state.candidates().map((
          { model, upstream, state },
        ) => [{ model, upstream }, BREAKER_FIGURES[state]]),
    ),
    gauge(
      "gateway_upstream_resting",
      "1 during a cooldown that the upstream asked for",
      () =>
        state.candidates().map((
          { model, upstream, resting_until },
        ) => [{ model, upstream }, resting_until === null ? 0 : 1]),
    ),
    gauge(
      "gateway_credential_state",
      "Credentials of vendors: 0 works, 1 fails while an earlier one is valid, 2 no call can be made",
      () => credentialStates(state.candidates()),
    ),
    gauge(
      "gateway_model_without_price",
      "1 for a model that cannot be called, because the configuration gives it no price",
      () =>
        state.modelsWithoutPrice().slice(0, MAX_MODELS).map((model) =>
          [{ model }, 1] as const
        ),
    ),
    gauge(
      "gateway_certificate_end_timestamp_seconds",
      "End of the certificate that an upstream or the database showed at the last handshake, in Unix seconds",
      () =>
        state.certificateEnds().map(({ endMs, ...labels }) =>
          [labels, Math.floor(endMs / 1000)] as const
        ),
    ),
    gauge(
      "gateway_store_up",
      "0 from a failed write to the next that succeeds",
      () => state.events.isStoreUp ? 1 : 0,
    ),
    gauge(
      "gateway_configuration_refused",
      "1 while the configuration file was refused and an earlier one is in force",
      () => state.events.isConfigurationRefused ? 1 : 0,
    ),
    readCounter(
      "gateway_events_total",
      "Events in the log, by type",
      () =>
        Array.from(state.events.all(), ([type, count]) => [{ type }, count]),
    ),
    gauge(
      "gateway_open_streams",
      "Replies that are being streamed",
      () => state.streams(),
    ),
    readCounter(
      "gateway_web_sockets_total",
      "Web sockets that have been opened",
      () => state.openedSockets(),
    ),
    gauge(
      "gateway_open_web_sockets",
      "Web sockets that are open",
      () => state.sockets(),
    ),
    gauge(
      "gateway_ledger_backlog",
      "Reservations and settlements that are not written yet",
      () => state.backlog(),
    ),
    gauge(
      "gateway_audit_findings",
      "Differences that the last daily audit of the books found; more than 0 is an alarm",
      () => state.audit()?.findings.length,
    ),
    gauge(
      "gateway_audit_timestamp_seconds",
      "End of the last daily audit of the books, in Unix seconds",
      () => {
        const endedMs = state.audit()?.endedAtMs;
        return endedMs === undefined ? undefined : Math.floor(endedMs / 1000);
      },
    ),
    gauge(
      "gateway_clock_ahead_seconds",
      "By how much the clock of this process is ahead of the store's, which dates calls; negative: behind",
      () => Math.round(state.clockAheadMs() / 100) / 10,
    ),
    gauge(
      "gateway_store_schema_ahead",
      "Schema versions by which the store is newer than this program; more than 0 during a rolling upgrade, and after going back",
      () => {
        const { stored, program } = state.storeSchema();
        return Math.max(0, stored - program);
      },
    ),
    ...(state.replicaLagMs === undefined ? [] : [
      gauge(
        "gateway_read_replica_lag_seconds",
        "By how much the replica is behind from which reports are read; absent while it cannot be reached",
        () => {
          const ms = state.replicaLagMs?.();
          return ms === undefined ? undefined : ms / 1000;
        },
      ),
      gauge(
        "gateway_read_replica_up",
        "0 while the replica cannot be reached from which reports are read: they are refused",
        () => state.replicaLagMs?.() === undefined ? 0 : 1,
      ),
    ]),
    gauge(
      "gateway_calls_under_way",
      "Calls that are being served",
      () => state.calls(),
    ),
    gauge(
      "gateway_calls_limit",
      "The most calls that are served at once",
      () => state.maxCalls(),
    ),
  ];
  const models = labelSet(MAX_MODELS);
  const timedModels = labelSet(MAX_TIMED_MODELS);
  const seriesOf = (entry: LogEntry): Series => {
    const { endpoint = NO_ROUTE, ended } = entry;
    const reserved = reservedModel(entry);
    const model = reserved === undefined ? "" : models(reserved);
    const timed = { model: timedModels(model) };
    return {
      model,
      requests: requests.of({
        endpoint,
        model: known.size < MAX_REQUEST_SERIES || model === "" ? model : OTHER,
        status: String(entry.status),
        ended,
      }),
      duration: duration.of(timed),
      firstByte: firstByte.of(timed),
      tokens: TOKEN_KINDS.map(({ kind, of }) => ({
        of,
        series: tokens.of({ model, kind }),
      })),
      cost: cost.of({ model }),
    };
  };
  const known = new Map<string, Series>();
  const knownAttempts = new Map<string, AttemptSeries>();
  const attemptSeriesOf = (attempt: UpstreamCall): AttemptSeries => {
    const result = resultOf(attempt);
    const id = `${attempt.upstream} ${result}`;
    let series = knownAttempts.get(id);
    if (series === undefined) {
      const vendor = vendorOf(attempt.upstream);
      series = {
        calls: upstreamCalls.of({ vendor, result }),
        firstByte: upstreamFirstByte.of({ vendor }),
      };
      knownAttempts.set(id, series);
    }
    return series;
  };
  return {
    contentType: EXPOSITION_TYPE,
    text: () => all.map((metric) => metric.text()).join(""),
    countFault: () => faultCount.add(1),
    record(entry) {
      const { endpoint = NO_ROUTE, status, ended, usage } = entry;
      const reserved = reservedModel(entry);
      const id = `${endpoint} ${reserved} ${status} ${ended}`;
      let series = known.get(id);
      if (series === undefined) known.set(id, series = seriesOf(entry));
      series.requests.add(1);
      // A reserved call has the other fields as well.
      if (reserved === undefined) return;
      const { model } = series;
      series.duration.observe(entry.duration_ms / 1000);
      if (entry.ttfb_ms !== undefined) {
        series.firstByte.observe(entry.ttfb_ms / 1000);
      }
      for (const { of, series: counted } of series.tokens) {
        const count = usage?.[of] ?? 0;
        // A counter must not decrease, whatever an upstream reports.
        if (count > 0) counted.add(count);
      }
      series.cost.add(entry.cost_micro_usd ?? 0);
      if (entry.estimated === true) {
        estimated.of({ model }).add(entry.cost_micro_usd ?? 0);
      }
      if (entry.unpriced === true) unpriced.of({ model }).add(1);
      if (entry.bounded === true) bounded.of({ model }).add(1);
      if (entry.stored !== undefined) {
        storedReplies.of({ stored: String(entry.stored) }).add(1);
      }
      const { tried = NONE_TRIED, upstream_calls: attempts = [] } = entry;
      for (const attempt of attempts) {
        const { calls, firstByte } = attemptSeriesOf(attempt);
        calls.add(1);
        if (attempt.error === "not_found") {
          notFound.of({ model, vendor: vendorOf(attempt.upstream) }).add(1);
        }
        if (attempt.first_byte_ms !== undefined) {
          firstByte.observe(attempt.first_byte_ms / 1000);
        }
      }
      const [first] = attempts;
      if (first !== undefined) own.observe(first.after_ms / 1000);
      for (const { upstream, error } of tried.slice(0, attemptsAfter(entry))) {
        retries.of({ vendor: vendorOf(upstream), kind: error }).add(1);
      }
      for (
        const { upstream, upstream_code: code } of [
          ...entry.refused_keys ?? [],
          ...tried.length === 0 ? [entry] : tried,
        ]
      ) {
        if (code === undefined) continue;
        const label = CODE.test(code) ? refusalCodes(code) : OTHER;
        refusals.of({ vendor: vendorOf(upstream), code: label }).add(1);
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

const NONE_TRIED: NonNullable<LogEntry["tried"]> = [];

/** The model of a reserved call; undefined for a request that was refused before. */
function reservedModel({ upstream, model }: LogEntry): string | undefined {
  return upstream === undefined ? undefined : model;
}

/** Number of failed attempts that another attempt followed. */
function attemptsAfter({ attempts = 1 }: LogEntry): number {
  return attempts - 1;
}

/** Labels as they are, up to `most` different ones; a further one is `other`. */
function labelSet(most: number): (text: string) => string {
  const known = new Set<string>();
  return (text) => {
    if (known.has(text)) return text;
    if (known.size >= most) return OTHER;
    known.add(text);
    return text;
  };
}

function resultOf({ error, first_byte_ms }: UpstreamCall): string {
  return error ?? (first_byte_ms === undefined ? "left" : "ok");
}

/** The worst state of each vendor's credential. */
function credentialStates(
  candidates: readonly CandidateReport[],
): Iterable<readonly [{ vendor: string }, number]> {
  const states = new Map<string, number>();
  for (const { upstream, credential } of candidates) {
    const vendor = vendorOf(upstream);
    const figure = credential === undefined ? 0 : credential.usable ? 1 : 2;
    states.set(vendor, Math.max(states.get(vendor) ?? 0, figure));
  }
  return [...states].map(([vendor, figure]) => [{ vendor }, figure]);
}

function vendorOf(upstream: string | undefined): string {
  return upstream?.split("/", 1)[0] ?? "";
}
