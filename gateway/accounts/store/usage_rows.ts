/**
 * Writes usage per day, account, key, model and end user: rows of `usage_daily`. They are
 * updated in the same write as the ledger, so that a report sums up days, not requests.
 *
 * @module
 */
import type { NewEntry } from "./ledger_rows.ts";
import { dayOf } from "../ledger/calendar_window.ts";
import { USAGE_SUMS } from "../records.ts";
import { columnsOf } from "./record_rows.ts";
import {
  type Columns,
  insertRows,
  insertStatement,
  type Sql,
  type SqlDialect,
} from "./store.ts";

const KEYS: Columns = {
  day: "BIGINT",
  account_id: "TEXT",
  key_id: "TEXT",
  model: "TEXT",
  user_id: "TEXT",
};

const SUMS = columnsOf(USAGE_SUMS);
const NAMES = Object.keys(SUMS);

const INTO = insertStatement(
  "usage_daily",
  { ...KEYS, ...SUMS },
  `ON CONFLICT (account_id, day, key_id, model, user_id) DO UPDATE SET ${
    NAMES.map((name) => `${name} = usage_daily.${name} + excluded.${name}`)
      .join(", ")
  }`,
);

type UsageRow = Record<string, string | number>;

/** Adds the charges among the entries to their days. */
export async function addUsage(
  sql: Sql,
  dialect: SqlDialect,
  entries: readonly NewEntry[],
): Promise<void> {
  // Merged per row: one statement may not update the same row twice.
  const rows = new Map<string, UsageRow>();
  for (const entry of entries) {
    if (entry.type !== "charge") continue;
    const row = rowOf(entry);
    const { day, account_id, key_id, model, user_id } = row;
    // Safe separator: Postgres text cannot contain NUL.
    const place = [day, account_id, key_id, model, user_id].join("\0");
    const before = rows.get(place);
    if (before === undefined) rows.set(place, row);
    else {
      for (const name of NAMES) {
        before[name] = Number(before[name]) + Number(row[name]);
      }
    }
  }
  await insertRows(sql, dialect, INTO, [...rows.values()]);
}

function rowOf(entry: NewEntry & { type: "charge" }): UsageRow {
  const { call, charge } = entry;
  return {
    day: dayOf(entry.atMs),
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
  };
}
