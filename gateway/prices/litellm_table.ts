/**
 * Reads LiteLLM's `model_prices_and_context_window.json`: an object with a row for each model, in
 * dollars per token.
 *
 * Source: github.com/BerriAI/litellm, read 2026-11-23; how a row's fields make a price:
 * `litellm/litellm_core_utils/llm_cost_calc/utils.py` there.
 */
import { compact } from "../../translate/bytes/compact.ts";
import {
  isObject,
  type JsonObject,
  objectOr,
  stringIn,
} from "../../translate/bytes/json.ts";
import { PER_DOLLAR, PER_TOKEN } from "./exact_rate.ts";
import { CardDraft, type Condition, type ListedModel } from "./listed_card.ts";

/** Fields of rates, by the beginning of their names. */
const METERS: Readonly<Record<string, string>> = {
  input_cost_per_token: "input",
  output_cost_per_token: "output",
  cache_read_input_token_cost: "cache_read",
  cache_creation_input_token_cost: "cache_write",
  cache_creation_input_token_cost_above_1hr: "cache_write_1h",
  input_cost_per_audio_token: "audio_input",
  output_cost_per_audio_token: "audio_output",
  input_cost_per_image_token: "image_input",
  output_cost_per_image_token: "image_output",
};

const RATE = new RegExp(
  `^(${
    Object.keys(METERS).join("|")
  })(?:_above_(\\d{1,5})k_tokens)?(?:_(priority|flex|ultrafast|scale))?$`,
);

/** Fields that change what tokens cost in a way that no card has. */
const INEXPRESSIBLE: readonly string[] = ["tiered_pricing", "off_peak_pricing"];

const PRICE = /cost|pricing|multiplier/;

/** Prices of batches, which the gateway does not send. */
const BATCHES = /_batches$/;

/** Rows of other modes are not called through the gateway. */
const MODES: ReadonlySet<string> = new Set(["chat", "responses", "completion"]);

/** A deployment's region in a row's key, after the provider. */
const REGION = /^(?:us|eu|global|[a-z]{2}(?:-[a-z]+)+-\d)\//;

/** Whether a parsed table is LiteLLM's. */
export function isLitellmTable(table: JsonObject): boolean {
  return Object.values(table).some((row) =>
    isObject(row) && typeof row["litellm_provider"] === "string"
  );
}

/** The rows with a price of tokens; numbers are given as their text. */
export function litellmTable(table: JsonObject): readonly ListedModel[] {
  return Object.entries(table).flatMap(([key, row]) => {
    const provider = stringIn(objectOr(row)["litellm_provider"]);
    return provider === undefined || key === "sample_spec" || !isObject(row) ||
        !MODES.has(stringIn(row["mode"]) ?? "chat")
      ? []
      : [readRow(key, provider, row)];
  });
}

function readRow(
  key: string,
  provider: string,
  row: JsonObject,
): ListedModel {
  const draft = new CardDraft();
  for (const [field, value] of Object.entries(row)) {
    const [, base, thousands, tier] = RATE.exec(field) ?? [];
    const meter = METERS[base ?? ""];
    if (meter !== undefined) {
      const condition: Condition = {
        ...compact({ tier }),
        ...(thousands === undefined
          ? {}
          : { prompt_above: Number(thousands) * 1000 }),
      };
      draft.rate(meter, draft.amount(field, value, PER_TOKEN), condition);
    } else readOther(draft, field, value, row);
  }
  const root = provider.split("-")[0]?.replace(/_converse$/, "") ?? provider;
  const bare = key.startsWith(`${root}/`) ? key.slice(root.length + 1) : key;
  const region = REGION.exec(bare)?.[0];
  const maxInputTokens = Number(row["max_input_tokens"]);
  return {
    name: key,
    names: [{
      provider,
      model: region === undefined ? bare : bare.slice(region.length),
    }],
    ...(region === undefined ? {} : { region: region.slice(0, -1) }),
    ...(maxInputTokens > 0 ? { maxInputTokens } : {}),
    ...draft.result(),
  };
}

function readOther(
  draft: CardDraft,
  field: string,
  value: unknown,
  row: JsonObject,
): void {
  if (INEXPRESSIBLE.includes(field) && value !== null) {
    draft.problems.push(`${field}: a card has no such condition`);
  } else if (field === "output_cost_per_reasoning_token") {
    const reasoning = draft.amount(field, value, PER_TOKEN);
    const output = draft.amount(
      "output_cost_per_token",
      row["output_cost_per_token"],
      PER_TOKEN,
    );
    if (reasoning !== undefined && reasoning !== output) {
      draft.problems.push(`${field}: a card has no rate for reasoning alone`);
    }
  } else if (field === "input_cost_per_request") {
    draft.call(draft.amount(field, value, PER_DOLLAR));
  } else if (field === "search_context_cost_per_query") {
    readSearch(draft, field, value, row);
  } else if (field === "provider_specific_entry") {
    readFactors(draft, field, objectOr(value));
  } else if (
    PRICE.test(field) && !BATCHES.test(field) && isPositive(value)
  ) draft.notes.push(`${field}: not part of the card`);
}

/** Searches cost by the size of their results, which replies do not report: the dearest counts. */
function readSearch(
  draft: CardDraft,
  field: string,
  value: unknown,
  row: JsonObject,
): void {
  const sizes = Object.entries(
    isObject(value) ? value : { [field]: value },
  ).flatMap(([size, price]) => {
    const name = size === field ? field : `${field}.${size}`;
    const microUsd = draft.amount(name, price, PER_DOLLAR);
    return microUsd === undefined ? [] : [{ name, microUsd }];
  });
  const dearest = sizes.toSorted((a, b) => b.microUsd - a.microUsd)[0];
  if (dearest === undefined) return;
  draft.use("web_search", dearest.microUsd);
  if (sizes.some(({ microUsd }) => microUsd !== dearest.microUsd)) {
    draft.notes.push(`${dearest.name}: the dearest size counts for all`);
  }
  if (row["web_search_billing_unit"] === "per_prompt") {
    draft.notes.push(`${field}: the vendor bills a prompt once`);
  }
}

/** Factors of the vendor's own: of `fast`, or of a region. */
function readFactors(
  draft: CardDraft,
  field: string,
  factors: JsonObject,
): void {
  for (const [name, value] of Object.entries(factors)) {
    if (!isPositive(value)) continue;
    const at = `${field}.${name}`;
    if (name === "fast") draft.factor(at, value, { speed: "fast" });
    else if (/^[a-z]{2}$/.test(name)) {
      draft.factor(at, value, { region: name });
    } else draft.notes.push(`${at}: not part of the card`);
  }
}

function isPositive(value: unknown): boolean {
  return typeof value === "string" ? Number(value) > 0 : isObject(value);
}
