/**
 * `GET /admin/v1/ledger/export`: the ledger as JSON Lines or CSV.
 */
import { exportLedger } from "../../gateway/admin/ledger.ts";
import { fileReply } from "../account/file_reply.ts";
import { heldFile } from "../account/held_file.ts";
import type { OpenRoute } from "../route.ts";
import { queryOf, requireOperator } from "./auth.ts";

export const LEDGER_EXPORT_ROUTE: OpenRoute = {
  access: "open",
  method: "GET",
  path: "/admin/v1/ledger/export",
  operation: "exportLedger",
  async handle(context) {
    const admin = await requireOperator(context);
    const { contentType, text } = exportLedger(admin, queryOf(context.query));
    return await heldFile(
      context.gateway,
      "operator",
      await fileReply({ "content-type": contentType }, text),
    );
  },
};
