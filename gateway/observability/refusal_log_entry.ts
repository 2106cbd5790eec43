/**
 * The log entry of a request that was refused before it was reserved.
 */
import { ApiError } from "../../translate/model/error.ts";
import { keptCode } from "../../translate/errors/kept_words.ts";
import { RefusedKey } from "../accounts/accounts.ts";
import type { Gateway } from "../gateway.ts";
import type { Trace } from "../http/trace.ts";
import type { CallFacts } from "./call_facts.ts";
import {
  errorText,
  type LogEntry,
  type RefusalReason,
  textForLog,
} from "./log.ts";
import { compact } from "../../translate/bytes/compact.ts";

interface RefusedRequest {
  readonly gateway: Pick<Gateway, "models">;
  /** Anything thrown. */
  readonly error: unknown;
  /** Status that the client received. */
  readonly status: number;
  readonly requestId: string;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Path of the route; undefined if no route matches. */
  readonly endpoint: string | undefined;
  readonly trace: Trace | undefined;
  /** What the request's handling found out. */
  readonly facts: CallFacts;
  /** Milliseconds from the request's arrival. */
  readonly durationMs: number;
}

export function refusalLogEntry(refused: RefusedRequest): LogEntry {
  const { error, endpoint, trace, facts } = refused;
  const { holder, model, stream } = facts;
  // An unknown id may be any text of the client: it is not logged.
  const isOffered = model !== undefined &&
    refused.gateway.models.model(model) !== undefined;
  return {
    request_id: refused.requestId,
    method: textForLog(refused.method),
    path: textForLog(refused.path),
    status: refused.status,
    duration_ms: refused.durationMs,
    ended: "refused",
    ...compact({
      endpoint,
      trace_id: trace?.traceId,
      account_id: holder?.accountId,
      key_id: holder?.keyId,
      model: isOffered ? model : undefined,
      stream,
    }),
    error: errorText(error),
    ...reasonOf(error),
    ...(error instanceof ApiError ? factsOf(error) : {}),
  };
}

/** The facts of an error that are for operators alone, without what may be the request's. */
export function factsOf(
  { details: { upstreamStatus, upstreamCode, note } }: ApiError,
): Pick<LogEntry, "upstream_status" | "upstream_code" | "note"> {
  return compact({
    upstream_status: upstreamStatus,
    upstream_code: upstreamCode === undefined
      ? undefined
      : keptCode(upstreamCode) ?? "other",
    note,
  });
}

/** The machine-readable reason of an error, and how full the limit was that refused the request. */
export function reasonOf(
  error: unknown,
): Pick<LogEntry, "code" | "why"> {
  if (error instanceof RefusedKey) return { code: error.reason };
  if (!(error instanceof ApiError)) return { code: "internal" };
  const { code, fill, retryAfterSeconds } = error.details;
  const why: RefusalReason = {
    ...fill,
    ...compact({ retry_after_seconds: retryAfterSeconds }),
  };
  return {
    code: keptCode(code) ?? error.kind,
    ...(Object.keys(why).length === 0 ? {} : { why }),
  };
}
