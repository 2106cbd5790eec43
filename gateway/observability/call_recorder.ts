/**
 * Makes the record of a generation call from its log entry.
 *
 * @module
 */
import type { CallBook } from "../accounts/calls/call_book.ts";
import type { CallRecord } from "../accounts/calls/call_record.ts";
import type { CallFacts } from "./call_facts.ts";
import type { LogEntry } from "./log.ts";

/** Records calls. */
export interface CallRecorder {
  /**
   * Records the call if it was one of generation with a known key; other requests have no record.
   */
  record(entry: LogEntry, facts: CallFacts): void;
}

const GENERATION: ReadonlySet<string | undefined> = new Set([
  "/v1/messages",
  "/v1/chat/completions",
  "/v1/responses",
]);
const MAX_MODEL_CHARS = 200;
const MAX_USER_CHARS = 512;

/** Records calls in a book. */
export function callRecorder(book: Pick<CallBook, "add">): CallRecorder {
  return {
    record(entry, facts) {
      const record = callRecord(entry, facts);
      if (record !== undefined) book.add(record);
    },
  };
}

/** The record; undefined if the request has none. */
export function callRecord(
  entry: LogEntry,
  { holder, model, stream, user, charge }: CallFacts,
): CallRecord | undefined {
  const { endpoint, dropped, upstream_calls: attempts } = entry;
  if (
    endpoint === undefined || !GENERATION.has(endpoint) ||
    holder === undefined || entry.method !== "POST"
  ) return undefined;
  const isBilled = charge !== undefined && entry.ended !== "refused";
  return {
    requestId: entry.request_id,
    accountId: holder.accountId,
    keyId: holder.keyId,
    ...(model === undefined ? {} : { model: cut(model, MAX_MODEL_CHARS) }),
    ...(user === undefined ? {} : { user: cut(user, MAX_USER_CHARS) }),
    endpoint,
    ...(stream === undefined ? {} : { stream }),
    status: entry.status,
    ended: entry.ended,
    ...(entry.code === undefined ? {} : { code: entry.code }),
    ...(entry.why === undefined ? {} : { why: { ...entry.why } }),
    durationMs: Math.round(entry.duration_ms),
    ...(entry.ttfb_ms === undefined
      ? {}
      : { firstByteMs: Math.round(entry.ttfb_ms) }),
    ...(entry.first_token_ms === undefined
      ? {}
      : { firstTokenMs: Math.round(entry.first_token_ms) }),
    ...(isBilled
      ? {
        inputTokens: charge.tokens.input,
        cacheReadTokens: charge.tokens.cacheRead,
        cacheWriteTokens: charge.tokens.cacheWrite,
        outputTokens: charge.tokens.output,
        reasoningTokens: charge.reasoningTokens,
      }
      : {}),
    estimated: isBilled && charge.estimated,
    microUsd: charge?.costMicroUsd ?? 0,
    ...(entry.upstream === undefined ? {} : { upstream: entry.upstream }),
    ...(attempts === undefined || attempts.length === 0
      ? {}
      : { attempts: attempts.map((one) => ({ ...one })) }),
    ...(dropped === undefined ? {} : { dropped }),
    ...(entry.trace_id === undefined ? {} : { traceId: entry.trace_id }),
    more: 0,
  };
}

/** A client's text in a form that every store accepts: Postgres takes neither NUL nor lone surrogates. */
function cut(text: string, chars: number): string {
  return text.replaceAll("\0", "").slice(0, chars).toWellFormed();
}
