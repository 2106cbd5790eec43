/**
 * Neutral reasoning → `reasoning_effort`, the only word this format has for it: budgets become efforts, efforts the nearest one
 * that the model knows.
 *
 * @module
 */
import type { Capabilities } from "../capabilities.ts";
import type { Effort, Reasoning } from "../request.ts";
import type { Losses } from "./losses.ts";

/** From none to most; nearness is counted in these steps. */
const EFFORTS: readonly Effort[] = [
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
];
/** Budgets below the number are the effort. */
const BUDGET_EFFORTS: readonly (readonly [number, Effort])[] = [
  [4096, "low"],
  [16384, "medium"],
  [32768, "high"],
  [Infinity, "xhigh"],
];

/** The `reasoning_effort` to send; undefined where the model decides. */
export function encodeReasoning(
  reasoning: Reasoning | undefined,
  can: Capabilities,
  losses: Losses,
): Effort | "none" | undefined {
  if (reasoning === undefined) return undefined;
  const wanted = effortOf(reasoning);
  if (reasoning.mode === "off") {
    // A model that does not reason does what was asked.
    if (can.reasoning === "none") return undefined;
    if (can.reasoningOff) return "none";
    losses.field("reasoning");
    return can.efforts[0];
  }
  if (can.reasoning === "none" || can.efforts.length === 0) {
    if (reasoning.mode === "on" || wanted !== undefined) {
      losses.field("reasoning");
    }
    return undefined;
  }
  return wanted === undefined ? undefined : nearest(wanted, can.efforts);
}

function effortOf(reasoning: Reasoning): Effort | undefined {
  if (reasoning.effort !== undefined) return reasoning.effort;
  const budget = reasoning.budgetTokens;
  return budget === undefined
    ? undefined
    : BUDGET_EFFORTS.find(([limit]) => budget < limit)?.[1];
}

/** Of two equally near efforts the lower one: the caller pays for the higher. */
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
