/**
 * `/admin/v1/…`: the operations of `gateway/admin/` as routes. Without a configured token there are none.
 *
 * @module
 */
import { ADMIN_OPERATIONS } from "../../gateway/admin/mod.ts";
import type { AdminOperation } from "../../gateway/admin/operation.ts";
import type { JsonObject } from "../../translate/json.ts";
import { bodyOf } from "../generation.ts";
import { json, type OpenRoute, type RouteContext } from "../route.ts";
import { admitted, type DeskOf, queryOf } from "./door.ts";
import { ledgerExportRoute } from "./ledger_export.ts";

/** The routes. They are open to the router and closed by their own gate: the token is no key. */
export function adminRoutes(deskOf: DeskOf): readonly OpenRoute[] {
  return [
    ledgerExportRoute(deskOf),
    ...ADMIN_OPERATIONS.map((operation) => routeOf(operation, deskOf)),
  ];
}

function routeOf(operation: AdminOperation, deskOf: DeskOf): OpenRoute {
  return {
    access: "open",
    method: operation.method,
    path: operation.path,
    operation: operation.operation,
    async handle(context) {
      const admin = admitted(context, deskOf);
      const id = context.parameters["id"];
      const idempotencyKey = context.request.headers.get("idempotency-key");
      return json(
        await operation.run(admin, {
          ...(id === undefined ? {} : { id }),
          ...(operation.method === "GET"
            ? { query: queryOf(context.query) }
            : { body: await optionalBody(context) }),
          ...(idempotencyKey === null ? {} : { idempotencyKey }),
        }),
      );
    },
  };
}

/** A body, or an empty object where there is none: not every change needs one. */
async function optionalBody(context: RouteContext): Promise<JsonObject> {
  const { body, headers } = context.request;
  if (body === null || headers.get("content-length") === "0") return {};
  return (await bodyOf(context)).json;
}
