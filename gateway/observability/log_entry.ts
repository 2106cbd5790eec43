/**
 * The log entry of a call that is paid for.
 */
import type { Dialect } from "../../translate/dialect.ts";
import { ApiError } from "../../translate/model/error.ts";
import type { CallOutcome } from "../accounts/call_outcome.ts";
import { isBounded, isUnpriced } from "../accounts/charges/charge.ts";
import type { Charge } from "../accounts/records.ts";
import type { Usage } from "../../translate/model/reply.ts";
import type { HttpReply } from "../http/http_reply.ts";
import {
  errorText,
  type LogEntry,
  textForLog,
  type TriedUpstream,
  type UpstreamCall,
} from "./log.ts";
import { factsOf, reasonOf } from "./refusal_log_entry.ts";
import type { Trace } from "../http/trace.ts";
import type { CallTimes } from "../upstream/call_times.ts";
import type { Candidate } from "../upstream/catalogue/model_registry.ts";
import type { Model } from "../upstream/catalogue/catalogue.ts";
import type { FailedAttempt } from "../upstream/health/retry_policy.ts";

/** An upstream's error, and where it came from. */
type KeyRefusal = Pick<FailedAttempt, "candidate" | "error">;

export interface SettledCall {
  /** The call as it reached the pipeline. */
  readonly call: {
    readonly requestId: string;
    readonly path: string;
    readonly endpoint: string;
    readonly arrivedMs: number;
    readonly dialect: Pick<Dialect, "encodeError">;
    readonly caller: { readonly accountId: string; readonly keyId: string };
  };
  /** Its attempts; `candidate` is the one that replied, or whose error the client received. */
  readonly failover: {
    readonly model: Model;
    readonly candidate: Candidate;
    readonly attemptCount: number;
    readonly failedAttempts: readonly FailedAttempt[];
    readonly refusedKeys: readonly KeyRefusal[];
    readonly calls: readonly CallTimes[];
  };
  readonly stream: boolean;
  /** The client's trace. */
  readonly trace: Trace | undefined;
  /** How the call ended. */
  readonly outcome: CallOutcome;
  /** What the call costs. */
  readonly charge: Charge;
  /** What was left out of the request and of the reply. */
  readonly dropped: readonly string[];
  readonly began: boolean;
  /** The error thrown or sent in the stream; undefined where there was none. */
  readonly error: unknown;
  /** Whether the gateway caused the error, although an upstream was being called. */
  readonly causedByGateway: boolean;
  /** The taps that saw the reply. */
  readonly taps: readonly { logged(): Pick<LogEntry, "stored"> }[];
  /** Unix time in milliseconds; undefined where no reply began. */
  readonly firstByteMs: number | undefined;
  /** Unix time in milliseconds; undefined where nothing was generated. */
  readonly firstTokenMs: number | undefined;
  /** Unix time in milliseconds. */
  readonly nowMs: number;
}

/** The status of a reply to a client that has disconnected. */
const CLIENT_CLOSED = 499;

const HAD_KEY =
  "the upstream repeated its own key in the reply, where it was removed: change that key, and tell the upstream's operator";

/** Clients choose the names of fields: without bounds one call fills the log and its record. */
const MAX_DROPPED = 50;

/** The reply to a client that has disconnected; it is never sent. */
export function clientClosedReply(): HttpReply {
  return { status: CLIENT_CLOSED, headers: {}, body: null };
}

export function callLogEntry(settled: SettledCall): LogEntry {
  const { call, failover, outcome, charge, trace, firstByteMs, began } =
    settled;
  const { ended, usage } = outcome;
  const { dropped } = settled;
  const isBeyond = isBounded(charge);
  const error = ended === "caller_left" ? undefined : settled.error;
  const upstreamFacts = error instanceof ApiError ? factsOf(error) : {};
  return {
    request_id: call.requestId,
    method: "POST",
    path: textForLog(call.path),
    endpoint: call.endpoint,
    status: began
      ? 200
      : ended === "caller_left"
      ? CLIENT_CLOSED
      : statusSent(call.dialect, error),
    duration_ms: settled.nowMs - call.arrivedMs,
    ...(firstByteMs === undefined
      ? {}
      : { ttfb_ms: firstByteMs - call.arrivedMs }),
    ...(settled.firstTokenMs === undefined
      ? {}
      : { first_token_ms: settled.firstTokenMs - call.arrivedMs }),
    ended,
    ...(trace === undefined ? {} : { trace_id: trace.traceId }),
    account_id: call.caller.accountId,
    key_id: call.caller.keyId,
    model: failover.model.id,
    upstream: failover.candidate.name,
    attempts: failover.attemptCount,
    ...(failover.attemptCount < 2
      ? {}
      : { tried: failover.failedAttempts.map(triedUpstream) }),
    ...(failover.refusedKeys.length === 0
      ? {}
      : { refused_keys: failover.refusedKeys.map(triedUpstream) }),
    upstream_calls: failover.calls.map((one) => upstreamCall(one, settled)),
    stream: settled.stream,
    ...upstreamFacts,
    ...(failover.calls.at(-1)?.hadKey() === true ? { note: HAD_KEY } : {}),
    ...(began || isReported(usage)
      ? { usage: isBeyond ? charge.tokens : usage }
      : {}),
    ...Object.assign({}, ...settled.taps.map((tap) => tap.logged())),
    cost_micro_usd: charge.costMicroUsd,
    ...(charge.estimated ? { estimated: true } : {}),
    ...(isUnpriced(charge) ? { unpriced: true } : {}),
    ...(isBeyond ? { bounded: true } : {}),
    ...(dropped.length === 0 ? {} : {
      dropped: dropped.slice(0, MAX_DROPPED).map(textForLog),
    }),
    ...(error === undefined ? {} : {
      error: errorText(error),
      error_of: error instanceof ApiError && !settled.causedByGateway
        ? "upstream"
        : "gateway",
      ...reasonOf(error),
    }),
  };
}

/** Reported also of a reply that began after its client had left. */
function isReported(usage: Usage): boolean {
  return Object.keys(usage).length > 0;
}

function upstreamCall(
  { candidate, startedMs, firstByteMs, endedMs, error }: CallTimes,
  { call, nowMs }: SettledCall,
): UpstreamCall {
  const status = firstByteMs === undefined
    ? error?.details.upstreamStatus
    : 200;
  return {
    upstream: candidate.name,
    after_ms: startedMs - call.arrivedMs,
    ...(firstByteMs === undefined
      ? {}
      : { first_byte_ms: firstByteMs - startedMs }),
    duration_ms: (endedMs ?? nowMs) - startedMs,
    ...(status === undefined ? {} : { status }),
    ...(error === undefined ? {} : { error: error.kind }),
  };
}

function triedUpstream({ candidate, error }: KeyRefusal): TriedUpstream {
  return {
    upstream: candidate.name,
    error: error.kind,
    ...factsOf(error),
  };
}

/** One error kind can have different statuses in different dialects. */
function statusSent(
  dialect: Pick<Dialect, "encodeError">,
  error: unknown,
): number {
  return error instanceof ApiError
    ? dialect.encodeError(error, "").status
    : 500;
}
