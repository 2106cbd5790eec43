/**
 * The running gateway: what every request needs, put together once at start, and what is under way, so that it can be stopped
 * in order.
 *
 * @module
 */
import { ApiError } from "../translate/error.ts";
import type { Accounts } from "./accounts/accounts.ts";
import type { Desk } from "./admin/desk.ts";
import type { StartSpan } from "./call_span.ts";
import type { Config } from "./config.ts";
import type { RequestLog } from "./log.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import type { Timers } from "./timers.ts";
import { createSlots, type Slots } from "./slots.ts";
import { candidateReports } from "./upstream/candidate_report.ts";
import type { Offer } from "./upstream/candidates.ts";
import type { UpstreamClient } from "./upstream/http_client.ts";

/** The parts of a gateway. Clock, timers and client are passed in. */
export interface GatewayParts {
  /** Frozen; read once, at start. */
  readonly config: Config;
  /** Says who calls, grants and bills. Closed by whoever opened it, as the client is. */
  readonly accounts: Accounts;
  /** Where operators and holders of keys are served; absent where nothing is kept. */
  readonly desk?: Desk;
  /** What can be called; fixed until the next start. */
  readonly offer: Offer;
  /** Makes every call to an upstream. */
  readonly client: UpstreamClient;
  /** For pings and the limits on bodies and whole calls; the client keeps its own. */
  readonly timers: Timers;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  /** From 0 up to, not including, 1: for the choice among upstreams and the pauses between attempts. */
  readonly random: () => number;
  /** Opens a span for each granted call; absent where nobody collects them. */
  readonly startSpan?: StartSpan;
  /** Gets an entry per generation call and per refusal. */
  readonly log: RequestLog;
}

/** A call under way. */
export interface Running {
  /** True once the caller is being sent a stream. */
  readonly streaming: boolean;
  /** Ends it early, telling the caller why as far as that is still possible. */
  breakOff(error: ApiError): void;
}

/** The running gateway. */
export interface Gateway extends GatewayParts {
  /** Granted calls that are not settled yet; each enters and leaves by itself. */
  readonly running: Set<Running>;
  /** Places for calls, from before a body is read to the end of the answer. */
  readonly slots: Slots;
  /** Fed by {@linkcode GatewayParts.log}, which counts every entry here first. */
  readonly metrics: Metrics;
  /** Errors whose call has its line in the log already. */
  readonly logged: WeakSet<object>;
  /** False once it is being stopped. */
  accepting(): boolean;
  /** Refuses new calls and becomes unready. */
  drain(): void;
  /** Ends what still runs, in order. */
  breakOffAll(): void;
}

/** Puts the parts together. */
export function createGateway(parts: GatewayParts): Gateway {
  const running = new Set<Running>();
  const { maxConcurrent, maxConcurrentPerKey } = parts.config;
  const slots = createSlots(maxConcurrent, maxConcurrentPerKey);
  const metrics = createMetrics({
    calls: () => slots.taken(),
    streams: () => [...running].filter((one) => one.streaming).length,
    backlog: () => parts.accounts.backlog(),
    candidates: () => candidateReports(parts.offer.all, parts.now()),
  });
  let accepting = true;
  return {
    ...parts,
    running,
    slots,
    metrics,
    log(entry) {
      metrics.record(entry);
      parts.log(entry);
    },
    logged: new WeakSet(),
    accepting: () => accepting,
    drain() {
      accepting = false;
    },
    breakOffAll() {
      const error = new ApiError(
        "unavailable",
        "the gateway is being stopped; try again",
        { retryAfterSeconds: 1 },
      );
      for (const one of [...running]) one.breakOff(error);
    },
  };
}
