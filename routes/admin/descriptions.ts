/**
 * The admin operations as the API's description tells of them.
 *
 * @module
 */
import { z } from "zod";
import { exportQuery } from "../../gateway/admin/ledger.ts";
import { ADMIN_OPERATIONS } from "../../gateway/admin/mod.ts";

/** What is told of an operation. */
export interface AdminDescription {
  /** For people. */
  readonly summary: string;
  /** What the body must be. */
  readonly request?: z.ZodType;
  /** What the query must be. */
  readonly query?: z.ZodType;
  /** What it answers. */
  readonly reply: z.ZodType;
  /** No answer is an event stream. */
  readonly streams?: boolean;
}

/** By operation id. */
export const ADMIN_DESCRIPTIONS: Readonly<Record<string, AdminDescription>> = {
  ...Object.fromEntries(
    ADMIN_OPERATIONS.map(({ operation, summary, request, query, reply }) => [
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
    summary: "Export the ledger as JSON Lines or CSV",
    query: exportQuery,
    reply: z.string(),
  },
};
