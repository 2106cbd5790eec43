/**
 * How much the model shall reason, as this wire's `thinkingConfig`: a level for newer models, a budget for older ones, never
 * both, for the two together are refused.
 *
 * @module
 */
import type { Capabilities } from "../capabilities.ts";
import type { JsonObject } from "../json.ts";
import type { Effort, Reasoning } from "../request.ts";
import {
  BUDGET_EFFORTS,
  DYNAMIC_THINKING_BUDGET,
  EFFORT_BUDGETS,
  MIN_THINKING_BUDGET,
  THINKING_LEVELS,
} from "./wire.ts";

/** The config, and whether what was asked for could not be said. */
export interface WrittenThinking {
  /** Absent where nothing is to be sent. */
  readonly config?: JsonObject;
  /** True where the caller must be told that it gets something else. */
  readonly lost: boolean;
}

const EFFORTS: readonly Effort[] = [
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
];

/** Writes the config; none where the caller said nothing. */
export function writeThinking(
  reasoning: Reasoning | undefined,
  can: Capabilities,
): WrittenThinking {
  if (reasoning === undefined) return { lost: false };
  switch (can.reasoning) {
    case "level":
    case "budget":
      break;
    case "none":
    case "effort":
    case "adaptive":
      // The last two are other wires' ways: this one has no word for them. Asking a model that cannot reason not to is no loss.
      return { lost: reasoning.mode !== "off" };
  }
  if (reasoning.mode === "off") return off(can);
  const includeThoughts = reasoning.visible !== false;
  if (can.reasoning === "budget") {
    return {
      config: { thinkingBudget: budget(reasoning, can), includeThoughts },
      lost: false,
    };
  }
  const effort = reasoning.effort ?? effortOf(reasoning.budgetTokens);
  const level = effort === undefined ? undefined : nearestLevel(effort, can);
  return {
    config: {
      ...(level === undefined ? {} : { thinkingLevel: level }),
      includeThoughts,
    },
    lost: effort !== undefined && level === undefined,
  };
}

/** Off where the model can; else as little as it can, which is told as a loss. Thoughts nobody wants are not asked for. */
function off(can: Capabilities): WrittenThinking {
  if (can.reasoningOff) return { config: { thinkingBudget: 0 }, lost: false };
  if (can.reasoning === "budget") {
    return { config: { thinkingBudget: MIN_THINKING_BUDGET }, lost: true };
  }
  const level = nearestLevel("minimal", can);
  return level === undefined
    ? { lost: true }
    : { config: { thinkingLevel: level }, lost: true };
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

function effortOf(budgetTokens: number | undefined): Effort | undefined {
  if (budgetTokens === undefined) return undefined;
  return BUDGET_EFFORTS.find(([below]) => budgetTokens < below)?.[1] ?? "high";
}

/** The model's nearest level; of two equally near the higher one, for too little thought costs more than too much. */
function nearestLevel(effort: Effort, can: Capabilities): Effort | undefined {
  let nearest: Effort | undefined;
  let distance = Infinity;
  for (const level of can.efforts) {
    if (!THINKING_LEVELS.has(level)) continue;
    const away = Math.abs(EFFORTS.indexOf(level) - EFFORTS.indexOf(effort));
    if (away <= distance) {
      nearest = level;
      distance = away;
    }
  }
  return nearest;
}
