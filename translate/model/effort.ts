/**
 * Converts reasoning settings between models: a token budget to an effort, and an effort that a
 * model does not support to the nearest one that it does.
 */
import type { Effort, Reasoning } from "./request.ts";

/** Efforts in ascending order. Distance between efforts is the number of steps in this list. */
const EFFORTS: readonly Effort[] = [
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
];

/** Efforts with their exclusive upper bounds in budget tokens, in ascending order. */
export type BudgetEfforts = readonly (readonly [number, Effort])[];

/** The efforts of formats that have no token budget of their own. */
const BUDGET_EFFORTS: BudgetEfforts = [
  [4096, "low"],
  [16384, "medium"],
  [32768, "high"],
  [Infinity, "xhigh"],
];

/** The requested effort, or that of the requested budget. Undefined if the client gave neither. */
export function effortOf(
  { effort, budgetTokens }: Reasoning,
  efforts = BUDGET_EFFORTS,
): Effort | undefined {
  if (effort !== undefined || budgetTokens === undefined) return effort;
  return efforts.find(([limit]) => budgetTokens < limit)?.[1];
}

/** The nearest of the supported efforts. `tie` decides between two that are equally near. */
export function nearestEffort(
  wanted: Effort,
  supported: readonly Effort[],
  tie: "lower" | "higher",
): Effort | undefined {
  const place = EFFORTS.indexOf(wanted);
  let best: Effort | undefined;
  let distance = Infinity;
  for (const effort of EFFORTS) {
    if (!supported.includes(effort)) continue;
    const steps = Math.abs(EFFORTS.indexOf(effort) - place);
    if (steps < distance || tie === "higher" && steps === distance) {
      [best, distance] = [effort, steps];
    }
  }
  return best;
}

/** Whether the client's own effort became a lower one, which it is informed of. */
export function isLowered(
  { effort }: Reasoning,
  sent: Effort | undefined,
): boolean {
  return effort !== undefined && sent !== undefined &&
    EFFORTS.indexOf(sent) < EFFORTS.indexOf(effort);
}
