/**
 * The admin operations for the API description.
 */
import { z } from "zod";
import { exportQuery } from "../../gateway/admin/ledger.ts";
import { ADMIN_OPERATIONS } from "../../gateway/admin/mod.ts";
import { compact } from "../../translate/bytes/compact.ts";
import { settingsReply } from "./settings.ts";
import {
  reconcileQuery,
  reconciliationReply,
} from "../../gateway/reconcile/reconciliation_json.ts";
import { liveQuery, liveReply } from "../../gateway/live/live_json.ts";
import { processesReply } from "../../gateway/live/process_state.ts";

interface AdminDescription {
  /** One sentence for readers. */
  readonly summary: string;
  /** Schema of the body; absent if there is none. */
  readonly request?: z.ZodType;
  /** Content type of the body; absent: JSON. */
  readonly requestType?: string;
  /** Schema of the query; absent if there is none. */
  readonly query?: z.ZodType;
  readonly reply: z.ZodType;
  /** True if the reply is an event stream of it. */
  readonly streams?: boolean;
}

export const ADMIN_DESCRIPTIONS: Readonly<Record<string, AdminDescription>> = {
  ...Object.fromEntries(
    ADMIN_OPERATIONS.map((
      { operationId: operation, summary, request, query, reply },
    ) => [
      operation,
      {
        summary,
        reply,
        ...compact({ request, query }),
      },
    ]),
  ),
  listSettings: {
    summary:
      "The configuration in force in this process: every setting with its value, default and source; secrets as set or not",
    reply: settingsReply,
  },
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
  watchCalls: {
    summary:
      "The calls of all accounts under way and just ended, as an event stream: an event `calls` about every second",
    query: liveQuery,
    reply: liveReply,
    streams: true,
  },
  listCallsUnderWay: {
    summary: "The calls of all accounts under way in all processes",
    query: liveQuery,
    reply: liveReply,
  },
  listUpstreams: {
    summary:
      "Breakers, failures and connections of every process, not older than six seconds",
    reply: processesReply,
  },
};
