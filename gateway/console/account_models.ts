/**
 * The offered models as the holder of a credential sees them: whether it may call them, their
 * prices, limits, capabilities and health. No upstream is named.
 */
import { GENERATES, generates } from "../upstream/catalogue/models.ts";
import { z } from "zod";
import type { Capabilities } from "../../translate/model/capabilities.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { CONFIGURED_KEY_ID } from "../accounts/authenticator.ts";
import type { Holder } from "../accounts/credential_kind.ts";
import type { Admin } from "../accounts/repositories/admin.ts";
import { cardAt, type RateCard } from "../accounts/charges/rate_card.ts";
import type { Model } from "../upstream/catalogue/catalogue.ts";
import { cardJson } from "../upstream/catalogue/price_shape.ts";
import {
  MODEL_HEALTH,
  type ModelHealth,
  modelHealth,
} from "../upstream/health/model_health.ts";
import type { ModelRegistry } from "../upstream/catalogue/model_registry.ts";
import { COUNTS, countsJson } from "../accounts/charges/counts_json.ts";

const REFUSALS = [
  "account_disabled",
  "model_not_priced",
  "model_not_in_plan",
  "model_not_in_key",
] as const;

/** Why a model may not be called. */
export type ModelRefusal = typeof REFUSALS[number];

/** A model for the holder of a credential. */
export interface AccountModel {
  /** Its price and sizes are the same for everyone. */
  readonly model: Model;
  /** Absent: it may be called. */
  readonly refusal?: ModelRefusal;
  /** In this process. */
  readonly health: ModelHealth;
  /** Those of the candidate that is called first. */
  readonly capabilities: Capabilities | undefined;
}

/**
 * The offered models, in the order of the model list.
 *
 * @throws {ApiError} `not_found` for the account or key; `unavailable`
 */
export async function accountModels(
  admin: Pick<Admin, "accounts" | "plans" | "keys">,
  registry: ModelRegistry,
  holder: Holder,
  nowMs: number,
): Promise<readonly AccountModel[]> {
  const account = await admin.accounts.get(holder.accountId);
  const plan = await admin.plans.get(account.planId);
  const key = holder.kind === "key" && holder.id !== CONFIGURED_KEY_ID
    ? await admin.keys.get(holder.id)
    : undefined;
  return knownModels(registry, nowMs).map((known) => {
    const { model } = known;
    const refusal: ModelRefusal | undefined = account.status === "disabled"
      ? "account_disabled"
      : model.unpriced === true
      ? "model_not_priced"
      : plan.models?.includes(model.id) === false
      ? "model_not_in_plan"
      : key?.models?.includes(model.id) === false
      ? "model_not_in_key"
      : undefined;
    return refusal === undefined ? known : { ...known, refusal };
  });
}

/** All models at their present prices. */
export function knownModels(
  registry: Pick<ModelRegistry, "models" | "candidates">,
  nowMs: number,
): readonly AccountModel[] {
  return registry.models.map((model) => {
    const candidates = registry.candidates(model, "messages");
    return {
      // A card may have begun since the configuration was read.
      model: { ...model, price: cardAt(model.cards, nowMs) ?? model.price },
      health: modelHealth(candidates, nowMs),
      capabilities: candidates[0]?.capabilities,
    };
  });
}

const MICRO_USD = "micro-dollars per million tokens";

/** JSON form of {@linkcode accountModelsJson}. */
export const accountModelsReply: z.ZodType = z.object({
  object: z.literal("list"),
  data: z.array(z.object({
    object: z.literal("account.model"),
    id: z.string(),
    name: z.string(),
    callable: z.boolean(),
    refusal: z.enum(REFUSALS).nullable().describe(
      "why it may not be called; null: it may",
    ),
    health: z.enum(MODEL_HEALTH).describe(
      "well: every upstream takes calls; degraded: some do, or one is being probed; away: none does",
    ),
    price_micro_usd: COUNTS.nullable().describe(
      `${MICRO_USD}; null: it has no price`,
    ),
    rates: z.record(z.string(), z.unknown()).nullable().describe(
      "every rate and condition, as in the configuration file, in whole micro-dollars; null: it has no price",
    ),
    operations: z.array(z.string()).describe(
      "what it is called for: generation, embeddings",
    ),
    context_tokens: z.int().describe("tokens of prompt and reply together"),
    max_output_tokens: z.int().nullable().describe("null: not known"),
    capabilities: z.object({
      reasoning: z.boolean(),
      efforts: z.array(z.string()).describe("lowest first"),
      structured_output: z.boolean(),
      prefill: z.boolean(),
      media_urls: z.boolean().describe("images and documents by URL"),
      parallel_tools: z.boolean().describe(
        "whether parallel tool calls can be switched off",
      ),
    }).nullable().describe(
      "what passes unchanged at the upstream that is called first",
    ),
  })),
});

/** A card for the holder of a credential: where the operator read it is left out. */
export function ratesJson(card: RateCard): JsonObject {
  const { source: _, ...shown } = cardJson(card);
  return card.isFree === true ? { free: true } : shown;
}

export function accountModelsJson(
  models: readonly AccountModel[],
): JsonObject {
  return { object: "list", data: models.map(modelJson) };
}

function modelJson(
  { model, refusal, health, capabilities }: AccountModel,
): JsonObject {
  const { price } = model;
  const maxOutputTokens = capabilities?.maxOutputTokens ??
    model.capabilities.maxOutputTokens;
  return {
    object: "account.model",
    id: model.id,
    name: model.displayName,
    callable: refusal === undefined,
    refusal: refusal ?? null,
    health,
    price_micro_usd: model.unpriced === true ? null : countsJson(price),
    rates: model.unpriced === true ? null : ratesJson(price),
    operations: [...model.operations ?? GENERATES],
    context_tokens: model.contextTokens,
    max_output_tokens: maxOutputTokens ?? null,
    capabilities: capabilities === undefined || !generates(model) ? null : {
      reasoning: capabilities.reasoning !== "none",
      efforts: capabilities.reasoning === "none" ||
          capabilities.reasoning === "budget"
        ? []
        : [...capabilities.efforts],
      structured_output: capabilities.structuredOutput,
      prefill: capabilities.prefill,
      media_urls: capabilities.mediaUrls,
      parallel_tools: capabilities.parallelToggle,
    },
  };
}
