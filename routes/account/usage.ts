/**
 * `GET /v1/usage` and `/v1/usage/comparison`: the usage of a key, or with an account token that of
 * the account, and what it would have cost at another model's prices.
 */
import { scopeOf } from "../../gateway/admin/account_scope.ts";
import { ownUsage } from "../../gateway/admin/usage.ts";
import { ownUsageComparison } from "../../gateway/admin/usage_comparison.ts";
import { queryOf } from "../admin/auth.ts";
import { type AccountRoute, jsonReply } from "../route.ts";

export const USAGE_ROUTES: readonly AccountRoute[] = [{
  access: "account",
  permission: "look",
  isReport: true,
  method: "GET",
  path: "/v1/usage",
  operation: "getUsage",
  async handle({ gateway, query }, holder) {
    return jsonReply(
      await ownUsage(gateway.admin, scopeOf(holder), queryOf(query)),
    );
  },
}, {
  access: "account",
  permission: "look",
  isReport: true,
  method: "GET",
  path: "/v1/usage/comparison",
  operation: "compareUsage",
  async handle({ gateway, query }, holder) {
    return jsonReply(
      await ownUsageComparison(
        gateway.admin,
        scopeOf(holder),
        gateway.models.models,
        queryOf(query),
      ),
    );
  },
}];
