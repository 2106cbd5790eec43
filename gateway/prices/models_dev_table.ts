/**
 * Reads `https://models.dev/api.json`: an object of providers with their models, in dollars per
 * million tokens.
 *
 * Source: github.com/anomalyco/models.dev, read 2026-11-23: `packages/core/src/schema.ts`.
 */
import {
  arrayOr,
  isObject,
  type JsonObject,
  objectOr,
  stringIn,
} from "../../translate/bytes/json.ts";
import { valueOf } from "../accounts/charges/meters.ts";
import { PER_DOLLAR } from "./exact_rate.ts";
import { CardDraft, type Condition, type ListedModel } from "./listed_card.ts";

const METERS: Readonly<Record<string, string>> = {
  input: "input",
  output: "output",
  cache_read: "cache_read",
  cache_write: "cache_write",
  cache_write_1h: "cache_write_1h",
  input_audio: "audio_input",
  output_audio: "audio_output",
};

/** Read by themselves. */
const STRUCTURE: ReadonlySet<string> = new Set([
  "tiers",
  "tier",
  "context_over_200k",
  "reasoning",
]);

/** The step of `context_over_200k`, which repeats `tiers` for older readers. */
const STEP = 200_000;

/** Whether a parsed table is that of models.dev. */
export function isModelsDevTable(table: JsonObject): boolean {
  return Object.values(table).some((provider) =>
    isObject(provider) && isObject(provider["models"])
  );
}

/** The rows with a price; numbers are given as their text. */
export function modelsDevTable(table: JsonObject): readonly ListedModel[] {
  return Object.entries(table).flatMap(([provider, row]) =>
    Object.entries(objectOr(objectOr(row)["models"])).flatMap(
      ([model, row]) => {
        const { cost, limit, experimental } = objectOr(row);
        if (!isObject(cost)) return [];
        const draft = new CardDraft();
        readCost(draft, "cost", cost, {});
        readSteps(draft, cost);
        const modes = objectOr(objectOr(experimental)["modes"]);
        for (const [name, mode] of Object.entries(modes)) {
          readMode(draft, `experimental.modes.${name}`, objectOr(mode));
        }
        const maxInputTokens = Number(objectOr(limit)["context"]);
        return [{
          name: `${provider}/${model}`,
          names: [{ provider, model }],
          ...(maxInputTokens > 0 ? { maxInputTokens } : {}),
          ...draft.result(),
        }];
      },
    )
  );
}

function readCost(
  draft: CardDraft,
  at: string,
  cost: JsonObject,
  condition: Condition,
): void {
  for (const [field, value] of Object.entries(cost)) {
    const meter = METERS[field];
    if (meter !== undefined) {
      const microUsd = draft.amount(`${at}.${field}`, value, PER_DOLLAR);
      draft.rate(meter, microUsd, condition);
    } else if (!STRUCTURE.has(field)) {
      draft.problems.push(`${at}.${field}: is not known`);
    }
  }
  const reasoning = draft.amount(
    `${at}.reasoning`,
    cost["reasoning"],
    PER_DOLLAR,
  );
  const output = draft.amount(`${at}.output`, cost["output"], PER_DOLLAR);
  if (reasoning !== undefined && reasoning !== 0 && reasoning !== output) {
    draft.problems.push(
      `${at}.reasoning: a card has no rate for reasoning alone`,
    );
  }
}

function readSteps(draft: CardDraft, cost: JsonObject): void {
  const { tiers, context_over_200k } = cost;
  if (tiers === undefined) {
    if (!isObject(context_over_200k)) return;
    return readCost(draft, "cost.context_over_200k", context_over_200k, {
      prompt_above: STEP,
    });
  }
  for (const [i, step] of arrayOr(tiers).entries()) {
    const { tier, ...rates } = objectOr(step);
    const { type = "context", size } = objectOr(tier);
    if (type !== "context" || !/^\d{1,9}$/.test(String(size))) {
      draft.problems.push(`cost.tiers.${i}.tier: a card has no such condition`);
    } else {
      readCost(draft, `cost.tiers.${i}`, rates, { prompt_above: Number(size) });
    }
  }
}

/** A mode is asked for by a field of the request. */
function readMode(draft: CardDraft, at: string, mode: JsonObject): void {
  const { cost, provider } = mode;
  if (!isObject(cost)) return;
  const { speed, service_tier } = objectOr(objectOr(provider)["body"]);
  const asked: Condition = {
    ...conditionOf("speed", speed),
    ...conditionOf("tier", service_tier),
  };
  if (Object.keys(asked).length > 0) {
    readCost(draft, `${at}.cost`, cost, asked);
  } else draft.notes.push(`${at}: not part of the card`);
}

function conditionOf(dimension: "speed" | "tier", value: unknown): Condition {
  const asked = valueOf(dimension, stringIn(value));
  return asked === undefined ? {} : { [dimension]: asked };
}
