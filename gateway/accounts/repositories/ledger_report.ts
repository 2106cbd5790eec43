/**
 * Reads the ledger: in pages, and as JSON Lines or CSV.
 *
 * @module
 */
import { invalidField } from "../../../translate/model/error.ts";
import type { JsonObject } from "../../../translate/bytes/json.ts";
import { recordJson } from "../field.ts";
import { LEDGER_ENTRY, type LedgerEntry } from "../records.ts";
import {
  type ListPage,
  listPage,
  pageLimit,
  type PageRequest,
  readRows,
  type RepositoryContext,
} from "./repository.ts";
import { recordFrom } from "../store/record_rows.ts";
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
  return listPage(
    rows.map((row) => recordFrom(LEDGER_ENTRY, row)),
    limit,
    (entry) => String(entry.seq),
  );
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

/** An entry as JSON; unknown values are null. */
export function entryJson(entry: LedgerEntry): JsonObject {
  return recordJson(LEDGER_ENTRY, entry);
}

/** Entries as JSON Lines. */
export function jsonLines(entries: readonly LedgerEntry[]): string {
  return entries.map((entry) => `${JSON.stringify(entryJson(entry))}\n`)
    .join("");
}

/** Header line of the CSV form. */
export const CSV_HEAD: string = `${
  Object.values(LEDGER_ENTRY).map(({ json }) => json).join(",")
}\r\n`;

/** Entries as CSV (RFC 4180), without the header line. */
export function csvLines(entries: readonly LedgerEntry[]): string {
  return entries.map((entry) =>
    `${Object.values(entryJson(entry)).map(csvCell).join(",")}\r\n`
  ).join("");
}

/**
 * Spreadsheets evaluate a cell that starts like a formula, and clients choose the text in
 * `user`: a quote in front prevents that.
 */
function csvCell(value: unknown): string {
  if (value === null) return "";
  if (typeof value !== "string") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
