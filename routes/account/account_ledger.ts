/**
 * `GET /v1/account/ledger` and `/v1/account/ledger/export`: the ledger of an account, for the
 * holder of an account token.
 */
import { exportOwnLedger, ownLedger } from "../../gateway/admin/ledger.ts";
import { queryOf } from "../admin/auth.ts";
import { fileReply } from "./file_reply.ts";
import { type AccountRoute, jsonReply } from "../route.ts";

export const ACCOUNT_LEDGER_ROUTES: readonly AccountRoute[] = [{
  access: "account",
  permission: "see_account",
  isReport: true,
  method: "GET",
  path: "/v1/account/ledger",
  operation: "listOwnLedger",
  async handle({ gateway, query }, { accountId }) {
    return jsonReply(await ownLedger(gateway.admin, accountId, queryOf(query)));
  },
}, {
  access: "account",
  permission: "see_account",
  isReport: true,
  method: "GET",
  path: "/v1/account/ledger/export",
  operation: "exportOwnLedger",
  handle({ gateway, query }, { accountId }) {
    const { contentType, text } = exportOwnLedger(
      gateway.admin,
      accountId,
      queryOf(query),
    );
    return fileReply({ "content-type": contentType }, text);
  },
}];
