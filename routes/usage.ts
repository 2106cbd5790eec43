/**
 * `GET /v1/usage`: the usage of a key, or with an account token that of the account.
 *
 * @module
 */
import { scopeOf } from "../gateway/admin/account_scope.ts";
import { ownUsage } from "../gateway/admin/usage.ts";
import { queryOf } from "./admin/auth.ts";
import { type AccountRoute, jsonReply } from "./route.ts";

/** The routes of the usage that a credential may see. */
export const USAGE_ROUTES: readonly AccountRoute[] = [{
  access: "account",
  permission: "look",
  method: "GET",
  path: "/v1/usage",
  operation: "getUsage",
  async handle({ gateway, query }, holder) {
    return jsonReply(
      await ownUsage(gateway.admin, scopeOf(holder), queryOf(query)),
    );
  },
}];
