/**
 * `GET /v1/usage`: what a key has used, for its holder.
 *
 * @module
 */
import { ownUsage } from "../gateway/admin/usage.ts";
import { ApiError } from "../translate/error.ts";
import { type DeskOf, queryOf } from "./admin/door.ts";
import { json, type KeyRoute } from "./route.ts";

/** The route. */
export function usageRoutes(deskOf: DeskOf): readonly KeyRoute[] {
  return [{
    access: "key",
    method: "GET",
    path: "/v1/usage",
    operation: "getUsage",
    async handle({ gateway, query }, caller) {
      const desk = deskOf(gateway);
      if (desk === undefined) {
        throw new ApiError("not_found", "this gateway keeps no usage", {
          retryable: false,
        });
      }
      return json(await ownUsage(desk.admin, caller, queryOf(query)));
    },
  }];
}
