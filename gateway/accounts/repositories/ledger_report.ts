/**
 * Reads the ledger: in pages, and as JSON Lines or CSV.
 *
 * @module
 */
import { invalidField } from "../../../translate/model/error.ts";
import { entryFrom } from "../store/ledger_rows.ts";
import type { LedgerEntry } from "../records.ts";
import {
  type ListPage,
  listPage,
  pageLimit,
  type PageRequest,
  readRows,
  type RepositoryContext,
} from "./repository.ts";
import type { SqlValue } from "../store/store.ts";

/** A filter on ledger entries; absent fields match every entry. */
export interface LedgerQuery extends PageRequest {
  /** Entries of this account. */
  readonly accountId?: string;
  /** Entries of this key. */
  readonly keyId?: string;
  /** Only charges, or only top-ups. */
  readonly kind?: LedgerEntry["kind"];
  /** The entry of this request. */
  readonly requestId?: string;
  /** Entries at or after this time, Unix milliseconds. */
  readonly fromMs?: number;
  /** Entries before this time, Unix milliseconds. */
  readonly toMs?: number;
}

/**
 * One page of the ledger, oldest entry first. The cursor is the last entry's sequence
 * number.
 *
 * @throws {ApiError} `invalid_request` for an invalid cursor; `unavailable`
 */
export async function listLedger(
  context: RepositoryContext,
  query: LedgerQuery,
): Promise<ListPage<LedgerEntry>> {
  const values: SqlValue[] = [];
  const put = (value: SqlValue): string => `$${values.push(value)}`;
  const where = [`seq > ${put(cursor(query.after))}`];
  if (query.accountId !== undefined) {
    where.push(`account_id = ${put(query.accountId)}`);
  }
  if (query.keyId !== undefined) where.push(`key_id = ${put(query.keyId)}`);
  if (query.kind !== undefined) where.push(`kind = ${put(query.kind)}`);
  if (query.requestId !== undefined) {
    where.push(`request_id = ${put(query.requestId)}`);
  }
  if (query.fromMs !== undefined) where.push(`at_ms >= ${put(query.fromMs)}`);
  if (query.toMs !== undefined) where.push(`at_ms < ${put(query.toMs)}`);
  const limit = pageLimit(query);
  const rows = await readRows(
    context,
    `SELECT * FROM ledger WHERE ${where.join(" AND ")} ORDER BY seq LIMIT ${
      put(limit + 1)
    }`,
    values,
  );
  return listPage(rows.map(entryFrom), limit, (entry) => String(entry.seq));
}

function cursor(after: string | undefined): number {
  if (after === undefined) return 0;
  if (!/^\d{1,15}$/.test(after)) {
    throw invalidField(
      "after",
      "is not the cursor that an earlier page of the ledger ended with",
    );
  }
  return Number(after);
}

/** All matching entries, page by page, so that at most one page is in memory. */
export async function* allEntries(
  context: RepositoryContext,
  query: LedgerQuery,
): AsyncGenerator<readonly LedgerEntry[], void, void> {
  let after = query.after;
  for (;;) {
    const page = await listLedger(context, {
      ...query,
      limit: 500,
      ...(after === undefined ? {} : { after }),
    });
    if (page.data.length > 0) yield page.data;
    if (page.next === undefined) return;
    after = page.next;
  }
}

/** The exported fields, by their JSON name. */
const FIELDS: readonly (readonly [
  string,
  (entry: LedgerEntry) => string | number | boolean | undefined,
])[] = [
  ["seq", (entry) => entry.seq],
  ["time", (entry) => new Date(entry.atMs).toISOString()],
  ["kind", (entry) => entry.kind],
  ["request_id", (entry) => entry.requestId],
  ["account", (entry) => entry.accountId],
  ["key", (entry) => entry.keyId],
  ["model", (entry) => entry.model],
  ["purse", (entry) => entry.purse],
  ["user", (entry) => entry.user],
  ["input_tokens", (entry) => entry.inputTokens],
  ["cache_read_tokens", (entry) => entry.cacheReadTokens],
  ["cache_write_tokens", (entry) => entry.cacheWriteTokens],
  ["output_tokens", (entry) => entry.outputTokens],
  ["reasoning_tokens", (entry) => entry.reasoningTokens],
  ["price", (entry) => entry.price],
  ["estimated", (entry) => entry.estimated],
  ["ended", (entry) => entry.ended],
  ["note", (entry) => entry.note],
  ["micro_usd", (entry) => entry.microUsd],
];

/** An entry as JSON; unknown values are null. */
export function entryJson(
  entry: LedgerEntry,
): Readonly<Record<string, string | number | boolean | null>> {
  return Object.fromEntries(
    FIELDS.map(([name, field]) => [name, field(entry) ?? null]),
  );
}

/** Entries as JSON Lines. */
export function jsonLines(entries: readonly LedgerEntry[]): string {
  return entries.map((entry) => `${JSON.stringify(entryJson(entry))}\n`)
    .join("");
}

/** Header line of the CSV form. */
export const CSV_HEAD: string = `${FIELDS.map(([name]) => name).join(",")}\r\n`;

/** Entries as CSV (RFC 4180), without the header line. */
export function csvLines(entries: readonly LedgerEntry[]): string {
  return entries.map((entry) =>
    `${FIELDS.map(([, field]) => csvCell(field(entry))).join(",")}\r\n`
  ).join("");
}

/**
 * Spreadsheets evaluate a cell that starts like a formula, and clients choose the text in
 * `user`: a quote in front prevents that.
 */
function csvCell(value: string | number | boolean | undefined): string {
  if (value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
