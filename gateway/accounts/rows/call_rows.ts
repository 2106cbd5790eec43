/**
 * Writes, reads and removes the records of calls: rows of `calls`.
 */
import {
  CALL,
  CALL_DETAIL,
  type CallDetail,
  type CallRecord,
  firstCallId,
} from "../calls/call_record.ts";
import { outcomeOf } from "../calls/outcome.ts";
import { countCalls, removeOldCounts } from "./call_count_rows.ts";
import {
  insertFailedAttempts,
  removeOldAttempts,
} from "./failed_attempt_rows.ts";
import type { Charge, ReservedCall } from "../records.ts";
import { columnsOf, recordFrom } from "./record_rows.ts";
import {
  insertRows,
  insertStatement,
  intOf,
  type Sql,
  type SqlDialect,
  type SqlRow,
  type SqlValue,
  textOf,
} from "../store/store.ts";

const INTO = insertStatement(
  "calls",
  { ...columnsOf(CALL), outcome: "TEXT", detail: "TEXT" },
  // A write whose outcome was unknown is repeated.
  "ON CONFLICT (request_id) DO NOTHING",
);

/** Refusals without a record of their own, by the id of the record that counts them. */
type FurtherRefusals = ReadonlyMap<string, number>;

/**
 * Inserts records, and adds to the counts of refusals. A record without a status is that of a call
 * whose process seemed dead; the process's own replaces it.
 */
export async function insertCalls(
  sql: Sql,
  dialect: SqlDialect,
  records: readonly CallRecord[],
  further: FurtherRefusals = new Map(),
): Promise<void> {
  if (records.length === 0 && further.size === 0) return;
  await sql.lockNamed?.("calls");
  const found = await sql.all(
    `SELECT request_id, ended, status FROM calls WHERE request_id IN ${
      dialect.texts(1)
    }`,
    [JSON.stringify(records.map(({ requestId }) => requestId))],
  );
  const replaced = found.filter(({ status }) => status === null);
  const written = new Set(
    found.filter(({ status }) => status !== null)
      .map((row) => textOf(row, "request_id")),
  );
  const [removed] = await Promise.all([
    replaced.length === 0 ? [] : sql.all(
      `DELETE FROM calls WHERE request_id IN ${dialect.texts(1)} RETURNING *`,
      [JSON.stringify(replaced.map((row) => textOf(row, "request_id")))],
    ),
    insertRows(sql, dialect, INTO, records.map(rowOf)),
    insertFailedAttempts(sql, dialect, records),
  ]);
  await countCalls(sql, dialect, [
    ...(written.size === 0
      ? records
      : records.filter(({ requestId }) => !written.has(requestId)))
      .map((record) => [record, 1] as const),
    ...removed.map((row) => [callFrom(row), -1] as const),
  ]);
  for (const [id, count] of further) {
    await sql.all("UPDATE calls SET more = more + $1 WHERE request_id = $2", [
      count,
      id,
    ]);
  }
  await sql.all("UPDATE call_count SET rows_kept = rows_kept + $1", [
    records.length - replaced.length,
  ]);
}

/** Every call passes here: literals are several times faster than a loop over the definitions. */
function rowOf(record: CallRecord): Readonly<Record<string, SqlValue>> {
  return {
    request_id: record.requestId,
    account_id: record.accountId,
    key_id: record.keyId,
    model: record.model ?? null,
    user_id: record.user ?? null,
    status: record.status ?? null,
    ended: record.ended,
    code: record.code ?? null,
    duration_ms: record.durationMs ?? null,
    micro_usd: record.microUsd,
    more: record.more,
    outcome: outcomeOf(record),
    detail: detailText(record),
  };
}

type AllOf<T> = { readonly [K in keyof T]-?: T[K] | undefined };

function detailText(record: CallRecord): string {
  const detail: AllOf<CallDetail> = {
    endpoint: record.endpoint,
    stream: record.stream,
    why: record.why,
    firstByteMs: record.firstByteMs,
    firstTokenMs: record.firstTokenMs,
    inputTokens: record.inputTokens,
    cacheReadTokens: record.cacheReadTokens,
    cacheWriteTokens: record.cacheWriteTokens,
    outputTokens: record.outputTokens,
    reasoningTokens: record.reasoningTokens,
    estimated: record.estimated,
    unpriced: record.unpriced,
    bounded: record.bounded,
    upstream: record.upstream,
    attempts: record.attempts,
    dropped: record.dropped,
    traceId: record.traceId,
  };
  return JSON.stringify(detail);
}

/**
 * The record in a row.
 *
 * @throws {Error} if the row does not hold one
 */
export function callFrom(row: SqlRow): CallRecord {
  return {
    ...recordFrom(CALL, row),
    ...CALL_DETAIL.parse(JSON.parse(textOf(row, "detail"))),
  };
}

/** The record of a call whose process died before it wrote one. */
export function lostCall(
  call: ReservedCall,
  { tokens, reasoningTokens, costMicroUsd }: Charge,
): CallRecord {
  return {
    requestId: call.requestId,
    accountId: call.accountId,
    keyId: call.keyId,
    model: call.model,
    ...(call.user === undefined ? {} : { user: call.user }),
    endpoint: "",
    ended: "lost",
    inputTokens: tokens.input,
    cacheReadTokens: tokens.cacheRead,
    cacheWriteTokens: tokens.cacheWrite,
    outputTokens: tokens.output,
    reasoningTokens,
    estimated: true,
    microUsd: costMicroUsd,
    more: 0,
  };
}

/** Corrects the record of a call whose process is not dead, until that process writes its own. */
export async function correctCall(
  sql: Sql,
  dialect: SqlDialect,
  call: ReservedCall,
  charge: Charge,
): Promise<void> {
  const lost = lostCall(call, charge);
  const record = { ...lost, ended: charge.ended, estimated: charge.estimated };
  const corrected = await sql.all(
    `UPDATE calls SET ended = $2, micro_usd = $3, detail = $4, outcome = $5
     WHERE request_id = $1 AND ended = 'lost' RETURNING request_id`,
    [
      record.requestId,
      record.ended,
      record.microUsd,
      detailText(record),
      outcomeOf(record),
    ],
  );
  if (corrected.length === 0) return;
  await countCalls(sql, dialect, [[lost, -1], [record, 1]]);
}

const REMOVED_CALLS = 200;

/**
 * Removes some of the oldest records, those beyond `maxRows` and those before `oldestMs`, and
 * counts by hour before `oldestHoursMs`. Returns their number; 0: none is left to remove.
 */
export async function removeOldCalls(
  sql: Sql,
  oldestMs: number,
  maxRows: number,
  oldestHoursMs: number = oldestMs,
): Promise<number> {
  const [count] = await sql.all("SELECT rows_kept FROM call_count");
  const excess = count === undefined ? 0 : intOf(count, "rows_kept") - maxRows;
  const removed = await sql.all(
    `DELETE FROM calls WHERE request_id IN (
       SELECT request_id FROM calls WHERE request_id < $1 ORDER BY request_id LIMIT $2
     ) RETURNING request_id`,
    excess > 0
      // Above every id.
      ? ["req_~", Math.min(excess, REMOVED_CALLS)]
      : [firstCallId(oldestMs), REMOVED_CALLS],
  );
  const counts = await removeOldCounts(sql, oldestMs, oldestHoursMs);
  const attempts = await removeOldAttempts(sql, oldestMs, REMOVED_CALLS);
  if (removed.length > 0) {
    await sql.all("UPDATE call_count SET rows_kept = rows_kept - $1", [
      removed.length,
    ]);
  }
  return removed.length + counts + attempts;
}
