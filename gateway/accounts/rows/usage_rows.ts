/**
 * Writes the usage of charges: rows of `usage_days` and `usage_hours` per key and model, and
 * of `usage_daily` per end user as well. They are updated in the same write as the ledger,
 * so that a report sums up days, not requests.
 */
import type { NewEntry } from "./ledger_rows.ts";
import { DAY_MS, dayOf } from "../limits/calendar_window.ts";
import type { Correction } from "../ledger/correction.ts";
import { ROLL_UP_SUMS, USAGE_SUMS } from "../records.ts";
import { columnsOf } from "./record_rows.ts";
import {
  type Columns,
  insertRows,
  type InsertStatement,
  insertStatement,
  type Sql,
  type SqlDialect,
} from "../store/store.ts";

/** One hour, in milliseconds. */
export const HOUR_MS = 3_600_000;

const USED: Columns = { account_id: "TEXT", key_id: "TEXT", model: "TEXT" };

/** A table of usage: its key, and the end of an INSERT that adds to its rows. */
interface UsageTable {
  readonly name: string;
  readonly keys: Columns;
  readonly sums: Columns;
  readonly keyNames: readonly string[];
  readonly sumNames: readonly string[];
  readonly into: InsertStatement;
}

/** The end of an INSERT that adds to the row with the same key. */
function adding(table: string, keys: Columns, sums: Columns): string {
  const sets = Object.keys(sums).map((name) =>
    `${name} = ${table}.${name} + excluded.${name}`
  );
  return `ON CONFLICT (${Object.keys(keys).join(", ")}) DO UPDATE SET ${
    sets.join(", ")
  }`;
}

function usageTable(name: string, keys: Columns, sums: Columns): UsageTable {
  return {
    name,
    keys,
    sums,
    keyNames: Object.keys(keys),
    sumNames: Object.keys(sums),
    into: insertStatement(
      name,
      { ...keys, ...sums },
      adding(name, keys, sums),
    ),
  };
}

const ROLL_UP = columnsOf(ROLL_UP_SUMS);
const DAYS = usageTable("usage_days", { day: "BIGINT", ...USED }, ROLL_UP);
const HOURS = usageTable("usage_hours", { hour: "BIGINT", ...USED }, ROLL_UP);
const USERS = usageTable(
  "usage_daily",
  { day: "BIGINT", ...USED, user_id: "TEXT" },
  columnsOf(USAGE_SUMS),
);

/** The keys of all three tables together; a day follows from its hours. */
const FINEST = {
  keyNames: ["hour", ...Object.keys(USED), "user_id"],
  sumNames: HOURS.sumNames,
};

type UsageRow = Record<string, string | number>;

/** Adds the charges and corrections among the entries to their days and hours. */
export async function addUsage(
  sql: Sql,
  dialect: SqlDialect,
  entries: readonly NewEntry[],
): Promise<void> {
  const rows: UsageRow[] = [];
  for (const entry of entries) {
    if (entry.type === "charge") rows.push(rowOf(entry));
    else if (entry.type === "correction") rows.push(differenceOf(entry));
  }
  // The charges of a write mostly share one hour, key, model and user, so each table gets few rows.
  const sums = mergeRows(FINEST, rows);
  await Promise.all(
    [DAYS, HOURS, USERS].map((table) =>
      insertRows(sql, dialect, table.into, mergeRows(table, sums))
    ),
  );
}

/**
 * One row per key: one statement may not update the same row twice. The given rows stay as they
 * are.
 */
function mergeRows(
  { keyNames, sumNames }: Pick<UsageTable, "keyNames" | "sumNames">,
  rows: readonly UsageRow[],
): readonly UsageRow[] {
  if (rows.length < 2) return rows;
  const places = new Map<string, UsageRow>();
  for (const row of rows) {
    let place = "";
    // Safe separator: Postgres text cannot contain NUL.
    for (const name of keyNames) place += `${row[name]}\0`;
    const sum = places.get(place);
    if (sum === undefined) places.set(place, { ...row });
    else {
      for (const name of sumNames) {
        sum[name] = Number(sum[name]) + Number(row[name]);
      }
    }
  }
  return [...places.values()];
}

function rowOf(
  entry: NewEntry & { type: "charge" | "correction" },
): UsageRow {
  const { call, charge } = entry;
  return {
    day: dayOf(entry.atMs),
    hour: Math.floor(entry.atMs / HOUR_MS),
    account_id: call.accountId,
    key_id: call.keyId,
    model: call.model,
    user_id: call.user ?? "",
    requests: 1,
    estimated: charge.estimated ? 1 : 0,
    input_tokens: charge.tokens.input,
    cache_read_tokens: charge.tokens.cacheRead,
    cache_write_tokens: charge.tokens.cacheWrite,
    output_tokens: charge.tokens.output,
    reasoning_tokens: charge.reasoningTokens,
    micro_usd: charge.costMicroUsd,
    estimated_micro_usd: charge.estimated ? charge.costMicroUsd : 0,
  };
}

/** What a correction changes: the call is counted already, and was an estimate. */
function differenceOf(correction: Correction): UsageRow {
  const row = rowOf(correction);
  const { lost } = correction;
  const counted: UsageRow = {
    requests: 1,
    estimated: 1,
    input_tokens: lost.inputTokens,
    cache_read_tokens: lost.cacheReadTokens,
    cache_write_tokens: lost.cacheWriteTokens,
    output_tokens: lost.outputTokens,
    reasoning_tokens: lost.reasoningTokens,
    micro_usd: 0 - lost.microUsd,
    estimated_micro_usd: 0 - lost.microUsd,
  };
  for (const [name, value] of Object.entries(counted)) {
    row[name] = Number(row[name]) - Number(value);
  }
  return row;
}

/**
 * Adds the usage of the stored charges with `$1 < seq <= $2` to `usage_days`, and with
 * `$3` of the same to `usage_hours` from that hour on.
 */
export async function addStoredUsage(
  sql: Sql,
  firstSeq: number,
  lastSeq: number,
  firstHour: number,
): Promise<void> {
  const between = [firstSeq, lastSeq];
  await sql.all(fromLedger(DAYS, "day", DAY_MS, ""), between);
  await sql.all(
    fromLedger(HOURS, "hour", HOUR_MS, `AND at_ms >= $3`),
    [...between, firstHour * HOUR_MS],
  );
}

function fromLedger(
  { name, keys, sums }: UsageTable,
  time: string,
  unitMs: number,
  where: string,
): string {
  const sources: Readonly<Record<string, string>> = {
    [time]: `at_ms / ${unitMs}`,
    account_id: "account_id",
    key_id: "COALESCE(key_id, '')",
    model: "COALESCE(model, '')",
    requests: "COUNT(*)",
    micro_usd: "0 - SUM(micro_usd)",
    estimated_micro_usd: "0 - SUM(estimated * micro_usd)",
  };
  const columns = [...Object.keys(keys), ...Object.keys(sums)];
  const picks = columns.map((column) =>
    `CAST(${sources[column] ?? `SUM(${column})`} AS ${
      keys[column] ?? "BIGINT"
    })`
  );
  return `INSERT INTO ${name} (${columns.join(", ")}) SELECT ${
    picks.join(", ")
  } FROM ledger WHERE seq > $1 AND seq <= $2 AND kind = 'charge' ${where} ` +
    `GROUP BY 1, 2, 3, 4 ${adding(name, keys, sums)}`;
}
