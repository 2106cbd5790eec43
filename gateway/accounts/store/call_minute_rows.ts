/**
 * Counts calls by minute, outcome and time to the first token: rows of `call_minutes`. So the health of
 * a day is read from some thousand rows, however many calls it had.
 *
 * @module
 */
import { type CallRecord, callTimeMs } from "../calls/call_record.ts";
import { outcomeOf } from "../calls/outcome.ts";
import {
  insertRows,
  insertStatement,
  type Sql,
  type SqlDialect,
} from "./store.ts";

const MINUTE_MS = 60_000;
/** Classes of a time for each factor of e: each is a tenth wide. */
const CLASSES = 10;
/** The class of calls without a token. */
const NO_TOKEN = -1;

const INTO = insertStatement(
  "call_minutes",
  { minute: "BIGINT", outcome: "TEXT", first_token: "BIGINT", calls: "BIGINT" },
  "ON CONFLICT (minute, outcome, first_token) DO UPDATE SET calls = call_minutes.calls + excluded.calls",
);

/** Adds calls to the counts, or takes them out. */
export async function countCalls(
  sql: Sql,
  dialect: SqlDialect,
  changes: readonly (readonly [
    call: Pick<
      CallRecord,
      "requestId" | "ended" | "status" | "code" | "attempts" | "firstTokenMs"
    >,
    by: 1 | -1,
  ])[],
): Promise<void> {
  const rows = new Map<
    string,
    { minute: number; outcome: string; first_token: number; calls: number }
  >();
  for (const [call, by] of changes) {
    const row = {
      minute: Math.floor(callTimeMs(call.requestId) / MINUTE_MS),
      outcome: outcomeOf(call),
      first_token: classOf(call.firstTokenMs),
      calls: 0,
    };
    const id = `${row.minute} ${row.outcome} ${row.first_token}`;
    const sum = rows.get(id) ?? row;
    sum.calls += by;
    rows.set(id, sum);
  }
  await insertRows(sql, dialect, INTO, [...rows.values()]);
}

/** Removes the counts of the minutes before `oldestMs`. */
export async function removeOldCounts(
  sql: Sql,
  oldestMs: number,
): Promise<void> {
  await sql.all("DELETE FROM call_minutes WHERE minute < $1", [
    Math.floor(oldestMs / MINUTE_MS),
  ]);
}

function classOf(ms: number | undefined): number {
  return ms === undefined
    ? NO_TOKEN
    : Math.round(Math.log(Math.max(1, ms)) * CLASSES);
}

/** The middle of a class in milliseconds; undefined: calls without a token. */
export function msOfClass(of: number): number | undefined {
  return of === NO_TOKEN ? undefined : Math.round(Math.exp(of / CLASSES));
}
