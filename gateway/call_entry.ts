/**
 * The log's entry for a granted call, made of how the call came out.
 *
 * @module
 */
import type { Dialect } from "../translate/dialect.ts";
import { ApiError } from "../translate/error.ts";
import type { UpstreamRequest } from "../translate/relay.ts";
import type { CallOutcome } from "./accounts/accounts.ts";
import { chargeFor } from "./accounts/charge.ts";
import type { Answer } from "./answer.ts";
import { errorText, type LogEntry, type TriedUpstream } from "./log.ts";
import type { Trace } from "./trace.ts";
import type { Candidate } from "./upstream/candidates.ts";
import type { Model } from "./upstream/catalogue.ts";
import type { FailedAttempt } from "./upstream/retry_policy.ts";

/** A granted call that is over. */
export interface SettledCall {
  /** As it reached the pipeline. */
  readonly call: {
    readonly requestId: string;
    readonly path: string;
    readonly arrivedMs: number;
    readonly dialect: Dialect;
    readonly caller: { readonly keyId: string };
  };
  /** What was called, and at which price. */
  readonly model: Model;
  /** Where it was called. */
  readonly attempts: {
    /** Who answered, or whose error was told. */
    readonly candidate: Candidate;
    /** What that upstream was sent, and could not be told. */
    readonly upstream: Pick<UpstreamRequest, "losses">;
    /** How many were begun. */
    readonly begun: number;
    /** Those that failed before the caller was told anything. */
    readonly failed: readonly FailedAttempt[];
  };
  /** Whether the caller asked for a stream. */
  readonly stream: boolean;
  /** The prompt as estimated before the call. */
  readonly inputTokens: number;
  /** The caller's trace. */
  readonly trace: Trace | undefined;
  /** What the books got. */
  readonly outcome: CallOutcome;
  /** Whether the answer began. */
  readonly began: boolean;
  /** What was thrown or told in the stream; undefined where nothing went wrong. */
  readonly error: unknown;
  /** Whether that arose on our side though the upstream was being called. */
  readonly ourFault: boolean;
  /** Unix time in milliseconds; undefined where the answer did not begin. */
  readonly firstByteMs: number | undefined;
  /** Unix time in milliseconds. */
  readonly nowMs: number;
}

/** The status of an answer to a caller that has left. */
const NOBODY_THERE = 499;

/** An answer to a caller that has left; nobody reads it. */
export function nobodyThere(): Answer {
  return { status: NOBODY_THERE, headers: {}, body: null };
}

/** The entry. */
export function callEntry(settled: SettledCall): LogEntry {
  const { call, model, attempts, outcome, trace, firstByteMs, began } = settled;
  const { ended, usage } = outcome;
  const { losses } = attempts.upstream;
  const error = ended === "caller_left" ? undefined : settled.error;
  const upstreamStatus = error instanceof ApiError
    ? error.details.upstreamStatus
    : undefined;
  const charge = chargeFor(
    { inputTokens: settled.inputTokens, price: model.price },
    outcome,
  );
  return {
    request_id: call.requestId,
    method: "POST",
    path: call.path,
    endpoint: call.path,
    status: began
      ? 200
      : ended === "caller_left"
      ? NOBODY_THERE
      : statusTold(call.dialect, error),
    duration_ms: settled.nowMs - call.arrivedMs,
    ...(firstByteMs === undefined
      ? {}
      : { ttfb_ms: firstByteMs - call.arrivedMs }),
    ended,
    ...(trace === undefined ? {} : { trace_id: trace.traceId }),
    key_id: call.caller.keyId,
    model: model.id,
    upstream: attempts.candidate.name,
    attempts: attempts.begun,
    ...(attempts.begun < 2 ? {} : { tried: attempts.failed.map(tried) }),
    stream: settled.stream,
    ...(upstreamStatus === undefined
      ? {}
      : { upstream_status: upstreamStatus }),
    ...(began ? { usage } : {}),
    cost_micro_usd: charge.costMicroUsd,
    ...(losses.length === 0 ? {} : { dropped: losses }),
    ...(error === undefined ? {} : {
      error: errorText(error),
      error_of: isUpstreams(error, settled.ourFault) ? "upstream" : "gateway",
    }),
  };
}

function tried({ candidate, error }: FailedAttempt): TriedUpstream {
  const { upstreamStatus } = error.details;
  return {
    upstream: candidate.name,
    error: error.kind,
    ...(upstreamStatus === undefined
      ? {}
      : { upstream_status: upstreamStatus }),
  };
}

function isUpstreams(error: unknown, ourFault: boolean): boolean {
  return error instanceof ApiError && error.kind !== "internal" && !ourFault;
}

/** Not every kind has the same status in every dialect. */
function statusTold(dialect: Dialect, error: unknown): number {
  return error instanceof ApiError
    ? dialect.encodeError(error, "").status
    : 500;
}
