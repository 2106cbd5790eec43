/**
 * Writes and removes the lines of failed attempts: rows of `failed_attempts`.
 */
import {
  type CallRecord,
  callTimeMs,
  firstCallId,
} from "../calls/call_record.ts";
import { listedError, outcomeOf } from "../calls/outcome.ts";
import { field, fields, INT, optional, type RecordOf, TEXT } from "../field.ts";
import { columnsOf, rowOf } from "./record_rows.ts";
import {
  insertRows,
  insertStatement,
  type Sql,
  type SqlDialect,
} from "../store/store.ts";

export const FAILED_ATTEMPT = fields({
  // Begins with the time of the failure; see attemptTimeMs().
  id: field(TEXT),
  // The call.
  requestId: field(TEXT, { json: "request_id" }),
  accountId: field(TEXT),
  model: field(TEXT),
  upstream: field(TEXT),
  error: field(TEXT, {
    describe: "the status, or the kind of error where there was none",
  }),
  outcome: field(TEXT, { describe: "what became of the call" }),
  durationMs: field(INT, { json: "duration_ms" }),
  words: field(optional(TEXT), {
    describe:
      "what the upstream wrote of its failure, without what may be the request's",
  }),
});

/** An attempt that failed at its upstream, also where another upstream replied to the call. */
export interface FailedAttempt extends RecordOf<typeof FAILED_ATTEMPT> {}

const INTO = insertStatement(
  "failed_attempts",
  columnsOf(FAILED_ATTEMPT),
  // A write whose outcome was unknown is repeated.
  "ON CONFLICT (id) DO NOTHING",
);

/** The lowest id of an attempt that failed at `ms` or later. */
export function firstAttemptId(ms: number): string {
  return firstCallId(ms).replace("req_", "att_");
}

/** When an attempt failed, Unix milliseconds. */
export function attemptTimeMs(id: string): number {
  return callTimeMs(id);
}

export async function insertFailedAttempts(
  sql: Sql,
  dialect: SqlDialect,
  records: readonly CallRecord[],
): Promise<void> {
  await insertRows(
    sql,
    dialect,
    INTO,
    records.flatMap(failedAttempts).map((one) => rowOf(FAILED_ATTEMPT, one)),
  );
}

const NONE: readonly FailedAttempt[] = [];

/** The attempts of a call that failed at their upstreams. */
function failedAttempts(record: CallRecord): readonly FailedAttempt[] {
  const { requestId, attempts } = record;
  // Nearly every call has none.
  if (!attempts?.some((one) => listedError(one) !== undefined)) return NONE;
  const atMs = callTimeMs(requestId);
  return attempts.flatMap((one, at) => {
    const error = listedError(one);
    if (error === undefined) return [];
    const durationMs = Math.round(Number(one["duration_ms"] ?? 0));
    const failedMs = atMs + Number(one["after_ms"] ?? 0) + durationMs;
    const { words } = one;
    return [{
      id: `${firstAttemptId(failedMs)}${requestId.slice(13)}${
        at.toString(36).padStart(2, "0")
      }`,
      requestId,
      accountId: record.accountId,
      model: record.model ?? "",
      upstream: String(one["upstream"] ?? ""),
      error,
      outcome: outcomeOf(record),
      durationMs,
      ...(typeof words === "string" ? { words } : {}),
    }];
  });
}

/** Removes some of the attempts before `oldestMs`. Returns their number. */
export async function removeOldAttempts(
  sql: Sql,
  oldestMs: number,
  most: number,
): Promise<number> {
  const removed = await sql.all(
    `DELETE FROM failed_attempts WHERE id IN (
       SELECT id FROM failed_attempts WHERE id < $1 ORDER BY id LIMIT $2
     ) RETURNING id`,
    [firstAttemptId(oldestMs), most],
  );
  return removed.length;
}
