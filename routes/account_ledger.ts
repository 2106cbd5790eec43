/**
 * `GET /v1/account/ledger`: the ledger of an account, for the holder of an account token.
 *
 * @module
 */
import { ownLedger } from "../gateway/admin/ledger.ts";
import { queryOf } from "./admin/auth.ts";
import { type AccountRoute, jsonReply } from "./route.ts";

/** The routes of an account's own ledger. */
export const ACCOUNT_LEDGER_ROUTES: readonly AccountRoute[] = [{
  access: "account",
  permission: "see_account",
  method: "GET",
  path: "/v1/account/ledger",
  operation: "listOwnLedger",
  async handle({ gateway, query }, { accountId }) {
    return jsonReply(await ownLedger(gateway.admin, accountId, queryOf(query)));
  },
}];
