/**
 * Admin operations on the ledger: in pages, and as an export for spreadsheets and scripts.
 */
import { z } from "zod";
import { compact } from "../../translate/bytes/compact.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { check } from "../../translate/model/schema.ts";
import type { Admin } from "../accounts/repositories/admin.ts";
import {
  CSV_HEAD,
  csvLine,
  entryJson,
  jsonLine,
} from "../accounts/reports/ledger_report.ts";
import type { LedgerQuery } from "../accounts/reports/ledger_walk.ts";
import { replyShape } from "../accounts/field.ts";
import { LEDGER_ENTRY, type LedgerEntry } from "../accounts/records.ts";
import { timestampOrDay } from "../accounts/values.ts";
import type { ListPage } from "../accounts/repositories/list_page.ts";
import { exportText } from "./export_text.ts";
import { FOCUS_HEAD, focusLines } from "./focus.ts";
import { listJson, listOf, PAGE_FIELDS, pageOf, timeMs } from "./pages.ts";
import { type AdminOperation, query } from "./operation.ts";

export const ledgerEntryReply: z.ZodType = z.object(replyShape(LEDGER_ENTRY));

const FILTERS = {
  account: z.string().max(64).optional(),
  key: z.string().max(64).optional(),
  model: z.string().max(200).optional(),
  user: z.string().max(512).optional(),
  kind: z.enum(["charge", "top_up"]).optional(),
  request_id: z.string().max(200).optional(),
  from: timestampOrDay.optional().describe("entries at or after this time"),
  to: timestampOrDay.optional().describe("entries before this time"),
};

const FORMAT = z.enum(["jsonl", "csv", "focus"]).default("jsonl").describe(
  "focus: the charges as CSV with columns of FOCUS, a line per kind of token",
);

const ledgerQuery = z.strictObject({
  ...PAGE_FIELDS,
  ...FILTERS,
  order: z.enum(["oldest", "newest"]).default("oldest").describe(
    "which entry comes first",
  ),
});

export const exportQuery: z.ZodType<
  & { readonly format: "jsonl" | "csv" | "focus" }
  & z.infer<z.ZodObject<typeof FILTERS>>
> = z.strictObject({ ...FILTERS, format: FORMAT });

/** The names of the filters of a list of all accounts. */
export const LEDGER_FILTERS: readonly string[] = Object.keys(FILTERS);

/**
 * The filters as a query of the repository.
 *
 * @throws {ApiError} `invalid_request` naming the field
 */
export function ledgerFilters(fields: JsonObject): LedgerQuery {
  return filtersOf(check(z.strictObject(FILTERS), fields));
}

function filtersOf(
  query: z.infer<z.ZodObject<typeof FILTERS>>,
): LedgerQuery {
  return compact({
    accountId: query.account,
    keyId: query.key,
    model: query.model,
    user: query.user,
    kind: query.kind,
    requestId: query.request_id,
    fromMs: timeMs(query.from),
    toMs: timeMs(query.to),
  });
}

export function listLedgerJson(page: ListPage<LedgerEntry>): JsonObject {
  return listJson(page, entryJson);
}

/** All operations on the ledger that reply with JSON. */
export const LEDGER_OPERATIONS: readonly AdminOperation[] = [
  query({
    operationId: "listLedger",
    summary: "List the ledger",
    path: "/admin/v1/ledger",
    query: ledgerQuery,
    reply: listOf(ledgerEntryReply),
    run: async (admin, query) =>
      listLedgerJson(
        await admin.ledger({
          ...filtersOf(query),
          ...pageOf(query),
          newestFirst: query.order === "newest",
        }),
      ),
  }),
];

interface LedgerExport {
  readonly contentType: string;
  /** The text in pieces, read from the store on demand. */
  readonly text: AsyncGenerator<string, void, void>;
}

/**
 * Exports the ledger.
 *
 * @throws {ApiError} `invalid_request` for a wrong query; reading the text throws
 * `unavailable`
 */
export function exportLedger(admin: Admin, query: JsonObject): LedgerExport {
  const { format, ...filters } = check(exportQuery, query);
  if (format !== "focus") return exportOf(admin, { format, ...filters });
  return {
    contentType: CSV,
    text: exportText(
      FOCUS_HEAD,
      withVendors(admin, admin.allLedger(filtersOf(filters))),
      ([entry, vendor]) => focusLines(entry, vendor),
    ),
  };
}

/** The entries, and the vendor that served the call of each. */
async function* withVendors(
  admin: Admin,
  slices: AsyncIterable<readonly LedgerEntry[]>,
): AsyncGenerator<readonly (readonly [LedgerEntry, string | undefined])[]> {
  for await (const slice of slices) {
    const vendors = await admin.vendorsOf(
      slice.map(({ requestId }) => requestId),
    );
    yield slice.map((entry) => [entry, vendors.get(entry.requestId)]);
  }
}

function exportOf(
  admin: Admin,
  { format, ...filters }: z.infer<typeof exportQuery>,
): LedgerExport {
  const [contentType, head, lineOf] = FORMATS[format];
  const entries = admin.allLedger(filtersOf(filters));
  return { contentType, text: exportText(head, entries, lineOf) };
}

const CSV = "text/csv; charset=utf-8";
/** Content type, header line, and the lines of an entry. */
const FORMATS: Readonly<
  Record<
    z.infer<typeof FORMAT>,
    readonly [string, string, (entry: LedgerEntry) => string]
  >
> = {
  csv: [CSV, CSV_HEAD, csvLine],
  focus: [CSV, FOCUS_HEAD, focusLines],
  jsonl: ["application/jsonl; charset=utf-8", "", jsonLine],
};

const { account: _, ...OWN_FILTERS } = FILTERS;
const OWN_LIST = {
  ...PAGE_FIELDS,
  ...OWN_FILTERS,
  order: z.enum(["oldest", "newest"]).default("newest").describe(
    "which entry comes first",
  ),
};

export const ownLedgerQuery: z.ZodObject<typeof OWN_LIST, z.core.$strict> = z
  .strictObject(OWN_LIST);
/** JSON form of a page of the ledger. */
export const ledgerListReply: z.ZodType = listOf(ledgerEntryReply);

/**
 * One page of an account's ledger, for the holder of an account token.
 *
 * @throws {ApiError} `invalid_request` naming the field of the query; `unavailable`
 */
export async function ownLedger(
  admin: Admin,
  accountId: string,
  query: JsonObject,
): Promise<JsonObject> {
  const filters = check(ownLedgerQuery, query);
  return listLedgerJson(
    await admin.ledger({
      ...filtersOf({ ...filters, account: accountId }),
      ...pageOf(filters),
      newestFirst: filters.order === "newest",
    }),
  );
}

export const ownExportQuery: z.ZodType<
  Omit<z.infer<typeof exportQuery>, "account">
> = z.strictObject({ ...OWN_FILTERS, format: FORMAT });

/**
 * Exports an account's ledger, for the holder of an account token.
 *
 * @throws {ApiError} as {@linkcode exportLedger}
 */
export function exportOwnLedger(
  admin: Admin,
  accountId: string,
  query: JsonObject,
): LedgerExport {
  return exportOf(admin, {
    ...check(ownExportQuery, query),
    account: accountId,
  });
}
