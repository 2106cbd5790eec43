/**
 * Mutants for the checks of the area `message_stream`: events that are missing, repeated, misplaced
 * or malformed.
 */
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { numberAt } from "../../evidence/json_path.ts";
import type { JsonObject } from "@model-gateway/replay/json";
import { event, out } from "../../reference_gateway/change_messages.ts";

export const PING = out({ type: "ping" });

/** A mutant that changes the index of one event. */
export function index(
  type: string,
  change: (index: number) => JsonObject["index"],
): Hooks {
  return event(
    type,
    (data) => ({ ...data, index: change(numberAt(data, "index") ?? 0) }),
  );
}
