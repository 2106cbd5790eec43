/**
 * `/admin/v1/…`: the operations of `gateway/admin/` as routes. Without a configured token, every
 * request is refused.
 *
 * @module
 */
import { ADMIN_OPERATIONS } from "../../gateway/admin/mod.ts";
import type { AdminOperation } from "../../gateway/admin/operation.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { readBody } from "../generation.ts";
import { jsonReply, type OpenRoute, type RouteContext } from "../route.ts";
import { queryOf, requireOperator } from "./auth.ts";
import { LEDGER_EXPORT_ROUTE } from "./ledger_export.ts";

/** The admin routes. They need no client key; each checks the admin token itself. */
export const ADMIN_ROUTES: readonly OpenRoute[] = [
  LEDGER_EXPORT_ROUTE,
  ...ADMIN_OPERATIONS.map(routeOf),
];

function routeOf(operation: AdminOperation): OpenRoute {
  return {
    access: "open",
    method: operation.method,
    path: operation.path,
    operation: operation.operationId,
    async handle(context) {
      const admin = requireOperator(context);
      const id = context.parameters["id"];
      const idempotencyKey = context.request.headers.get("idempotency-key");
      return jsonReply(
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

/** The body, or an empty object if there is none: some changes need no body. */
async function optionalBody(context: RouteContext): Promise<JsonObject> {
  const { body, headers } = context.request;
  if (body === null || headers.get("content-length") === "0") return {};
  return (await readBody(context)).json;
}
