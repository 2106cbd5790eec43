/**
 * Inserts ledger entries: rows of `ledger`. Rows are never changed or deleted.
 */
import {
  type Correction,
  CORRECTION_SUFFIX,
  correctionId,
  correctionLines,
} from "../ledger/correction.ts";
import type { TopUp } from "../ledger/events.ts";
import { priceText } from "../charges/money.ts";
import {
  type Charge,
  LEDGER_ENTRY,
  type LedgerEntry,
  type ReservedCall,
} from "../records.ts";
import { columnsOf, recordFrom } from "./record_rows.ts";
import {
  insertRows,
  insertStatement,
  type Sql,
  type SqlDialect,
  type SqlValue,
  textOf,
  textOrUndefined,
} from "../store/store.ts";

export type NewEntry =
  | {
    readonly type: "charge";
    readonly call: ReservedCall;
    readonly charge: Charge;
    readonly balanceModel: string;
    readonly atMs: number;
  }
  | Correction
  | ({ readonly type: "top_up" } & TopUp);

const { seq: _, ...WRITTEN } = LEDGER_ENTRY;

/** The vendor is no field of an entry: an account does not see who serves its calls. */
const INTO = insertStatement("ledger", {
  ...columnsOf(WRITTEN),
  vendor: "TEXT",
});

/** How the calls ended, by the ids that already have an entry. */
export async function knownEntries(
  sql: Sql,
  dialect: SqlDialect,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string | undefined>> {
  const rows = await sql.all(
    `SELECT request_id, ended FROM ledger WHERE request_id IN ${
      dialect.texts(1)
    }`,
    [JSON.stringify(ids)],
  );
  return new Map(
    rows.map((row) => [
      textOf(row, "request_id"),
      textOrUndefined(row, "ended"),
    ]),
  );
}

/** The entries of these calls, charged as lost, that are not corrected. */
export async function uncorrectedEntries(
  sql: Sql,
  dialect: SqlDialect,
  requestIds: readonly string[],
): Promise<ReadonlyMap<string, LedgerEntry>> {
  const rows = await sql.all(
    `SELECT * FROM ledger l WHERE request_id IN ${
      dialect.texts(1)
    } AND ended = 'lost' AND NOT EXISTS (
      SELECT 1 FROM ledger WHERE request_id = l.request_id || '${CORRECTION_SUFFIX}'
    )`,
    [JSON.stringify(requestIds)],
  );
  return new Map(
    rows.map((row) => [
      textOf(row, "request_id"),
      recordFrom(LEDGER_ENTRY, row),
    ]),
  );
}

export function entryIdOf(entry: NewEntry): string {
  if (entry.type === "top_up") return entry.id;
  const { requestId } = entry.call;
  return entry.type === "charge" ? requestId : correctionId(requestId);
}

export function accountIdOf(entry: NewEntry): string {
  return entry.type === "top_up" ? entry.accountId : entry.call.accountId;
}

/** Inserts entries, in order. */
export async function insertEntries(
  sql: Sql,
  dialect: SqlDialect,
  entries: readonly NewEntry[],
): Promise<void> {
  await insertRows(sql, dialect, INTO, entries.map(rowOf));
}

function rowOf(entry: NewEntry): Readonly<Record<string, SqlValue>> {
  if (entry.type === "top_up") {
    return {
      request_id: entryIdOf(entry),
      kind: "top_up",
      account_id: entry.accountId,
      purse: entry.balanceModel,
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
  const row = {
    request_id: entryIdOf(entry),
    kind: "charge",
    account_id: call.accountId,
    key_id: call.keyId,
    model: call.model,
    purse: entry.type === "charge"
      ? entry.balanceModel
      : entry.lost.balanceModel ?? "",
    user_id: call.user ?? null,
    input_tokens: charge.tokens.input,
    cache_read_tokens: charge.tokens.cacheRead,
    cache_write_tokens: charge.tokens.cacheWrite,
    output_tokens: charge.tokens.output,
    reasoning_tokens: charge.reasoningTokens,
    price: priceText(charge.price ?? call.price),
    estimated: charge.estimated ? 1 : 0,
    ended: charge.ended,
    // `0 -` avoids -0, which is not strictly equal to the 0 that the store returns.
    micro_usd: 0 - charge.costMicroUsd,
    at_ms: entry.atMs,
    vendor: charge.vendor ?? null,
    ...(charge.lines && { lines: JSON.stringify(charge.lines) }),
  };
  if (entry.type === "charge") return row;
  const { lost } = entry;
  const lines = correctionLines(charge, charge.price ?? call.price, lost);
  return {
    ...row,
    lines: lines === undefined ? null : JSON.stringify(lines),
    corrects: call.requestId,
    input_tokens: row.input_tokens - lost.inputTokens,
    cache_read_tokens: row.cache_read_tokens - lost.cacheReadTokens,
    cache_write_tokens: row.cache_write_tokens - lost.cacheWriteTokens,
    output_tokens: row.output_tokens - lost.outputTokens,
    reasoning_tokens: row.reasoning_tokens - lost.reasoningTokens,
    micro_usd: row.micro_usd - lost.microUsd,
  };
}
