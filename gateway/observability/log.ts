/**
 * The request log: one line of JSON per generation call and per refused request. No prompt, no
 * reply, no key.
 */
import { ApiError } from "../../translate/model/error.ts";
import type { Usage } from "../../translate/model/reply.ts";
import type { CallFacts } from "./call_facts.ts";
import { EVENT_LEVELS, levelOf, type LoggedEvent } from "./event_levels.ts";

/** An attempt that failed before any byte reached the client. */
export interface TriedUpstream {
  /** See {@linkcode LogEntry.upstream}. */
  readonly upstream: string;
  readonly error: string;
  /** Status of the upstream's response; absent if there was none. */
  readonly upstream_status?: number;
  /** See {@linkcode LogEntry.upstream_code}. */
  readonly upstream_code?: string;
  /** See {@linkcode LogEntry.note}. */
  readonly note?: string;
}

export interface UpstreamCall {
  /** See {@linkcode LogEntry.upstream}. */
  readonly upstream: string;
  /** Milliseconds from the request's arrival to the start of the attempt. */
  readonly after_ms: number;
  /**
   * Milliseconds from the start of the attempt to the reply's first frame, for a whole reply to its
   * end; absent if there was no reply.
   */
  readonly first_byte_ms?: number;
  /** Milliseconds from the start of the attempt to its end. */
  readonly duration_ms: number;
  /** Status of the upstream's response; absent if there was none. */
  readonly status?: number;
  /** Kind of the error; absent if there was a reply or the client left. */
  readonly error?: string;
}

/** How full the limit was that refused a request, and when a retry may succeed. */
export interface RefusalReason {
  /** The limit in its own unit; for a balance, the balance. */
  readonly limit?: number;
  /** What was used or reserved of it. */
  readonly used?: number;
  /** What the request needed. */
  readonly needed?: number;
  /** The value of `retry-after`. */
  readonly retry_after_seconds?: number;
}

export interface LogEntry {
  /** The id that the client received in `request-id`. */
  readonly request_id: string;
  /** As sent, even if no route has it; see {@linkcode textForLog}. */
  readonly method: string;
  /** Without the query, which may contain a key; see {@linkcode textForLog}. */
  readonly path: string;
  /**
   * Path of the route, with variable parts as `:name`; absent if no route matches the path and
   * method.
   */
  readonly endpoint?: string;
  /**
   * Status that the client received: 200 for a stream that failed later, 499 if it disconnected
   * before.
   */
  readonly status: number;
  /** Milliseconds from the request's arrival to the last byte or the disconnect. */
  readonly duration_ms: number;
  /**
   * Milliseconds from the request's arrival to the first byte of the reply, pings excepted; absent
   * if no reply began.
   */
  readonly ttfb_ms?: number;
  /**
   * Milliseconds from the request's arrival to the first generated text, reasoning or tool call;
   * absent if there was none.
   */
  readonly first_token_ms?: number;
  /**
   * `complete`, `caller_left`, `failed` (during the reply) or `refused` (before the first byte).
   */
  readonly ended: string;
  /** Trace id of the client's `traceparent` or of the call's span; absent if there is neither. */
  readonly trace_id?: string;
  /** Id of the account; absent if the request presented no known key. */
  readonly account_id?: string;
  /** Id of the key, not the key itself; absent if the request presented no known key. */
  readonly key_id?: string;
  /** Id in the catalogue; absent if the request named none. */
  readonly model?: string;
  /**
   * `vendor/model` with the vendor's own id: the upstream that replied, or whose error the client
   * received. Absent if no call was reserved.
   */
  readonly upstream?: string;
  /** Number of attempts at upstreams; absent if no call was reserved. */
  readonly attempts?: number;
  /**
   * Attempts that failed before any byte reached the client, in order; absent if there was only one
   * attempt.
   */
  readonly tried?: readonly TriedUpstream[];
  /** Keys of a list that were refused before the attempts that count; absent: none. */
  readonly refused_keys?: readonly TriedUpstream[];
  /** All attempts, in order; absent if no call was reserved. */
  readonly upstream_calls?: readonly UpstreamCall[];
  /** Status of an upstream's error response; absent if there was none. */
  readonly upstream_status?: number;
  /**
   * The upstream's code for what belongs to the operator (credential, account, limit of spending),
   * `other` where it has other words than errors use; absent if there was none.
   */
  readonly upstream_code?: string;
  /** Whether the client asked for a stream; absent if that is not known. */
  readonly stream?: boolean;
  /** Tokens reported by the upstream, within the bounds of the call; absent if no reply began. */
  readonly usage?: Usage;
  /**
   * Whether the reply was stored for later requests, or the store failed; absent if it was not to
   * be stored.
   */
  readonly stored?: boolean;
  /** Charge of the call in micro-dollars; absent if no call was reserved. */
  readonly cost_micro_usd?: number;
  /** True where the charge is an estimate: the upstream did not report all of its usage. */
  readonly estimated?: true;
  /** True where the model's price has no rate for a part of the charge. */
  readonly unpriced?: true;
  /**
   * True where the upstream reported more than the call can have used; `usage` is then what was
   * charged.
   */
  readonly bounded?: true;
  /**
   * Paths, in the client's format, of request fields that the upstream does not support, and
   * `reply.KIND` for parts of the reply that the client's format cannot carry: at most 50, the
   * first 200 characters of each; absent if there are none.
   */
  readonly dropped?: readonly string[];
  /** Kind of the error; for an internal error, the top of its stack. */
  readonly error?: string;
  /** Machine-readable reason of a refusal or failure; absent if there was none. */
  readonly code?: string;
  /** See {@linkcode RefusalReason}; absent if no limit was involved. */
  readonly why?: RefusalReason;
  /**
   * The cause of a refusal or failure that the operator can resolve, such as a refused certificate.
   */
  readonly note?: string;
  /** The side that caused the failure of a reserved call; absent if it did not fail. */
  readonly error_of?: "upstream" | "gateway";
}

const MAX_CLIENT_CHARS = 200;

/** A text that a client chooses, cut: without a bound one request fills the log. */
export function textForLog(text: string): string {
  return text.slice(0, MAX_CLIENT_CHARS).toWellFormed();
}

/** Records an entry. `facts` are for the record of the call, not for the log. */
export type RequestLog = (entry: LogEntry, facts?: CallFacts) => void;

/** A log that writes lines of JSON with `write`. */
export function jsonLog(
  write: (line: string) => void,
  now: () => number,
): RequestLog {
  return (entry) => {
    const ts = new Date(now()).toISOString();
    // An entry is never empty, so its JSON has fields after the brace.
    write(
      `{"ts":"${ts}","level":"${levelOf(entry)}",${
        JSON.stringify(entry).slice(1)
      }`,
    );
  };
}

/**
 * Text of an error for the log: its kind, or for an internal error its name and the top of its
 * stack. The message is left out: `JSON.parse` and others quote their input in it.
 */
export function errorText(error: unknown): string {
  if (error instanceof ApiError) return error.kind;
  if (!(error instanceof Error)) return "unknown error";
  const calls =
    error.stack?.split("\n").filter((line) => /^ +at /.test(line)) ?? [];
  return [error.name, ...calls.slice(0, 5)].join(" | ");
}

/**
 * The log line of an event of the store, of a credential, of a host's list, of the configuration,
 * of exports or of the process.
 */
export function eventLine(
  event: LoggedEvent,
  ts = new Date().toISOString(),
): string {
  const cause = "error" in event
    ? { error: event.error instanceof Error ? event.error.message : "unknown" }
    : {};
  const level = EVENT_LEVELS[event.type];
  return JSON.stringify({ ts, level, ...event, ...cause });
}
