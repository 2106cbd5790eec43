/**
 * The admin operations for the API description.
 *
 * @module
 */
import { z } from "zod";
import { exportQuery } from "../../gateway/admin/ledger.ts";
import { ADMIN_OPERATIONS } from "../../gateway/admin/mod.ts";
import { settingsReply } from "./settings.ts";

/** Description of an admin operation. */
export interface AdminDescription {
  /** One sentence for readers. */
  readonly summary: string;
  /** Schema of the body; absent if there is none. */
  readonly request?: z.ZodType;
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
  listSettings: {
    summary:
      "The configuration in force in this process: every setting with its value, default and source; secrets as set or not",
    reply: settingsReply,
  },
  exportLedger: {
    summary: "Export the ledger as JSON Lines or CSV",
    query: exportQuery,
    reply: z.string(),
  },
};
