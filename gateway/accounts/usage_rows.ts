/**
 * Usage per day, account, key, model and the caller's own user, as rows of `usage_daily`. They grow with every charge in the same
 * write as the ledger, so a report adds up days, never requests.
 *
 * @module
 */
import type { NewEntry } from "./ledger_rows.ts";
import { DAY_MS } from "./standing.ts";
import {
  type Columns,
  type Dialect,
  insertion,
  insertRows,
  type Sql,
} from "./store.ts";

const KEYS: Columns = {
  day: "BIGINT",
  account_id: "TEXT",
  key_id: "TEXT",
  model: "TEXT",
  user_id: "TEXT",
};

const SUMS: Columns = {
  requests: "BIGINT",
  estimated: "BIGINT",
  input_tokens: "BIGINT",
  cache_read_tokens: "BIGINT",
  cache_write_tokens: "BIGINT",
  output_tokens: "BIGINT",
  reasoning_tokens: "BIGINT",
  micro_usd: "BIGINT",
};

const NAMES = Object.keys(SUMS);

const INTO = insertion(
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
  dialect: Dialect,
  entries: readonly NewEntry[],
): Promise<void> {
  // One row a place: a statement may not meet the same row twice.
  const rows = new Map<string, UsageRow>();
  for (const entry of entries) {
    if (entry.type !== "charge") continue;
    const row = rowOf(entry);
    const { day, account_id, key_id, model, user_id } = row;
    // None of them holds a NUL: no store could keep it.
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
    day: Math.floor(entry.atMs / DAY_MS),
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
