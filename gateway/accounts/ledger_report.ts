/**
 * The ledger for reading: in pages, as JSON Lines, as CSV.
 *
 * @module
 */
import { invalidField } from "../../translate/error.ts";
import { entryFrom } from "./ledger_rows.ts";
import type { LedgerEntry } from "./records.ts";
import {
  look,
  type Page,
  pageLimit,
  pageOf,
  type PageRequest,
  type RegisterContext,
} from "./register.ts";
import type { SqlValue } from "./store.ts";

/** Which lines. */
export interface LedgerQuery extends PageRequest {
  /** Of this account. */
  readonly accountId?: string;
  /** Of this key. */
  readonly keyId?: string;
  /** Charges, or top-ups. */
  readonly kind?: LedgerEntry["kind"];
  /** The line of this request. */
  readonly requestId?: string;
  /** Not before, in Unix milliseconds. */
  readonly fromMs?: number;
  /** Before, in Unix milliseconds. */
  readonly toMs?: number;
}

/**
 * A page of the ledger, oldest line first. The cursor is the last line's number.
 *
 * @throws {ApiError} `invalid_request` for a cursor that is none; `unavailable`
 */
export async function listLedger(
  context: RegisterContext,
  query: LedgerQuery,
): Promise<Page<LedgerEntry>> {
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
  const rows = await look(
    context,
    `SELECT * FROM ledger WHERE ${where.join(" AND ")} ORDER BY seq LIMIT ${
      put(limit + 1)
    }`,
    values,
  );
  return pageOf(rows.map(entryFrom), limit, (entry) => String(entry.seq));
}

function cursor(after: string | undefined): number {
  if (after === undefined) return 0;
  if (!/^\d{1,15}$/.test(after)) {
    throw invalidField("after", "this is no cursor of the ledger");
  }
  return Number(after);
}

/** All lines that a query finds, page by page: however long the ledger is, a page of it is in memory. */
export async function* allEntries(
  context: RegisterContext,
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

/** A field of an exported line, by its name on the wire. */
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

/** A line as it goes out: what is not known is null. */
export function entryJson(
  entry: LedgerEntry,
): Readonly<Record<string, string | number | boolean | null>> {
  return Object.fromEntries(
    FIELDS.map(([name, field]) => [name, field(entry) ?? null]),
  );
}

/** Lines as JSON Lines: one object a line. */
export function jsonLines(entries: readonly LedgerEntry[]): string {
  return entries.map((entry) => `${JSON.stringify(entryJson(entry))}\n`)
    .join("");
}

/** The first line of the CSV form. */
export const CSV_HEAD: string = `${FIELDS.map(([name]) => name).join(",")}\r\n`;

/** Lines as CSV (RFC 4180), without the head. */
export function csvLines(entries: readonly LedgerEntry[]): string {
  return entries.map((entry) =>
    `${FIELDS.map(([, field]) => csvCell(field(entry))).join(",")}\r\n`
  ).join("");
}

/** Spreadsheets run a cell that begins like a formula, and callers choose what is in `user`: such a text gets a quote in front. */
function csvCell(value: string | number | boolean | undefined): string {
  if (value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
