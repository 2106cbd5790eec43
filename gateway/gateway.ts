/**
 * The running gateway: the parts that every request needs, assembled once at start, and the running
 * calls, so that it can be stopped in order.
 */
import { ActiveCalls } from "./active_calls.ts";
import { compact } from "../translate/bytes/compact.ts";
import { ApiError } from "../translate/model/error.ts";
import type { Accounts } from "./accounts/accounts.ts";
import type { StoreSchema } from "./accounts/store/schema_watch.ts";
import type { CertificateEnds } from "./certificate_ends.ts";
import { startTimer } from "./accounts/timer.ts";
import type { ProcessReports } from "./accounts/reports/process_reports.ts";
import type { Admin } from "./accounts/repositories/admin.ts";
import type { AuditRecord } from "./accounts/reports/audit_report.ts";
import type { AdminAuth } from "./admin/auth.ts";
import { ReadSlots } from "./admin/read_slots.ts";
import type { StartSpan } from "./observability/call_span.ts";
import type { OtlpMetrics } from "./observability/otlp_metrics.ts";
import type { Config } from "./settings/config.ts";
import type { Console } from "./console/console.ts";
import type { LogEntry, RequestLog } from "./observability/log.ts";
import {
  type WithoutCredentials,
  withoutCredentials,
} from "./observability/without_credentials.ts";
import { EventCounts } from "./observability/event_counts.ts";
import { createMetrics, type Metrics } from "./observability/metrics.ts";
import { callRecorder } from "./observability/call_recorder.ts";
import type { CallBook } from "./accounts/calls/call_book.ts";
import { LiveCalls } from "./live/live_calls.ts";
import { healthText, processState } from "./live/process_state.ts";
import type { UnderWaySource } from "./live/under_way_sample.ts";
import type { Timers } from "./timers.ts";
import {
  type ConcurrencyLimiter,
  concurrencyLimiter,
} from "./pipeline/concurrency.ts";
import { OpenSockets } from "./open_sockets.ts";
import { RecentReplies } from "./responses/recent_replies.ts";
import type { StoredReplies } from "./responses/stored_replies.ts";
import { CandidateRates } from "./upstream/health/candidate_rates.ts";
import { OutputRates } from "./upstream/health/output_rates.ts";
import { LeftCalls } from "./pipeline/left_calls.ts";
import { candidateReports } from "./upstream/health/candidate_report.ts";
import { unpricedModels } from "./upstream/catalogue/not_offered.ts";
import type { ModelRegistry } from "./upstream/catalogue/model_registry.ts";
import { UnreadBodies } from "./http/unread_body.ts";
import type { UpstreamClient } from "./upstream/http/http_client.ts";

/** The parts of a gateway. Clock, timers and client are passed in. */
interface GatewayParts {
  /** Frozen; replaced as a whole when the configuration file changes. */
  readonly config: Config;
  /** Authenticates, reserves and charges. Closed by the code that opened it, like the client. */
  readonly accounts: Accounts;
  /** The operations of operators, and the usage of a key. */
  readonly admin: Admin;
  /** Verifies the admin token; absent if none is configured: then there is no admin API. */
  readonly adminAuth?: AdminAuth;
  /** The console's sessions; absent where there is no console. */
  readonly console?: Console;
  /** The replies that later requests can refer to; absent where none are stored. */
  readonly replies?: StoredReplies;
  /** The offered models; replaced together with the settings. */
  readonly models: ModelRegistry;
  /** Makes every call to an upstream. */
  readonly client: UpstreamClient;
  /** For pings and the limits on bodies and whole calls; the client has its own. */
  readonly timers: Timers;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  /** Returns numbers in [0, 1), for load balancing and backoff. */
  readonly random: () => number;
  /** Starts a span for each reserved call; absent if spans are not collected. */
  readonly startSpan?: StartSpan;
  /** Metrics of reserved calls for a collector; absent: none are sent. Closed by its opener. */
  readonly otlpMetrics?: OtlpMetrics;
  /** Receives an entry per generation call and per refusal. */
  readonly log: RequestLog;
  /** Lines of the log that were dropped; absent: none ever is. */
  readonly droppedLines?: () => number;
  /** Counts the events of the log; absent: there are none. */
  readonly events?: EventCounts;
  /** The newest daily audit of the books; undefined before the first. */
  readonly lastAudit: () => AuditRecord | undefined;
  /** Milliseconds by which the clock of this process is ahead of the store's. */
  readonly clockAheadMs: () => number;
  /** Schema versions of the store and of this program. */
  readonly storeSchema: () => StoreSchema;
  /** See {@linkcode Replica.lagMs}; absent: reports are read from the store. */
  readonly replicaLagMs?: () => number | undefined;
  /** See {@linkcode Store.certificateEnds}. */
  readonly storeCertificateEnds?: CertificateEnds;
  /** Keeps a record of each call of a model; absent where none are kept. */
  readonly calls?: Pick<CallBook, "add">;
  /** What the processes on the store report of themselves; absent: this process is alone. */
  readonly reports?: ProcessReports;
}

/** A running call, as far as shutting down and the live list need it. */
export interface ActiveCallHandle extends UnderWaySource {
  /** True once the reply is being streamed. */
  readonly streaming: boolean;
  /** Ends the call early; the client receives the error if that is still possible. */
  abort(error: ApiError): void;
}

export interface Gateway extends GatewayParts {
  /** When the present settings and models took effect, as Unix time in milliseconds. */
  readonly configuredAtMs: number;
  /** Replaces settings and models. Calls under way keep those with which they began. */
  configure(config: Config, models: ModelRegistry): void;
  /** Reserved calls that are not settled yet; each adds and removes itself. */
  readonly activeCalls: ActiveCalls<ActiveCallHandle>;
  /** Concurrency slots, held from before the body is read to the end of the reply. */
  readonly concurrency: ConcurrencyLimiter;
  /** Calls whose client has left and whose upstream is read on. */
  readonly leftCalls: LeftCalls;
  /** How fast the candidates generate. */
  readonly outputRates: OutputRates;
  /** Removes credentials from a text that a client chose and that is kept. */
  readonly withoutCredentials: WithoutCredentials;
  readonly sockets: OpenSockets;
  /** What they remember. */
  readonly recentReplies: RecentReplies;
  /** Slots of reports, apart from those of calls. */
  readonly reportSlots: ReadSlots;
  /** Slots of files that clients read, such as exports. */
  readonly fileSlots: ReadSlots;
  /** Handles responses that are sent before the request body was read. */
  readonly unread: UnreadBodies;
  /** Calls under way and just ended, of all processes. Closed by the gateway's opener. */
  readonly live: LiveCalls;
  /** Counts every entry of {@linkcode Gateway.log}. */
  readonly metrics: Metrics;
  /** True once the end is announced. */
  isStopping(): boolean;
  /** False once new calls are refused. */
  accepting(): boolean;
  /**
   * Announces the end, so that load balancers stop sending calls: the gateway reports not ready,
   * and replies ask clients to close their connections.
   */
  announceStop(): void;
  /** Begins the shutdown: the end is announced, and new calls are refused. */
  drain(): void;
  /** Aborts the running calls with an error. */
  abortAll(): void;
}

/** What {@linkcode Metrics} shows of certificates. */
function endsOf(
  peer: "upstream" | "database",
  ends: CertificateEnds | undefined,
) {
  return [...ends?.all() ?? []].map(([server, endMs]) => ({
    peer,
    server,
    endMs,
  }));
}

export function createGateway(parts: GatewayParts): Gateway {
  const activeCalls = new ActiveCalls<ActiveCallHandle>();
  const { maxConcurrent, maxConcurrentPerKey } = parts.config;
  const slots = concurrencyLimiter(maxConcurrent, maxConcurrentPerKey);
  let current = {
    config: parts.config,
    models: parts.models,
    atMs: parts.now(),
  };
  const streams = (): number =>
    [...activeCalls].filter((one) => one.streaming).length;
  const sockets = new OpenSockets(parts.timers);
  const startedAtMs = parts.now();
  const metrics = createMetrics({
    calls: () => slots.inUse(),
    maxCalls: () => maxConcurrent,
    startedAtMs,
    events: parts.events ?? new EventCounts(),
    streams,
    sockets: () => sockets.count,
    openedSockets: () => sockets.opened,
    backlog: () => parts.accounts.backlog(),
    audit: parts.lastAudit,
    clockAheadMs: parts.clockAheadMs,
    storeSchema: parts.storeSchema,
    certificateEnds: () => [
      ...endsOf("upstream", parts.client.certificateEnds),
      ...endsOf("database", parts.storeCertificateEnds),
    ],
    ...compact({ replicaLagMs: parts.replicaLagMs }),
    droppedLines: parts.droppedLines ?? (() => 0),
    candidates: () =>
      candidateReports(current.models.allCandidates, parts.now()),
    modelsWithoutPrice: () => unpricedModels(current.config.catalogue),
  });
  /** Earlier ones included: clients may still send them. */
  const credentials = new Set<string | undefined>();
  let removing: WithoutCredentials;
  const clean: WithoutCredentials = (text) => removing(text);
  const removeCredentials = ({ gatewayKey, adminToken }: Config): void => {
    credentials.add(gatewayKey).add(adminToken);
    removing = withoutCredentials([...credentials]);
  };
  removeCredentials(parts.config);
  const rates = new CandidateRates(parts.now);
  const unpriced = new Map<string, number>();
  const bounded = new Map<string, number>();
  let [stopping, accepting] = [false, true];
  const gateway: Gateway = {
    ...parts,
    get config() {
      return current.config;
    },
    get models() {
      return current.models;
    },
    get configuredAtMs() {
      return current.atMs;
    },
    configure(config, models) {
      removeCredentials(config);
      current = { config, models, atMs: parts.now() };
    },
    activeCalls,
    concurrency: slots,
    leftCalls: new LeftCalls(maxConcurrent),
    outputRates: new OutputRates(),
    withoutCredentials: clean,
    sockets,
    recentReplies: new RecentReplies(parts.config.socketBytes),
    reportSlots: new ReadSlots("reports", 16),
    // Some MiB wait for each client that does not read.
    fileSlots: new ReadSlots("files", 64),
    unread: new UnreadBodies(parts.timers),
    live: new LiveCalls({
      ...compact({ reports: parts.reports }),
      underWay: () => activeCalls,
      state: () =>
        processState({
          startedAtMs,
          configuredAtMs: current.atMs,
          config: current.config,
          candidates: current.models.allCandidates,
          rates,
          connections: parts.client.connections(),
          calls: { underWay: slots.inUse(), streams: streams() },
          backlog: parts.accounts.backlog(),
          unpriced,
          bounded,
          clockAheadMs: parts.clockAheadMs(),
        }, parts.now()),
      health: () => healthText(current.models.allCandidates, parts.now()),
      now: parts.now,
      timer: startTimer,
    }),
    metrics,
    log(given, facts) {
      const entry = cleanEntry(given, clean);
      // The names of configured models contain no credential.
      if (facts?.model !== undefined && facts.model !== entry.model) {
        facts.model = clean(facts.model);
      }
      metrics.record(entry);
      rates.record(entry);
      if (entry.unpriced === true) countOf(unpriced, entry);
      if (entry.bounded === true) countOf(bounded, entry);
      if (facts !== undefined) recorder.record(entry, facts);
      parts.log(entry);
    },
    isStopping: () => stopping,
    accepting: () => accepting,
    announceStop() {
      stopping = true;
    },
    drain() {
      [stopping, accepting] = [true, false];
      gateway.live.endViewers();
      sockets.drain();
    },
    abortAll() {
      gateway.live.endViewers();
      const error = new ApiError(
        "unavailable",
        "the gateway is shutting down; try again",
        { retryAfterSeconds: 1 },
      );
      for (const one of [...activeCalls]) one.abort(error);
      sockets.drain();
    },
  };
  const recorder = callRecorder((record) => {
    gateway.live.record(record);
    parts.calls?.add(record);
  });
  return gateway;
}

function countOf(calls: Map<string, number>, { model }: LogEntry): void {
  if (model !== undefined) calls.set(model, (calls.get(model) ?? 0) + 1);
}

/** The entry without credentials in what the client chose. */
function cleanEntry(entry: LogEntry, clean: WithoutCredentials): LogEntry {
  const { path, endpoint, dropped } = entry;
  if (path === endpoint && dropped === undefined) return entry;
  return {
    ...entry,
    path: clean(path),
    ...(dropped === undefined ? {} : { dropped: dropped.map(clean) }),
  };
}
