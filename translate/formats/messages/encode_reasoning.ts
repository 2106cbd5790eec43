/**
 * Encodes the reasoning settings for the messages format: a token budget, adaptive, by effort, or
 * none, depending on the model.
 */
import type { Capabilities } from "../../model/capabilities.ts";
import { countIn, type JsonObject, objectOr } from "../../bytes/json.ts";
import {
  type BudgetEfforts,
  effortOf,
  nearestEffort,
} from "../../model/effort.ts";
import type { Effort, Reasoning } from "../../model/request.ts";
import { MIN_BUDGET_TOKENS } from "./wire.ts";

/** The reasoning fields of a request. */
interface EncodedReasoning {
  readonly thinking?: JsonObject;
  /** `output_config.effort`. */
  readonly effort?: Effort;
  /** The cap on generated tokens: raised by the budget where the client gave none. */
  readonly maxTokens: number;
  /** True where the request could not be expressed exactly. */
  readonly dropped: boolean;
  /** True where the model will reason, so that the restrictions on reasoning requests apply. */
  readonly thinks: boolean;
}

/** Bounds of a budget. */
interface TokenCap {
  /** The cap before any budget is added. */
  readonly maxTokens: number;
  /** False where the client gave no cap and `maxTokens` is the model's default. */
  readonly given: boolean;
  /** Most tokens that the model generates. */
  readonly ceiling: number;
}

/** Budgets for models without efforts. */
const EFFORT_BUDGETS: Readonly<Record<Effort, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16384,
  xhigh: 32000,
  max: 32000,
};

const EFFORTS = Object.keys(EFFORT_BUDGETS) as readonly Effort[];

/** Efforts for models without budgets. */
const BUDGET_EFFORTS: BudgetEfforts = [
  [4096, "low"],
  [16384, "medium"],
  [32768, "high"],
  [Infinity, "max"],
];

/**
 * Encodes the reasoning settings. `allowed` is false where the rest of the request forbids
 * reasoning (a forced call, or a call in progress whose reasoning is unsigned).
 */
export function encodeReasoning(
  reasoning: Reasoning | undefined,
  can: Capabilities,
  cap: TokenCap,
  allowed: boolean,
): EncodedReasoning {
  const nothing: EncodedReasoning = {
    maxTokens: cap.maxTokens,
    dropped: false,
    thinks: false,
  };
  if (reasoning === undefined) return nothing;
  if (reasoning.mode === "off") {
    if (can.reasoning === "none") return nothing;
    return can.reasoningOff
      ? { ...nothing, thinking: { type: "disabled" } }
      : { ...nothing, dropped: true };
  }
  // `auto` leaves the choice to the model, so nothing is dropped where the model does not reason.
  const lost = reasoning.mode === "on" || reasoning.effort !== undefined;
  switch (can.reasoning) {
    case "none":
      return { ...nothing, dropped: lost };
    case "budget":
      return allowed
        ? withBudget(reasoning, can, cap)
        : { ...nothing, dropped: lost };
    case "adaptive":
      return {
        ...nothing,
        ...withEffort(reasoning, can),
        ...(allowed
          ? {
            thinking: { type: "adaptive", ...display(reasoning) },
            thinks: true,
          }
          : { dropped: lost }),
      };
    case "effort":
    case "level": {
      const written = withEffort(reasoning, can);
      return {
        ...nothing,
        ...written,
        dropped: written.effort === undefined && reasoning.mode === "on",
      };
    }
  }
}

/** A passed request's fields of reasoning as the model takes them. */
interface FittedThinking {
  /** The fields that change. */
  readonly fields: JsonObject;
  /** The paths of what is lost. */
  readonly removed: readonly string[];
}

/** The fields of reasoning of a passed request where the model takes another kind of `thinking`. */
export function fittedThinking(
  { thinking, max_tokens: most, output_config: config }: JsonObject,
  can: Capabilities,
): FittedThinking {
  const { type, budget_tokens: budgetTokens, ...rest } = objectOr(thinking);
  const given = EFFORTS.find((one) => one === objectOr(config)["effort"]);
  if (type === "adaptive" && can.thinkingKinds === "budget") {
    const maxTokens = countIn(most) ?? can.defaultMaxTokens;
    const cap = { maxTokens, given: true, ceiling: maxTokens };
    const asked = { mode: "on", effort: given ?? "high" } as const;
    const written = withBudget(asked, can, cap).thinking;
    return {
      fields: {
        thinking: written === undefined
          ? { type: "disabled" }
          : { ...rest, ...written },
      },
      removed: written === undefined ? ["thinking"] : [],
    };
  }
  if (type === "enabled" && can.thinkingKinds === "adaptive") {
    const asked = {
      mode: "on",
      budgetTokens: countIn(budgetTokens) ?? MIN_BUDGET_TOKENS,
    } as const;
    const effort = given ?? withEffort(asked, can).effort;
    return {
      fields: {
        thinking: { ...rest, type: "adaptive" },
        output_config: { ...objectOr(config), effort },
      },
      removed: ["thinking.budget_tokens"],
    };
  }
  return { fields: {}, removed: [] };
}

function withBudget(
  reasoning: Reasoning,
  can: Capabilities,
  cap: TokenCap,
): EncodedReasoning {
  const asked = reasoning.budgetTokens ??
    EFFORT_BUDGETS[reasoning.effort ?? "medium"];
  const wanted = Math.min(asked, can.maxReasoningBudget);
  const maxTokens = cap.given
    ? cap.maxTokens
    : Math.min(cap.maxTokens + wanted, cap.ceiling);
  if (maxTokens <= MIN_BUDGET_TOKENS) {
    return { maxTokens, dropped: true, thinks: false };
  }
  // A budget that the gateway chose leaves room for the answer; the client's own is lowered only
  // where it must be.
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
    dropped: reasoning.budgetTokens !== undefined && budget !== asked,
    thinks: true,
  };
}

/** Asks for visible reasoning only on request: it costs time on some models. */
function display(reasoning: Reasoning): JsonObject {
  return reasoning.visible === undefined
    ? {}
    : { display: reasoning.visible ? "summarized" : "omitted" };
}

function withEffort(
  reasoning: Reasoning,
  can: Capabilities,
): { readonly effort?: Effort } {
  const asked = effortOf(reasoning, BUDGET_EFFORTS);
  if (asked === undefined) return {};
  // This format has no `minimal`. Too little reasoning costs more than too much.
  const efforts = can.efforts.filter((effort) => effort !== "minimal");
  const effort = nearestEffort(asked, efforts, "higher");
  return effort === undefined ? {} : { effort };
}
