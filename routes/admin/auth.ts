/**
 * Authorization of the admin routes, and their query parameters.
 */
import {
  type OperatorScope,
  requireScope,
} from "../../gateway/accounts/operator_scope.ts";
import type { Admin } from "../../gateway/accounts/repositories/admin.ts";
import { isLoopback } from "../../gateway/settings/config.ts";
import { ApiError } from "../../translate/model/error.ts";
import { compact } from "../../translate/bytes/compact.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import type { RouteContext } from "../route.ts";
import { requireOnce } from "../target.ts";

/**
 * Checks the operator's token and its scope. Changes of the returned administration are recorded as
 * the operator's.
 *
 * @throws {ApiError} `not_found` if there is no admin API; `permission` for another scope;
 * `authentication`, `rate_limit` or `unavailable` from `AdminAuth`
 */
export async function requireOperator(
  context: RouteContext,
  needed: OperatorScope = "read",
): Promise<Admin> {
  const { admin, adminAuth } = context.gateway;
  if (adminAuth === undefined) {
    throw new ApiError(
      "not_found",
      "no such path: the admin API is disabled; the gateway's operator enables it with GATEWAY_ADMIN_TOKEN",
      { retryable: false },
    );
  }
  const { headers } = context.request;
  const { id, scope } = await adminAuth.verify(
    /^bearer (.+)$/is.exec(headers.get("authorization") ?? "")?.[1],
  );
  requireScope(scope, needed);
  return admin.as({
    kind: "operator",
    ...compact({ id }),
    via: "api",
    requestId: context.requestId,
  });
}

/**
 * Checks access to the gateway's state: requires an operator's token; without a configured one,
 * access is open if the gateway listens on loopback only.
 *
 * @throws {ApiError} like {@linkcode requireOperator}
 */
export async function requireMetricsAccess(
  context: RouteContext,
): Promise<void> {
  const { adminToken, listen } = context.gateway.config;
  const isOpen = adminToken === undefined && listen !== undefined &&
    isLoopback(listen.hostname);
  if (!isOpen) await requireOperator(context);
}

/**
 * The fields of a query.
 *
 * @throws {ApiError} `invalid_request` for a field that occurs twice
 */
export function queryOf(query: URLSearchParams): JsonObject {
  requireOnce(query);
  return Object.fromEntries(query);
}
