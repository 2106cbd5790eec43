/**
 * The lines of the books, as rows of `ledger`. They are only ever added.
 *
 * @module
 */
import type { TopUp } from "./books.ts";
import { priceText } from "./money.ts";
import type { Charge, LedgerEntry, OpenCall } from "./records.ts";
import {
  type Dialect,
  flagOf,
  insertion,
  insertRows,
  intOf,
  type Sql,
  type SqlRow,
  type SqlValue,
  textOf,
  textOrUndefined,
} from "./store.ts";

/** A line to be entered. */
export type NewEntry =
  | {
    readonly type: "charge";
    readonly call: OpenCall;
    readonly charge: Charge;
    readonly purse: string;
    readonly atMs: number;
  }
  | ({ readonly type: "top_up" } & TopUp);

const INTO = insertion("ledger", {
  request_id: "TEXT",
  kind: "TEXT",
  account_id: "TEXT",
  key_id: "TEXT",
  model: "TEXT",
  purse: "TEXT",
  user_id: "TEXT",
  input_tokens: "BIGINT",
  cache_read_tokens: "BIGINT",
  cache_write_tokens: "BIGINT",
  output_tokens: "BIGINT",
  reasoning_tokens: "BIGINT",
  price: "TEXT",
  estimated: "BIGINT",
  ended: "TEXT",
  note: "TEXT",
  micro_usd: "BIGINT",
  at_ms: "BIGINT",
});

/** Those of the ids under which something has been entered. */
export async function knownEntries(
  sql: Sql,
  dialect: Dialect,
  ids: readonly string[],
): Promise<readonly string[]> {
  const rows = await sql.all(
    `SELECT request_id FROM ledger WHERE request_id IN ${dialect.texts(1)}`,
    [JSON.stringify(ids)],
  );
  return rows.map((row) => textOf(row, "request_id"));
}

/** Enters lines, in their order. */
export async function insertEntries(
  sql: Sql,
  dialect: Dialect,
  entries: readonly NewEntry[],
): Promise<void> {
  await insertRows(sql, dialect, INTO, entries.map(rowOf));
}

function rowOf(entry: NewEntry): Readonly<Record<string, SqlValue>> {
  if (entry.type === "top_up") {
    return {
      request_id: entry.id,
      kind: "top_up",
      account_id: entry.accountId,
      purse: entry.purse,
      input_tokens: 0,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 0,
      reasoning_tokens: 0,
      estimated: 0,
      note: entry.note ?? null,
      micro_usd: entry.microUsd,
      at_ms: entry.atMs,
    };
  }
  const { call, charge } = entry;
  return {
    request_id: call.requestId,
    kind: "charge",
    account_id: call.accountId,
    key_id: call.keyId,
    model: call.model,
    purse: entry.purse,
    user_id: call.user ?? null,
    input_tokens: charge.tokens.input,
    cache_read_tokens: charge.tokens.cacheRead,
    cache_write_tokens: charge.tokens.cacheWrite,
    output_tokens: charge.tokens.output,
    reasoning_tokens: charge.reasoningTokens,
    price: priceText(call.price),
    estimated: charge.estimated ? 1 : 0,
    ended: charge.ended,
    // Not -0, which JSON would turn into 0 anyway and a comparison would not.
    micro_usd: 0 - charge.costMicroUsd,
    at_ms: entry.atMs,
  };
}

/** Reads one line. */
export function entryFrom(row: SqlRow): LedgerEntry {
  const keyId = textOrUndefined(row, "key_id");
  const model = textOrUndefined(row, "model");
  const purse = textOf(row, "purse");
  const user = textOrUndefined(row, "user_id");
  const price = textOrUndefined(row, "price");
  const ended = textOrUndefined(row, "ended");
  const note = textOrUndefined(row, "note");
  return {
    seq: intOf(row, "seq"),
    kind: textOf(row, "kind") === "charge" ? "charge" : "top_up",
    requestId: textOf(row, "request_id"),
    accountId: textOf(row, "account_id"),
    ...(keyId === undefined ? {} : { keyId }),
    ...(model === undefined ? {} : { model }),
    ...(purse === "" ? {} : { purse }),
    ...(user === undefined ? {} : { user }),
    inputTokens: intOf(row, "input_tokens"),
    cacheReadTokens: intOf(row, "cache_read_tokens"),
    cacheWriteTokens: intOf(row, "cache_write_tokens"),
    outputTokens: intOf(row, "output_tokens"),
    reasoningTokens: intOf(row, "reasoning_tokens"),
    ...(price === undefined ? {} : { price }),
    estimated: flagOf(row, "estimated"),
    ...(ended === undefined ? {} : { ended }),
    ...(note === undefined ? {} : { note }),
    microUsd: intOf(row, "micro_usd"),
    atMs: intOf(row, "at_ms"),
  };
}
