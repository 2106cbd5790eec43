import { z } from "zod";
import { compact } from "../../translate/bytes/compact.ts";
import { ledgerEntryReply, listLedgerJson } from "./ledger.ts";
import { entryJson } from "../accounts/reports/ledger_report.ts";
import { displayName, microUsd } from "../accounts/values.ts";
import { listOf, pageOf, pageQuery } from "./pages.ts";
import { type AdminOperation, mutation, query } from "./operation.ts";

export const TOP_UP_OPERATIONS: readonly AdminOperation[] = [
  mutation({
    operationId: "topUpAccount",
    summary:
      "Put money into an account, or take it out (negative amount); send an idempotency-key, so that a retry is applied once",
    path: "/admin/v1/accounts/:id/top-ups",
    request: z.strictObject({
      micro_usd: microUsd.describe("millionths of a dollar"),
      model: z.string().min(1).max(200).optional().describe(
        "puts the amount into this model's own balance; from then on its calls are paid from that balance alone",
      ),
      note: displayName.optional(),
    }),
    reply: ledgerEntryReply,
    run: async (admin, body, { id, idempotencyKey }) =>
      entryJson(
        await admin.accounts.topUp(id, {
          microUsd: body.micro_usd,
          ...compact({ model: body.model, note: body.note }),
        }, idempotencyKey),
      ),
  }),
  query({
    operationId: "listTopUps",
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
