/** Mutants for the checks of the area `chat_stream`: streams that the upstream breaks off. */
import { at } from "../../evidence/json_path.ts";
import type {
  Context,
  Hooks,
  OutFrame,
} from "../../reference_gateway/hooks.ts";
import type { JsonObject } from "@model-gateway/replay/json";
import { frames } from "../../reference_gateway/change_reply.ts";

/** Changes error frames. */
export function errors(
  change: (data: JsonObject, x: Context) => readonly OutFrame[],
): Hooks {
  return frames(
    "chat",
    (data, x) => at(data, "error") === undefined ? data : change(data, x),
  );
}

export const END: OutFrame = { data: "[DONE]" };
