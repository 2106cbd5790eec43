/**
 * `GET /v1/calls` and `GET /v1/calls/{request_id}`: the calls of a key, for its holder.
 *
 * @module
 */
import { ownCall, ownCalls } from "../gateway/admin/calls.ts";
import { queryOf } from "./admin/auth.ts";
import { jsonReply, type KeyRoute } from "./route.ts";

/** The routes of the key holder's calls. */
export const CALLS_ROUTES: readonly KeyRoute[] = [
  {
    access: "key",
    method: "GET",
    path: "/v1/calls/:request_id",
    operation: "getOwnCall",
    async handle({ gateway, parameters }, { accountId, keyId }) {
      return jsonReply(
        await ownCall(
          gateway.admin,
          { accountId, keyId },
          parameters["request_id"] ?? "",
        ),
      );
    },
  },
  {
    access: "key",
    method: "GET",
    path: "/v1/calls",
    operation: "listOwnCalls",
    async handle({ gateway, query }, { accountId, keyId }) {
      return jsonReply(
        await ownCalls(gateway.admin, { accountId, keyId }, queryOf(query)),
      );
    },
  },
];
