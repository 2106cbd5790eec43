/**
 * Encodes the reasoning settings as `thinkingConfig`: a level for newer models or a budget for
 * older ones, never both, because the two together are refused.
 */
import type { Capabilities } from "../../model/capabilities.ts";
import type { JsonObject } from "../../bytes/json.ts";
import { effortOf, isLowered, nearestEffort } from "../../model/effort.ts";
import type { Effort, Reasoning } from "../../model/request.ts";
import {
  BUDGET_EFFORTS,
  DYNAMIC_THINKING_BUDGET,
  EFFORT_BUDGETS,
  MIN_THINKING_BUDGET,
  THINKING_LEVELS,
} from "./wire.ts";

/** The config, and whether part of the request was dropped. */
interface EncodedThinking {
  /** Absent where nothing is sent. */
  readonly config?: JsonObject;
  /** True where the client gets other settings than it asked for. */
  readonly dropped: boolean;
}

/** Encodes the config; none where the client gave no reasoning settings. */
export function encodeReasoning(
  reasoning: Reasoning | undefined,
  can: Capabilities,
): EncodedThinking {
  if (reasoning === undefined) return { dropped: false };
  switch (can.reasoning) {
    case "level":
    case "budget":
      break;
    case "none":
    case "effort":
    case "adaptive":
      // `effort` and `adaptive` are ways of other formats. Switching reasoning off for a model that
      // cannot reason drops nothing.
      return { dropped: reasoning.mode !== "off" };
  }
  if (reasoning.mode === "off") return off(can);
  const includeThoughts = reasoning.visible !== false;
  if (can.reasoning === "budget") {
    return {
      config: { thinkingBudget: budget(reasoning, can), includeThoughts },
      dropped: false,
    };
  }
  const effort = effortOf(reasoning, BUDGET_EFFORTS);
  const level = effort === undefined ? undefined : nearestLevel(effort, can);
  return {
    config: {
      ...(level === undefined ? {} : { thinkingLevel: level }),
      includeThoughts,
    },
    dropped: effort !== undefined &&
      (level === undefined || isLowered(reasoning, level)),
  };
}

/**
 * Switches reasoning off where the model can; otherwise sets its minimum, which is reported as
 * dropped. Reasoning is not requested in the reply.
 */
function off(can: Capabilities): EncodedThinking {
  if (can.reasoningOff) {
    return { config: { thinkingBudget: 0 }, dropped: false };
  }
  if (can.reasoning === "budget") {
    return { config: { thinkingBudget: MIN_THINKING_BUDGET }, dropped: true };
  }
  const level = nearestLevel("minimal", can);
  return level === undefined
    ? { dropped: true }
    : { config: { thinkingLevel: level }, dropped: true };
}

function budget(reasoning: Reasoning, can: Capabilities): number {
  const wanted = reasoning.budgetTokens ??
    (reasoning.effort === undefined
      ? undefined
      : EFFORT_BUDGETS[reasoning.effort]);
  if (wanted === undefined) return DYNAMIC_THINKING_BUDGET;
  return Math.max(
    MIN_THINKING_BUDGET,
    Math.min(wanted, can.maxReasoningBudget),
  );
}

/**
 * The model's nearest level; of two equally near the higher one, because too little reasoning costs
 * more than too much.
 */
function nearestLevel(effort: Effort, can: Capabilities): Effort | undefined {
  const levels = can.efforts.filter((level) => THINKING_LEVELS.has(level));
  return nearestEffort(effort, levels, "higher");
}
