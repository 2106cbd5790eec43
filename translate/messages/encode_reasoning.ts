/**
 * How a request asks for reasoning in the messages format: a token budget, adaptively, by effort, or not at all, as the model
 * takes it.
 *
 * @module
 */
import type { Capabilities } from "../capabilities.ts";
import type { JsonObject } from "../json.ts";
import type { Effort, Reasoning } from "../request.ts";
import { MIN_BUDGET_TOKENS } from "./wire.ts";

/** What is written for it. */
export interface WrittenReasoning {
  /** The `thinking` field. */
  readonly thinking?: JsonObject;
  /** `output_config.effort`. */
  readonly effort?: Effort;
  /** The cap on generated tokens: raised by the budget where the caller gave none. */
  readonly maxTokens: number;
  /** True where the wish could not be said as it was. */
  readonly lost: boolean;
  /** True where the model will reason, so that the rules for reasoning requests hold. */
  readonly thinks: boolean;
}

/** What bounds a budget. */
export interface TokenCap {
  /** What holds before any budget is added. */
  readonly maxTokens: number;
  /** False where the caller gave no cap and `maxTokens` is the model's default. */
  readonly given: boolean;
  /** The most that the model generates. */
  readonly ceiling: number;
}

/** Budgets for models that know no effort. */
const EFFORT_BUDGETS: Readonly<Record<Effort, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16384,
  xhigh: 32000,
  max: 32000,
};

/** Efforts for models that know no budget: the first row whose bound is above the budget. */
const BUDGET_EFFORTS: readonly (readonly [number, Effort])[] = [
  [4096, "low"],
  [16384, "medium"],
  [32768, "high"],
  [Infinity, "max"],
];

/** The dialect's efforts, lowest first. */
const EFFORT_ORDER: readonly Effort[] = [
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
];

/**
 * Writes it. `allowed` is false where the rest of the request rules reasoning out (a forced call, a call in progress whose
 * reasoning nobody signed).
 */
export function encodeReasoning(
  reasoning: Reasoning | undefined,
  can: Capabilities,
  cap: TokenCap,
  allowed: boolean,
): WrittenReasoning {
  const nothing: WrittenReasoning = {
    maxTokens: cap.maxTokens,
    lost: false,
    thinks: false,
  };
  if (reasoning === undefined) return nothing;
  if (reasoning.mode === "off") {
    if (can.reasoning === "none") return nothing;
    return can.reasoningOff
      ? { ...nothing, thinking: { type: "disabled" } }
      : { ...nothing, lost: true };
  }
  switch (can.reasoning) {
    case "none":
      return { ...nothing, lost: true };
    case "budget":
      return allowed
        ? withBudget(reasoning, can, cap)
        : { ...nothing, lost: true };
    case "adaptive":
      return {
        ...nothing,
        ...withEffort(reasoning, can),
        ...(allowed
          ? {
            thinking: { type: "adaptive", ...display(reasoning) },
            thinks: true,
          }
          : { lost: true }),
      };
    case "effort":
    case "level": {
      const told = withEffort(reasoning, can);
      return {
        ...nothing,
        ...told,
        lost: told.effort === undefined && reasoning.mode === "on",
      };
    }
  }
}

function withBudget(
  reasoning: Reasoning,
  can: Capabilities,
  cap: TokenCap,
): WrittenReasoning {
  const asked = reasoning.budgetTokens ??
    EFFORT_BUDGETS[reasoning.effort ?? "medium"];
  const wanted = Math.min(asked, can.maxReasoningBudget);
  const maxTokens = cap.given
    ? cap.maxTokens
    : Math.min(cap.maxTokens + wanted, cap.ceiling);
  if (maxTokens <= MIN_BUDGET_TOKENS) {
    return { maxTokens, lost: true, thinks: false };
  }
  // A budget of our own making leaves room for the answer; the caller's own gives way only where it must.
  const room = reasoning.budgetTokens === undefined
    ? maxTokens - MIN_BUDGET_TOKENS
    : maxTokens - 1;
  const budget = Math.max(MIN_BUDGET_TOKENS, Math.min(wanted, room));
  return {
    thinking: {
      type: "enabled",
      budget_tokens: budget,
      ...display(reasoning),
    },
    maxTokens,
    lost: reasoning.budgetTokens !== undefined && budget !== asked,
    thinks: true,
  };
}

/** What the caller did not ask for is not said: showing reasoning costs time on some models. */
function display(reasoning: Reasoning): JsonObject {
  return reasoning.visible === undefined
    ? {}
    : { display: reasoning.visible ? "summarized" : "omitted" };
}

function withEffort(
  reasoning: Reasoning,
  can: Capabilities,
): { readonly effort?: Effort } {
  const asked = reasoning.effort ??
    (reasoning.budgetTokens === undefined
      ? undefined
      : effortOfBudget(reasoning.budgetTokens));
  if (asked === undefined) return {};
  const effort = nearest(asked, can.efforts);
  return effort === undefined ? {} : { effort };
}

function effortOfBudget(budget: number): Effort {
  return BUDGET_EFFORTS.find(([bound]) => budget < bound)?.[1] ?? "max";
}

/** The known effort closest to the one asked for, the higher one of two. `minimal` is no word of this dialect. */
function nearest(
  asked: Effort,
  known: readonly Effort[],
): Effort | undefined {
  const place = EFFORT_ORDER.indexOf(asked);
  let best: Effort | undefined;
  let distance = Infinity;
  for (const effort of known) {
    if (effort === "minimal") continue;
    const away = Math.abs(EFFORT_ORDER.indexOf(effort) - place);
    if (away <= distance) [best, distance] = [effort, away];
  }
  return best;
}
