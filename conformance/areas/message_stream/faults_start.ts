/**
 * Mutants for the checks of the area `message_stream`: a first event that is missing, late or
 * malformed.
 */
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { withAt } from "../../reference_gateway/change_reply.ts";
import { event, out } from "../../reference_gateway/change_messages.ts";

export const PING = out({ type: "ping" });

/** A mutant that changes a member of the message in message_start; undefined removes it. */
export function start(
  path: string,
  value: Parameters<typeof withAt>[2],
): Hooks {
  return event(
    "message_start",
    (data) => withAt(data, `message.${path}`, value),
  );
}
