/**
 * Encodes neutral reasoning as the `reasoning` field: an effort, and whether to return summaries.
 * A token budget becomes an effort; an effort that the model does not support becomes the nearest
 * one that it does; of two, the lower one, because the client pays for the higher.
 */
import type { Capabilities } from "../../model/capabilities.ts";
import type { JsonObject } from "../../bytes/json.ts";
import { effortOf, isLowered, nearestEffort } from "../../model/effort.ts";
import type { Reasoning } from "../../model/request.ts";
import type { DroppedFields } from "../../model/dropped_fields.ts";

/** The `reasoning` to send. Undefined if the model decides. */
export function encodeReasoning(
  reasoning: Reasoning | undefined,
  can: Capabilities,
  dropped: DroppedFields,
): JsonObject | undefined {
  if (reasoning === undefined) return undefined;
  if (reasoning.mode === "off") {
    // For a model that cannot reason, "no reasoning" needs no field.
    if (can.reasoning === "none") return undefined;
    if (can.reasoningOff) return { effort: "none" };
    dropped.field("reasoning");
    const lowest = can.efforts[0];
    return lowest === undefined ? undefined : { effort: lowest };
  }
  if (can.reasoning === "none") {
    if (reasoning.mode === "on") dropped.field("reasoning");
    return undefined;
  }
  const wanted = effortOf(reasoning);
  const effort = wanted === undefined
    ? undefined
    : nearestEffort(wanted, can.efforts, "lower");
  if (isLowered(reasoning, effort)) dropped.field("reasoning");
  const written = {
    ...(effort === undefined ? {} : { effort }),
    ...(reasoning.visible === false ? {} : { summary: "auto" }),
  };
  return Object.keys(written).length === 0 ? undefined : written;
}
