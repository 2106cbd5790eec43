/**
 * Authorization of the admin routes, and their query parameters.
 */
import type { Admin } from "../../gateway/accounts/repositories/admin.ts";
import { isLoopback } from "../../gateway/settings/config.ts";
import { ApiError } from "../../translate/model/error.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import type { RouteContext } from "../route.ts";
import { requireOnce } from "../target.ts";

/**
 * Checks the admin token. Changes of the returned administration are recorded as the operator's.
 *
 * @throws {ApiError} `not_found` if there is no admin API; `authentication` or `rate_limit` from
 * `AdminAuth`
 */
export function requireOperator(context: RouteContext): Admin {
  const { admin, adminAuth } = context.gateway;
  if (adminAuth === undefined) {
    throw new ApiError(
      "not_found",
      "no such path: the admin API is disabled; the gateway's operator enables it with GATEWAY_ADMIN_TOKEN",
      { retryable: false },
    );
  }
  const { headers } = context.request;
  adminAuth.verify(
    /^bearer (.+)$/is.exec(headers.get("authorization") ?? "")?.[1],
  );
  return admin.as({
    kind: "operator",
    via: "api",
    requestId: context.requestId,
  });
}

/**
 * Checks access to the gateway's state: requires the admin token; without a configured token,
 * access is open if the gateway listens on loopback only.
 *
 * @throws {ApiError} like {@linkcode requireOperator}
 */
export function requireMetricsAccess(context: RouteContext): void {
  const { adminToken, listen } = context.gateway.config;
  const isOpen = adminToken === undefined && listen !== undefined &&
    isLoopback(listen.hostname);
  if (!isOpen) requireOperator(context);
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
