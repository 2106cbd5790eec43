/**
 * Mutants for the checks of the area `message_reply` that compare with the fixture: replies of the
 * right shape with wrong content.
 */
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { numberAt } from "../../evidence/json_path.ts";
import type { Json, JsonObject } from "@model-gateway/replay/json";
import { withAt } from "../../reference_gateway/change_reply.ts";
import { reply } from "../../reference_gateway/change_messages.ts";

/** A mutant that changes a count of the usage. */
export function counted(
  field: string,
  change: (count: number, body: JsonObject) => number,
): Hooks {
  return reply((body) => {
    const count = numberAt(body, `usage.${field}`) ?? 0;
    return withAt(body, `usage.${field}`, change(count, body));
  });
}

/** A mutant that replaces one stop reason by another. */
export function stopped(
  reason: string,
  change: Readonly<Record<string, Json>>,
): Hooks {
  return reply((body) =>
    body["stop_reason"] === reason ? { ...body, ...change } : body
  );
}
