/**
 * `GET /v1/usage`: the usage of a key, for its holder.
 *
 * @module
 */
import { ownUsage } from "../gateway/admin/usage.ts";
import { queryOf } from "./admin/auth.ts";
import { jsonReply, type KeyRoute } from "./route.ts";

/** The routes of the key holder's usage. */
export const USAGE_ROUTES: readonly KeyRoute[] = [{
  access: "key",
  method: "GET",
  path: "/v1/usage",
  operation: "getUsage",
  async handle({ gateway, query }, caller) {
    return jsonReply(await ownUsage(gateway.admin, caller, queryOf(query)));
  },
}];
