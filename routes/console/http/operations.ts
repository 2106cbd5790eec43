/**
 * The operations behind the pages: the same that the API offers, called in process. What a page can
 * do, a program can.
 */
import type { Admin } from "../../../gateway/accounts/repositories/admin.ts";
import {
  requireScope,
  scopeOf,
} from "../../../gateway/accounts/operator_scope.ts";
import {
  actorOf,
  operatorScopeOf,
} from "../../../gateway/accounts/repositories/session_repository.ts";
import { ADMIN_OPERATIONS } from "../../../gateway/admin/mod.ts";
import type { OperationInput } from "../../../gateway/admin/operation.ts";
import { ACCOUNT_OPERATIONS } from "../../../gateway/console/account_operation.ts";
import type { AccountVisit, Visit } from "../../../gateway/console/visit.ts";
import type { JsonObject } from "../../../translate/bytes/json.ts";
import type { RouteContext } from "../../route.ts";

function operationOf<T extends { readonly operationId: string }>(
  operations: readonly T[],
  operationId: string,
): T {
  const operation = operations.find((one) => one.operationId === operationId);
  if (operation === undefined) {
    throw new Error(`there is no operation ${operationId}`);
  }
  return operation;
}

/** The administration, with the changes recorded as the visitor's. */
export function administrationOf(
  { gateway, requestId }: RouteContext,
  { session }: Visit,
): Admin {
  return gateway.admin.as({ ...actorOf(session), via: "page", requestId });
}

/**
 * Runs an operation of the account as the visitor.
 *
 * @throws {ApiError} from the operation
 */
export function runAccountOperation(
  context: RouteContext,
  visit: AccountVisit,
  operationId: string,
  input: OperationInput,
): Promise<JsonObject> {
  return operationOf(ACCOUNT_OPERATIONS, operationId)
    .run(administrationOf(context, visit), visit.holder, input);
}

/**
 * Runs an operation of the admin API.
 *
 * @throws {ApiError} from the operation; `permission` where the visitor's token does not permit it
 */
export async function runAdminOperation(
  context: RouteContext,
  visit: Visit,
  operationId: string,
  input: OperationInput,
): Promise<JsonObject> {
  if (visit.session.kind !== "operator") {
    throw new Error("an admin operation needs an operator's session");
  }
  const operation = operationOf(ADMIN_OPERATIONS, operationId);
  requireScope(
    operatorScopeOf(visit.session),
    scopeOf(operationId, operation.method),
  );
  return await operation.run(administrationOf(context, visit), input);
}
