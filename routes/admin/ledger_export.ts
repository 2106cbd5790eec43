/**
 * `GET /admin/v1/ledger/export`: the ledger as JSON Lines or CSV, read from the store at the
 * client's pace.
 *
 * @module
 */
import { exportLedger, type LedgerExport } from "../../gateway/admin/ledger.ts";
import type { HttpReply } from "../../gateway/http/http_reply.ts";
import type { OpenRoute } from "../route.ts";
import { queryOf, requireOperator } from "./auth.ts";

export const LEDGER_EXPORT_ROUTE: OpenRoute = {
  access: "open",
  method: "GET",
  path: "/admin/v1/ledger/export",
  operation: "exportLedger",
  handle(context) {
    const admin = requireOperator(context);
    return ledgerFile(exportLedger(admin, queryOf(context.query)));
  },
};

/**
 * The reply with an export.
 *
 * @throws {ApiError} `unavailable` if its beginning cannot be read
 */
export async function ledgerFile(
  { contentType, text }: LedgerExport,
): Promise<HttpReply> {
  // Reads the first chunk before the status is sent, so that an unavailable store is a 503 and
  // not a truncated file.
  let next = await text.next();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      if (next.done === true) return controller.close();
      controller.enqueue(encoder.encode(next.value));
      next = await text.next();
    },
    async cancel() {
      await text.return();
    },
  });
  return { status: 200, headers: { "content-type": contentType }, body };
}
