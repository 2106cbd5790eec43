/**
 * Makes the record of a call from its log entry.
 */
import type { CallRecord } from "../accounts/calls/call_record.ts";
import { listedError } from "../accounts/calls/outcome.ts";
import { isBounded, isUnpriced } from "../accounts/charges/charge.ts";
import type { CallFacts } from "./call_facts.ts";
import type { LogEntry, UpstreamCall } from "./log.ts";

interface CallRecorder {
  /**
   * Records the call if it was one that is paid for, with a known key; other requests have no
   * record.
   */
  record(entry: LogEntry, facts: CallFacts): void;
}

const MAX_MODEL_CHARS = 200;
const MAX_WORDS_CHARS = 300;
const MAX_USER_CHARS = 512;

/** Passes the records of calls to `add`. */
export function callRecorder(add: (record: CallRecord) => void): CallRecorder {
  return {
    record(entry, facts) {
      const record = callRecord(entry, facts);
      if (record !== undefined) add(record);
    },
  };
}

/** The record; undefined if the call is not paid for or its key is not known. */
function callRecord(
  entry: LogEntry,
  { isPaid, holder, model, stream, user, charge, words }: CallFacts,
): CallRecord | undefined {
  const { endpoint, dropped, upstream_calls: attempts } = entry;
  if (!isPaid || endpoint === undefined || holder === undefined) {
    return undefined;
  }
  const record: Draft<CallRecord> = {
    requestId: entry.request_id,
    accountId: holder.accountId,
    keyId: holder.keyId,
    endpoint,
    status: entry.status,
    ended: entry.ended,
    durationMs: Math.round(entry.duration_ms),
    estimated: false,
    microUsd: charge?.costMicroUsd ?? 0,
    more: 0,
  };
  if (model !== undefined) record.model = cut(model, MAX_MODEL_CHARS);
  if (user !== undefined) record.user = cut(user, MAX_USER_CHARS);
  if (stream !== undefined) record.stream = stream;
  if (entry.code !== undefined) record.code = entry.code;
  if (entry.why !== undefined) record.why = { ...entry.why };
  if (entry.ttfb_ms !== undefined) {
    record.firstByteMs = Math.round(entry.ttfb_ms);
  }
  if (entry.first_token_ms !== undefined) {
    record.firstTokenMs = Math.round(entry.first_token_ms);
  }
  if (charge !== undefined && entry.ended !== "refused") {
    record.inputTokens = charge.tokens.input;
    record.cacheReadTokens = charge.tokens.cacheRead;
    record.cacheWriteTokens = charge.tokens.cacheWrite;
    record.outputTokens = charge.tokens.output;
    record.reasoningTokens = charge.reasoningTokens;
    record.estimated = charge.estimated;
    if (isUnpriced(charge)) record.unpriced = true;
    if (isBounded(charge)) record.bounded = true;
  }
  if (entry.upstream !== undefined) record.upstream = entry.upstream;
  if (attempts !== undefined && attempts.length > 0) {
    record.attempts = attempts.map((given, at) => {
      const said = words[at];
      const one = at === attempts.length - 1 ? withEnd(given, entry) : given;
      return listedError(one) === undefined || said === undefined
        ? { ...one }
        : { ...one, words: cut(said, MAX_WORDS_CHARS) };
    });
  }
  if (dropped !== undefined) record.dropped = dropped;
  if (entry.trace_id !== undefined) record.traceId = entry.trace_id;
  return record;
}

/** The last attempt: a reply that its upstream broke off is a failed one. */
function withEnd(last: UpstreamCall, entry: LogEntry): UpstreamCall {
  return entry.ended === "failed" && entry.error_of === "upstream" &&
      last.error === undefined
    ? { ...last, error: entry.error ?? "upstream" }
    : last;
}

type Draft<T> = { -readonly [K in keyof T]: T[K] };

/** A client's text as every store accepts it: Postgres takes neither NUL nor lone surrogates. */
function cut(text: string, chars: number): string {
  return text.replaceAll("\0", "").slice(0, chars).toWellFormed();
}
