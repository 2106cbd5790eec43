/**
 * Operations on money put into accounts.
 *
 * @module
 */
import { z } from "zod";
import { ledgerEntryReply, listLedgerJson } from "./ledger.ts";
import { entryJson } from "../accounts/ledger_report.ts";
import { listOf, microUsd, name, pageOf, pageQuery } from "./fields.ts";
import { type AdminOperation, change, look } from "./operation.ts";

/** The operations. */
export const TOP_UP_OPERATIONS: readonly AdminOperation[] = [
  change({
    operation: "topUpAccount",
    summary:
      "Put money into an account, or take it out (an amount below zero); send an idempotency-key, so that it happens once",
    path: "/admin/v1/accounts/:id/top-ups",
    request: z.strictObject({
      micro_usd: microUsd.describe("millionths of a dollar"),
      model: z.string().min(1).max(200).optional().describe(
        "puts it into the balance of this model alone; from then on its calls are paid from there",
      ),
      note: name.optional(),
    }),
    reply: ledgerEntryReply,
    run: async (admin, body, { id, once }) =>
      entryJson(
        await admin.accounts.topUp(id, {
          microUsd: body.micro_usd,
          ...(body.model === undefined ? {} : { model: body.model }),
          ...(body.note === undefined ? {} : { note: body.note }),
        }, once),
      ),
  }),
  look({
    operation: "listTopUps",
    summary: "List the money put into an account",
    path: "/admin/v1/accounts/:id/top-ups",
    query: pageQuery,
    reply: listOf(ledgerEntryReply),
    run: async (admin, query, id) => {
      const account = await admin.accounts.get(id);
      return listLedgerJson(
        await admin.ledger({
          accountId: account.id,
          kind: "top_up",
          ...pageOf(query),
        }),
      );
    },
  }),
];
