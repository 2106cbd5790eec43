/**
 * Reads the reply of OpenRouter's `GET /api/v1/models`: a list of models with `pricing` as strings
 * in dollars per token.
 *
 * Source: openrouter.ai/docs, "List available models", read 2026-11-23.
 */
import {
  arrayOr,
  isObject,
  type JsonObject,
  objectOr,
  stringIn,
} from "../../translate/bytes/json.ts";
import { PER_DOLLAR, PER_TOKEN } from "./exact_rate.ts";
import { CardDraft, type Condition, type ListedModel } from "./listed_card.ts";

const METERS: Readonly<Record<string, string>> = {
  prompt: "input",
  completion: "output",
  input_cache_read: "cache_read",
  input_cache_write: "cache_write",
  input_cache_write_1h: "cache_write_1h",
  audio: "audio_input",
  input_audio: "audio_input",
  output_audio: "audio_output",
  audio_output: "audio_output",
};

/** The provider of rows that are called through OpenRouter itself. */
const OPEN_ROUTER = "openrouter";

/** Whether a parsed table is OpenRouter's. */
export function isOpenRouterTable(table: JsonObject): boolean {
  return arrayOr(table["data"]).some((row) =>
    isObject(row) && isObject(row["pricing"])
  );
}

/** The rows with a price; numbers are given as their text. */
export function openRouterTable(table: JsonObject): readonly ListedModel[] {
  return arrayOr(table["data"]).flatMap((row) => {
    const { id, pricing, context_length } = objectOr(row);
    const name = stringIn(id);
    if (name === undefined || !isObject(pricing)) return [];
    const draft = new CardDraft();
    const { overrides, ...base } = pricing;
    readPricing(draft, "pricing", base, {});
    for (const [i, override] of arrayOr(overrides).entries()) {
      const at = `pricing.overrides.${i}`;
      const { min_prompt_tokens, ...rates } = objectOr(override);
      if (!/^[1-9]\d{0,8}$/.test(String(min_prompt_tokens))) {
        draft.problems.push(`${at}: a card has no such condition`);
      } else {
        readPricing(draft, at, rates, {
          prompt_above: Number(min_prompt_tokens) - 1,
        });
      }
    }
    const maxInputTokens = Number(context_length);
    const slash = name.indexOf("/");
    return [{
      name,
      names: [
        { provider: OPEN_ROUTER, model: name },
        { provider: name.slice(0, slash), model: name.slice(slash + 1) },
      ],
      ...(maxInputTokens > 0 ? { maxInputTokens } : {}),
      ...draft.result(),
    }];
  });
}

function readPricing(
  draft: CardDraft,
  at: string,
  pricing: JsonObject,
  condition: Condition,
): void {
  for (const [field, value] of Object.entries(pricing)) {
    const name = `${at}.${field}`;
    const meter = METERS[field];
    if (meter !== undefined) {
      draft.rate(meter, draft.amount(name, value, PER_TOKEN), condition);
      continue;
    }
    // Every row has these fields, mostly empty or 0.
    if (value === null || Number(value) === 0) continue;
    const isBase = Object.keys(condition).length === 0;
    if (field === "request" && isBase) {
      draft.call(draft.amount(name, value, PER_DOLLAR));
    } else if (field === "web_search" && isBase) {
      draft.use("web_search", draft.amount(name, value, PER_DOLLAR));
    } else if (field === "internal_reasoning") {
      if (value !== pricing["completion"]) {
        draft.problems.push(`${name}: a card has no rate for reasoning alone`);
      }
    } else if (field === "image" && value === pricing["prompt"]) {
      draft.rate(
        "image_input",
        draft.amount(name, value, PER_TOKEN),
        condition,
      );
    } else if (NOT_TOKENS.has(field)) {
      draft.notes.push(`${name}: not part of the card`);
    } else draft.problems.push(`${name}: is not known`);
  }
}

/** Prices of images that are not billed by token, and of audio from a cache. */
const NOT_TOKENS: ReadonlySet<string> = new Set([
  "image",
  "image_token",
  "image_output",
  "input_audio_cache",
]);
