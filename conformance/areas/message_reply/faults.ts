/** What the faults of the area `message_reply` are built from, and those that several checks have. */
import type { Hooks } from "../../reference_gateway/hooks.ts";
import {
  fieldRules,
  valueOf,
  type Wrong,
} from "../../reference_gateway/field.ts";
import { messageReply, withAt } from "../../reference_gateway/change_reply.ts";
import { numberAt } from "../../evidence/json_path.ts";
import type { Json, JsonObject } from "@model-gateway/replay/json";

/** A mutant that puts a value at a path of the reply; undefined removes it. */
export function put(path: string, value: Wrong): Hooks {
  return messageReply((body) => withAt(body, path, valueOf(value, body)));
}

/** A rule about one field, with its faults. */
export const field = fieldRules(put);

export function withHeaders(
  change: (headers: Readonly<Record<string, string>>) => Record<string, string>,
): Hooks {
  return {
    reply: (whole, { endpoint }) =>
      endpoint === "messages" && whole.status === 200
        ? { ...whole, headers: change(whole.headers) }
        : whole,
  };
}

/** The stop sequence that hit is not reported. */
export const messageSequenceNull: Hooks = put("stop_sequence", null);

/** A mutant that changes a count of the usage. */
export function counted(
  field: string,
  change: (count: number, body: JsonObject) => number,
): Hooks {
  return messageReply((body) => {
    const count = numberAt(body, `usage.${field}`) ?? 0;
    return withAt(body, `usage.${field}`, change(count, body));
  });
}

/** A mutant that replaces one stop reason by another. */
export function stopped(
  reason: string,
  change: Readonly<Record<string, Json>>,
): Hooks {
  return messageReply((body) =>
    body["stop_reason"] === reason ? { ...body, ...change } : body
  );
}
