/**
 * `POST /admin/v1/reconciliations`: a vendor's export of costs or usage in the body, against the books.
 */
import { scopeOf } from "../../gateway/accounts/operator_scope.ts";
import { textPieces } from "../../gateway/http/request_body.ts";
import { reconcile } from "../../gateway/reconcile/reconcile.ts";
import {
  reconcileQuery,
  reconciliationJson,
} from "../../gateway/reconcile/reconciliation_json.ts";
import { compact } from "../../translate/bytes/compact.ts";
import { ApiError } from "../../translate/model/error.ts";
import { check } from "../../translate/model/schema.ts";
import { jsonReply, type OpenRoute } from "../route.ts";
import { queryOf, requireOperator } from "./auth.ts";

const MAX_INVOICE_BYTES: number = 32 * 1024 * 1024;

const TYPES: readonly string[] = [
  "text/csv",
  "application/json",
  "text/tab-separated-values",
  "text/plain",
  "application/octet-stream",
];

export const RECONCILIATION_ROUTE: OpenRoute = {
  access: "open",
  method: "POST",
  path: "/admin/v1/reconciliations",
  operation: "reconcile",
  async handle(context) {
    const { request, gateway, query } = context;
    const admin = await requireOperator(context, scopeOf("reconcile", "POST"));
    const { vendor, from, to } = check(reconcileQuery, queryOf(query));
    const type = request.headers.get("content-type")?.split(";")[0]?.trim()
      .toLowerCase();
    if (type !== undefined && !TYPES.includes(type)) {
      throw new ApiError(
        "unsupported_media",
        "content-type must be text/csv or application/json: send the vendor's file as it is",
        { retryable: false },
      );
    }
    return jsonReply(reconciliationJson(
      await reconcile(
        admin,
        gateway.config.catalogue.models,
        textPieces(request, {
          maxBytes: MAX_INVOICE_BYTES,
          timeoutMs: gateway.config.bodyTimeoutMs,
        }, gateway.timers),
        {
          ...compact({ vendor, fromDay: from, toDay: to }),
        },
      ),
    ));
  },
};
