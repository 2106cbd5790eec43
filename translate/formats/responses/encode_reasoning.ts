/**
 * Encodes neutral reasoning as the `reasoning` field: an effort, and whether to return summaries.
 * A token budget becomes an effort; an effort that the model does not support becomes the nearest
 * one that it does.
 *
 * @module
 */
import type { Capabilities } from "../../model/capabilities.ts";
import type { JsonObject } from "../../bytes/json.ts";
import type { Effort, Reasoning } from "../../model/request.ts";
import type { DroppedFields } from "./dropped_fields.ts";

/** Efforts in ascending order. Distance between efforts is the number of steps in this list. */
const EFFORTS: readonly Effort[] = [
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
];
/** Each effort with its exclusive upper bound in budget tokens. */
const BUDGET_EFFORTS: readonly (readonly [number, Effort])[] = [
  [4096, "low"],
  [16384, "medium"],
  [32768, "high"],
  [Infinity, "xhigh"],
];

/** The `reasoning` to send. Undefined if the model decides. */
export function encodeReasoning(
  reasoning: Reasoning | undefined,
  can: Capabilities,
  losses: DroppedFields,
): JsonObject | undefined {
  if (reasoning === undefined) return undefined;
  if (reasoning.mode === "off") {
    // For a model that cannot reason, "no reasoning" needs no field.
    if (can.reasoning === "none") return undefined;
    if (can.reasoningOff) return { effort: "none" };
    losses.field("reasoning");
    const lowest = can.efforts[0];
    return lowest === undefined ? undefined : { effort: lowest };
  }
  if (can.reasoning === "none") {
    if (reasoning.mode === "on") losses.field("reasoning");
    return undefined;
  }
  const wanted = effortOf(reasoning);
  const effort = wanted === undefined
    ? undefined
    : nearest(wanted, can.efforts);
  const written = {
    ...(effort === undefined ? {} : { effort }),
    ...(reasoning.visible === false ? {} : { summary: "auto" }),
  };
  return Object.keys(written).length === 0 ? undefined : written;
}

function effortOf(reasoning: Reasoning): Effort | undefined {
  if (reasoning.effort !== undefined) return reasoning.effort;
  const budget = reasoning.budgetTokens;
  return budget === undefined
    ? undefined
    : BUDGET_EFFORTS.find(([limit]) => budget < limit)?.[1];
}

/**
 * The nearest supported effort. A tie goes to the lower one, because the caller pays for the
 * higher.
 */
function nearest(wanted: Effort, known: readonly Effort[]): Effort | undefined {
  const at = EFFORTS.indexOf(wanted);
  let best: Effort | undefined;
  let distance = Infinity;
  for (const effort of known) {
    const steps = Math.abs(EFFORTS.indexOf(effort) - at);
    if (steps < distance) [best, distance] = [effort, steps];
  }
  return best;
}
