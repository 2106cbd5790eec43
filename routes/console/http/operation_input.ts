/**
 * A form as the input of an operation: its fields are the body, and its hidden key makes the change
 * apply once.
 */
import type { OperationInput } from "../../../gateway/admin/operation.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import { compact } from "../../../translate/bytes/compact.ts";

export function operationInput(
  visit: Visit,
  body: Readonly<Record<string, unknown>>,
  id?: string,
): OperationInput {
  const idempotencyKey = visit.form.get("idempotency_key");
  return {
    body,
    ...compact({ id }),
    // The session is part of the key, so that no other session receives the reply stored for it.
    ...(idempotencyKey === null || idempotencyKey === ""
      ? {}
      : { idempotencyKey: `${visit.session.id}:${idempotencyKey}` }),
  };
}
