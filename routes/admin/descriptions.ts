/**
 * The admin operations for the API description.
 *
 * @module
 */
import { z } from "zod";
import { exportQuery } from "../../gateway/admin/ledger.ts";
import { ADMIN_OPERATIONS } from "../../gateway/admin/mod.ts";
import {
  reconcileQuery,
  reconciliationReply,
} from "../../gateway/reconcile/reconciliation_json.ts";

/** Description of an admin operation. */
export interface AdminDescription {
  /** One sentence for readers. */
  readonly summary: string;
  /** Schema of the body; absent if there is none. */
  readonly request?: z.ZodType;
  /** Content type of the body; absent: JSON. */
  readonly requestType?: string;
  /** Schema of the query; absent if there is none. */
  readonly query?: z.ZodType;
  /** Schema of the reply. */
  readonly reply: z.ZodType;
  /** Never set: no admin reply is an event stream. */
  readonly streams?: boolean;
}

/** Descriptions by operation id. */
export const ADMIN_DESCRIPTIONS: Readonly<Record<string, AdminDescription>> = {
  ...Object.fromEntries(
    ADMIN_OPERATIONS.map((
      { operationId: operation, summary, request, query, reply },
    ) => [
      operation,
      {
        summary,
        reply,
        ...(request === undefined ? {} : { request }),
        ...(query === undefined ? {} : { query }),
      },
    ]),
  ),
  exportLedger: {
    summary: "Export the ledger as JSON Lines, CSV or FOCUS",
    query: exportQuery,
    reply: z.string(),
  },
  reconcile: {
    summary:
      "Compare a vendor's export of usage or costs with the books, by day and model",
    request: z.string(),
    requestType: "text/csv",
    query: reconcileQuery,
    reply: reconciliationReply,
  },
};
