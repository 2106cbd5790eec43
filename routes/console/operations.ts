/**
 * The operations behind the pages: the same that the API offers, called in process. What a page can
 * do, a program can.
 *
 * @module
 */
import { ACCOUNT_OPERATIONS } from "../../gateway/console/account_operation.ts";
import type { OperationInput } from "../../gateway/admin/operation.ts";
import type { AccountVisit } from "../../gateway/console/visit.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import type { RouteContext } from "../route.ts";

/**
 * Runs an operation of the account as the visitor.
 *
 * @throws {ApiError} from the operation
 */
export async function runAccountOperation(
  { gateway }: RouteContext,
  { holder }: AccountVisit,
  operationId: string,
  input: OperationInput = {},
): Promise<JsonObject> {
  const operation = ACCOUNT_OPERATIONS.find((one) =>
    one.operationId === operationId
  );
  if (operation === undefined) {
    throw new Error(`there is no operation ${operationId}`);
  }
  return await operation.run(gateway.admin, holder, input);
}
