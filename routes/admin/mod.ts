/**
 * `/admin/v1/…`: the operations of `gateway/admin/` as routes. Without a configured token, every
 * request is refused.
 */
import { scopeOf } from "../../gateway/accounts/operator_scope.ts";
import { ADMIN_OPERATIONS } from "../../gateway/admin/mod.ts";
import type { AdminOperation } from "../../gateway/admin/operation.ts";
import { compact } from "../../translate/bytes/compact.ts";
import { optionalBody } from "../optional_body.ts";
import { jsonReply, type OpenRoute } from "../route.ts";
import { withLag } from "../account/report_lag.ts";
import { queryOf, requireOperator } from "./auth.ts";
import { LEDGER_EXPORT_ROUTE } from "./ledger_export.ts";
import { SETTINGS_ROUTE } from "./settings.ts";
import { RECONCILIATION_ROUTE } from "./reconciliation.ts";
import { ADMIN_LIVE_ROUTES } from "./live.ts";

/** The admin routes. They need no client key; each checks the operator's token itself. */
export const ADMIN_ROUTES: readonly OpenRoute[] = [
  LEDGER_EXPORT_ROUTE,
  SETTINGS_ROUTE,
  RECONCILIATION_ROUTE,
  ...ADMIN_LIVE_ROUTES,
  ...ADMIN_OPERATIONS.map(routeOf),
];

function routeOf(operation: AdminOperation): OpenRoute {
  return {
    access: "open",
    method: operation.method,
    path: operation.path,
    operation: operation.operationId,
    async handle(context) {
      const admin = await requireOperator(
        context,
        scopeOf(operation.operationId, operation.method),
      );
      const id = context.parameters["id"];
      const idempotencyKey = context.request.headers.get("idempotency-key");
      const reply = jsonReply(
        await operation.run(admin, {
          ...compact({ id }),
          ...(operation.method === "GET"
            ? { query: queryOf(context.query) }
            : { body: await optionalBody(context) }),
          ...(idempotencyKey === null ? {} : { idempotencyKey }),
        }),
      );
      return operation.method === "GET"
        ? withLag(context.gateway, reply)
        : reply;
    },
  };
}
