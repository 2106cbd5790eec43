/**
 * `GET /v1/calls` and `GET /v1/calls/{request_id}`: the calls of a key, or with an account token
 * those of the account.
 */
import { scopeOf } from "../../gateway/admin/account_scope.ts";
import { ownCall, ownCalls } from "../../gateway/admin/calls.ts";
import { noQuery } from "../../gateway/admin/pages.ts";
import { check } from "../../translate/model/schema.ts";
import { queryOf } from "../admin/auth.ts";
import { type AccountRoute, jsonReply } from "../route.ts";

export const CALLS_ROUTES: readonly AccountRoute[] = [
  {
    access: "account",
    permission: "look",
    method: "GET",
    path: "/v1/calls/:request_id",
    operation: "getOwnCall",
    async handle({ gateway, parameters, query }, holder) {
      check(noQuery, queryOf(query));
      return jsonReply(
        await ownCall(
          gateway.admin,
          scopeOf(holder),
          parameters["request_id"] ?? "",
        ),
      );
    },
  },
  {
    access: "account",
    permission: "look",
    isReport: true,
    method: "GET",
    path: "/v1/calls",
    operation: "listOwnCalls",
    async handle({ gateway, query }, holder) {
      return jsonReply(
        await ownCalls(gateway.admin, scopeOf(holder), queryOf(query)),
      );
    },
  },
];
