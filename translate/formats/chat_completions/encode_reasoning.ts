/**
 * Encodes neutral reasoning as `reasoning_effort`, the only setting that this format has for it.
 * A token budget becomes an effort; an effort that the model does not support becomes the nearest
 * one that it does; of two, the lower one, because the client pays for the higher.
 */
import type { Capabilities } from "../../model/capabilities.ts";
import { effortOf, isLowered, nearestEffort } from "../../model/effort.ts";
import type { Effort, Reasoning } from "../../model/request.ts";
import type { DroppedFields } from "../../model/dropped_fields.ts";

/** The `reasoning_effort` to send. Undefined if the model decides. */
export function encodeReasoning(
  reasoning: Reasoning | undefined,
  can: Capabilities,
  dropped: DroppedFields,
): Effort | "none" | undefined {
  if (reasoning === undefined) return undefined;
  const wanted = effortOf(reasoning);
  if (reasoning.mode === "off") {
    // For a model that cannot reason, "no reasoning" needs no field.
    if (can.reasoning === "none") return undefined;
    if (can.reasoningOff) return "none";
    dropped.field("reasoning");
    return can.efforts[0];
  }
  if (can.reasoning === "none" || can.efforts.length === 0) {
    if (reasoning.mode === "on" || wanted !== undefined) {
      dropped.field("reasoning");
    }
    return undefined;
  }
  if (wanted === undefined) return undefined;
  const effort = nearestEffort(wanted, can.efforts, "lower");
  if (isLowered(reasoning, effort)) dropped.field("reasoning");
  return effort;
}
