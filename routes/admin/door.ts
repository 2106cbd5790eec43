/**
 * The door of the admin routes: who comes in, and what the query says.
 *
 * @module
 */
import type { Admin } from "../../gateway/accounts/admin.ts";
import type { Desk } from "../../gateway/admin/desk.ts";
import { isLoopback } from "../../gateway/config.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { ApiError, invalidField } from "../../translate/error.ts";
import type { JsonObject } from "../../translate/json.ts";
import type { RouteContext } from "../route.ts";

/** Finds a gateway's desk; undefined where it has none. */
export type DeskOf = (gateway: Gateway) => Desk | undefined;

/**
 * Lets an operator in.
 *
 * @throws {ApiError} `not_found` where there is no admin API; what the gate throws
 */
export function admitted(context: RouteContext, deskOf: DeskOf): Admin {
  const desk = deskOf(context.gateway);
  if (desk?.gate === undefined) {
    throw new ApiError(
      "not_found",
      "no such path: GET /openapi.json describes what there is",
      { retryable: false },
    );
  }
  const { headers } = context.request;
  desk.gate.admit(
    /^bearer (.+)$/is.exec(headers.get("authorization") ?? "")?.[1],
  );
  return desk.admin;
}

/**
 * Lets in whoever may see how the gateway is: an operator; where no token is set, whoever reaches a gateway that listens on
 * loopback.
 *
 * @throws {ApiError} as {@linkcode admitted} does
 */
export function admitObserver(context: RouteContext, deskOf: DeskOf): void {
  const { adminToken, listen } = context.gateway.config;
  const isOpen = adminToken === undefined && listen !== undefined &&
    isLoopback(listen.hostname);
  if (!isOpen) admitted(context, deskOf);
}

/**
 * The fields of a query.
 *
 * @throws {ApiError} `invalid_request` for a field that comes twice
 */
export function queryOf(query: URLSearchParams): JsonObject {
  const fields = Object.fromEntries(query);
  for (const name of Object.keys(fields)) {
    if (query.getAll(name).length > 1) {
      throw invalidField(name, "expected this once");
    }
  }
  return fields;
}
