/**
 * Admin operations on the audits of the books. An audit is made by the gateway once a day, or by
 * the command line; the API makes none.
 */
import { z } from "zod";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { recordJson, replyShape } from "../accounts/field.ts";
import { AUDIT, type AuditRecord } from "../accounts/reports/audit_report.ts";
import { type AdminOperation, query } from "./operation.ts";
import { listJson, listOf, pageOf, pageQuery } from "./pages.ts";

function auditJson(audit: AuditRecord): JsonObject {
  return { object: "audit", ...recordJson(AUDIT, audit) };
}

export const AUDIT_OPERATIONS: readonly AdminOperation[] = [
  query({
    operationId: "listAudits",
    summary: "List the audits of the books, newest first, with what they found",
    path: "/admin/v1/audits",
    query: pageQuery,
    reply: listOf(
      z.object({ object: z.literal("audit"), ...replyShape(AUDIT) }),
    ),
    run: async (admin, query) =>
      listJson(await admin.audits.list(pageOf(query)), auditJson),
  }),
];
