/**
 * Operations on the ledger: in pages, and as a whole in the forms that spreadsheets and scripts read.
 *
 * @module
 */
import { z } from "zod";
import type { JsonObject } from "../../translate/json.ts";
import { checked } from "../../translate/schema.ts";
import type { Admin } from "../accounts/admin.ts";
import {
  CSV_HEAD,
  csvLines,
  entryJson,
  jsonLines,
  type LedgerQuery,
} from "../accounts/ledger_report.ts";
import type { LedgerEntry } from "../accounts/records.ts";
import type { Page } from "../accounts/register.ts";
import {
  listJson,
  listOf,
  momentOrDay,
  PAGE_FIELDS,
  pageOf,
} from "./fields.ts";
import { type AdminOperation, look } from "./operation.ts";

/** A line of the ledger as it is answered. */
export const ledgerEntryReply: z.ZodType = z.object({
  seq: z.int(),
  time: z.string(),
  kind: z.enum(["charge", "top_up"]),
  request_id: z.string(),
  account: z.string(),
  key: z.string().nullable(),
  model: z.string().nullable(),
  purse: z.string().nullable().describe(
    "the model whose own balance it moves; null: the account's balance",
  ),
  user: z.string().nullable().describe("the caller's own user id"),
  input_tokens: z.int(),
  cache_read_tokens: z.int(),
  cache_write_tokens: z.int(),
  output_tokens: z.int(),
  reasoning_tokens: z.int(),
  price: z.string().nullable().describe(
    "micro-dollars per million tokens: input/cache read/cache write/output",
  ),
  estimated: z.boolean(),
  ended: z.string().nullable().describe(
    "complete, caller_left, failed, refused, lost",
  ),
  note: z.string().nullable(),
  micro_usd: z.int().describe(
    "what it adds to the balance: negative for a charge",
  ),
});

const FILTERS = {
  account: z.string().max(64).optional(),
  key: z.string().max(64).optional(),
  kind: z.enum(["charge", "top_up"]).optional(),
  request_id: z.string().max(200).optional(),
  from: momentOrDay.optional().describe("not before"),
  to: momentOrDay.optional().describe("before"),
};

const ledgerQuery = z.strictObject({ ...PAGE_FIELDS, ...FILTERS });

/** What the query of an export may say. */
export const exportQuery: z.ZodType<
  { readonly format: "jsonl" | "csv" } & z.infer<z.ZodObject<typeof FILTERS>>
> = z.strictObject({
  ...FILTERS,
  format: z.enum(["jsonl", "csv"]).default("jsonl"),
});

function filtersOf(
  query: z.infer<z.ZodObject<typeof FILTERS>>,
): LedgerQuery {
  return {
    ...(query.account === undefined ? {} : { accountId: query.account }),
    ...(query.key === undefined ? {} : { keyId: query.key }),
    ...(query.kind === undefined ? {} : { kind: query.kind }),
    ...(query.request_id === undefined ? {} : { requestId: query.request_id }),
    ...(query.from === undefined ? {} : { fromMs: Date.parse(query.from) }),
    ...(query.to === undefined ? {} : { toMs: Date.parse(query.to) }),
  };
}

/** A page of the ledger as it is answered. */
export function listLedgerJson(page: Page<LedgerEntry>): JsonObject {
  return listJson(page, entryJson);
}

/** The operations. */
export const LEDGER_OPERATIONS: readonly AdminOperation[] = [
  look({
    operation: "listLedger",
    summary: "List the ledger, oldest line first",
    path: "/admin/v1/ledger",
    query: ledgerQuery,
    reply: listOf(ledgerEntryReply),
    run: async (admin, query) =>
      listLedgerJson(
        await admin.ledger({ ...filtersOf(query), ...pageOf(query) }),
      ),
  }),
];

/** An export: its media type, and its text as it is read from the store. */
export interface LedgerExport {
  /** For the `content-type` header. */
  readonly contentType: string;
  /** Piece by piece, read as it is asked for. */
  readonly text: AsyncGenerator<string, void, void>;
}

/**
 * Exports the ledger.
 *
 * @throws {ApiError} `invalid_request` for a wrong query; reading the text throws `unavailable`
 */
export function exportLedger(admin: Admin, query: JsonObject): LedgerExport {
  const { format, ...filters } = checked(exportQuery, query);
  const pages = admin.allLedger(filtersOf(filters));
  return format === "csv"
    ? { contentType: "text/csv; charset=utf-8", text: csv(pages) }
    : { contentType: "application/jsonl; charset=utf-8", text: lines(pages) };
}

type Pages = AsyncGenerator<readonly LedgerEntry[], void, void>;

async function* csv(pages: Pages): AsyncGenerator<string, void, void> {
  yield CSV_HEAD;
  for await (const page of pages) yield csvLines(page);
}

async function* lines(pages: Pages): AsyncGenerator<string, void, void> {
  for await (const page of pages) yield jsonLines(page);
}
