/**
 * Reads the ledger: in pages, and as JSON Lines or CSV.
 */
import { invalidField } from "../../../translate/model/error.ts";
import type { JsonObject } from "../../../translate/bytes/json.ts";
import { recordJson } from "../field.ts";
import { csvCell } from "./csv_cell.ts";
import {
  type LedgerQuery,
  ledgerWalk,
  rankLedger,
  walkLedger,
} from "./ledger_walk.ts";
import type { RankedPage, RankedRange } from "./ranked.ts";
import { LEDGER_ENTRY, type LedgerEntry } from "../records.ts";
import {
  EXPORT_PAGE,
  type ListPage,
  listPage,
  pageLimit,
} from "../repositories/list_page.ts";
import {
  readReport,
  type RepositoryContext,
} from "../repositories/repository.ts";
import { textOf } from "../store/store.ts";
import { recordFrom } from "../rows/record_rows.ts";

/**
 * One page of the ledger. The cursor is the last entry's sequence number.
 *
 * @throws {ApiError} `invalid_request` for an invalid cursor; `unavailable`
 */
export async function listLedger(
  context: RepositoryContext,
  query: LedgerQuery,
): Promise<ListPage<LedgerEntry>> {
  const limit = pageLimit(query);
  const after = cursor(query.after);
  const walk = await ledgerWalk(context, query);
  const { rows, stoppedAt } = await walkLedger(
    context,
    walk,
    after,
    limit + 1,
    query.scanLimit,
  );
  return {
    ...(stoppedAt === undefined ? {} : { next: String(stoppedAt) }),
    ...listPage(
      rows.map((row) => recordFrom(LEDGER_ENTRY, row)),
      limit,
      (entry) => String(entry.seq),
    ),
  };
}

/**
 * One page of the newest entries of a query, by amount.
 *
 * @throws {ApiError} `unavailable`
 */
export async function rankedLedger(
  context: RepositoryContext,
  query: LedgerQuery & { readonly scanLimit: number },
  range: Omit<RankedRange<string>, "by">,
): Promise<RankedPage<LedgerEntry>> {
  const walk = await ledgerWalk(context, { ...query, newestFirst: true });
  const { data, ...rest } = await rankLedger(
    context,
    walk,
    range,
    query.scanLimit,
  );
  return { data: data.map((row) => recordFrom(LEDGER_ENTRY, row)), ...rest };
}

function cursor(after: string | undefined): number | undefined {
  if (after === undefined) return undefined;
  if (!/^\d{1,15}$/.test(after)) {
    throw invalidField(
      "after",
      "is not the cursor that an earlier page of the ledger ended with",
    );
  }
  return Number(after);
}

/** Reads all matching entries, page by page. A page may be empty. */
export async function* allEntries(
  context: RepositoryContext,
  query: LedgerQuery,
): AsyncGenerator<readonly LedgerEntry[], void, void> {
  const walk = await ledgerWalk(context, query);
  let after = cursor(query.after);
  do {
    const { rows, stoppedAt } = await walkLedger(
      context,
      walk,
      after,
      EXPORT_PAGE.rows,
      EXPORT_PAGE.scanned,
    );
    yield rows.map((row) => recordFrom(LEDGER_ENTRY, row));
    after = stoppedAt;
  } while (after !== undefined);
}

/** An entry as JSON; unknown values are null. */
export function entryJson(entry: LedgerEntry): JsonObject {
  return recordJson(LEDGER_ENTRY, entry);
}

export function jsonLine(entry: LedgerEntry): string {
  return `${JSON.stringify(entryJson(entry))}\n`;
}

/** Header line of the CSV form. */
export const CSV_HEAD: string = `${
  Object.values(LEDGER_ENTRY).map(({ json }) => json).join(",")
}\r\n`;

/** An entry as a line of CSV (RFC 4180). */
export function csvLine(entry: LedgerEntry): string {
  return `${Object.values(entryJson(entry)).map(csvCell).join(",")}\r\n`;
}

/**
 * Who served the calls of these entries, by the entries' request ids; of those that are not known,
 * none.
 *
 * @throws {ApiError} `unavailable`
 */
export async function readVendors(
  context: RepositoryContext,
  requestIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await readReport(
    context,
    `SELECT request_id, vendor FROM ledger WHERE request_id IN ${
      context.store.dialect.texts(1)
    } AND vendor IS NOT NULL`,
    [JSON.stringify(requestIds)],
  );
  return new Map(
    rows.map((row) => [textOf(row, "request_id"), textOf(row, "vendor")]),
  );
}
