/** Mutants for the checks of the area `message_reply`: fields of the whole reply. */
import type { Hooks } from "../../reference_gateway/hooks.ts";
import {
  fieldRules,
  valueOf,
  type Wrong,
} from "../../reference_gateway/field.ts";
import { withAt } from "../../reference_gateway/change_reply.ts";
import { reply } from "../../reference_gateway/change_messages.ts";

/** A mutant that puts a value at a path of the reply; undefined removes it. */
export function put(path: string, value: Wrong): Hooks {
  return reply((body) => withAt(body, path, valueOf(value, body)));
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
