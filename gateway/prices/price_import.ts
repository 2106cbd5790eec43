/**
 * What a price table would change in the configuration, and the file with the change.
 */
import { isObject, objectOr, parseJson } from "../../translate/bytes/json.ts";
import { invalidField } from "../../translate/model/error.ts";
import type { Model } from "../upstream/catalogue/catalogue.ts";
import { priceShape } from "../upstream/catalogue/price_shape.ts";
import { cardJson, type CardOrigin } from "./card_json.ts";
import { mergeCard, type MergedCard } from "./card_changes.ts";
import { type ConfiguredModels, matchModel } from "./match_models.ts";
import { presentCard } from "./present_card.ts";
import type { PriceTable } from "./price_table.ts";
import { setField } from "./set_field.ts";

/** A model whose price is in the table. */
export interface PricedModel extends MergedCard {
  readonly model: Model;
  /** The row's name in the table. */
  readonly row: string;
}

/** A model without one clear price in the table. */
interface UnclearModel {
  readonly id: string;
  readonly reason: string;
  /** Rows that may be meant. */
  readonly names: readonly string[];
}

/** The configuration's models, by whether the table has their prices. */
export interface PriceImport {
  readonly priced: readonly PricedModel[];
  readonly unclear: readonly UnclearModel[];
}

/**
 * Compares a table with the configuration. Models that are free by the configuration, and aliases,
 * are left out.
 *
 * @param chosen the models to look at, with the names of their rows where those are given; empty:
 * all
 * @throws {ApiError} `invalid_request` for a chosen model that is not in the configuration
 */
export function planImport(
  configured: ConfiguredModels,
  table: PriceTable,
  fromMs: number,
  chosen: ReadonlyMap<string, string | undefined>,
): PriceImport {
  const { catalogue, overrides } = configured;
  const models = catalogue.models.filter(({ id }) =>
    overrides.models?.[id]?.alias === undefined
  );
  for (const id of chosen.keys()) {
    if (!models.some((model) => model.id === id)) {
      throw invalidField("models", `there is no model ${id} with a price`);
    }
  }
  const priced: PricedModel[] = [];
  const unclear: UnclearModel[] = [];
  for (const model of models) {
    const { id } = model;
    if (chosen.size > 0 && !chosen.has(id)) continue;
    const present = presentCard(model, fromMs);
    if (present?.isFree === true) {
      if (chosen.has(id)) {
        unclear.push({ id, reason: "is free by the configuration", names: [] });
      }
      continue;
    }
    const match = matchModel(configured, table, model, chosen.get(id));
    if (match.type === "unclear") {
      unclear.push({ id, reason: match.reason, names: match.names });
      continue;
    }
    const { maxInputTokens, name, notes } = match.row;
    const merged = mergeCard(present, match.card);
    const { error } = priceShape.safeParse(cardJson(merged.card, {}));
    if (error !== undefined) {
      const [problem] = error.issues.map((issue) =>
        `${issue.path.join(".")}: ${issue.message}`
      );
      unclear.push({ id, reason: `${name}: ${problem}`, names: [] });
      continue;
    }
    priced.push({
      ...merged,
      model,
      row: name,
      notes: [
        ...notes,
        ...merged.notes,
        ...(maxInputTokens === undefined ||
            maxInputTokens >= model.contextTokens
          ? []
          : [
            `max_input_tokens: ${maxInputTokens}, less than its context_tokens, ${model.contextTokens}`,
          ]),
      ],
    });
  }
  return { priced, unclear };
}

/**
 * The configuration file's text with the new cards. A card of the file that begins later stays; one
 * that ends before `today` goes.
 *
 * @param text `{}` where there is no file yet
 * @param today day, as YYYY-MM-DD
 */
export function withCards(
  text: string,
  priced: readonly PricedModel[],
  origin: CardOrigin,
  today: string,
): string {
  const models = objectOr(objectOr(parseJson(text))["models"]);
  return priced.reduce((written, { model, card }) => {
    const own = objectOr(models[model.id])["price"];
    const present = presentCard(model, Date.parse(origin.from));
    const cards = (Array.isArray(own) ? own : [own]).filter(isObject);
    const next = cardJson(card, origin, present?.atBaseRate);
    const others = cards.filter((one) =>
      dayOf(one) > origin.from ||
      (origin.from > today && dayOf(one) < origin.from)
    );
    // A built-in card counts until the new one begins.
    if (
      origin.from > today && present !== undefined &&
      !others.some((one) => dayOf(one) < origin.from)
    ) others.unshift(cardJson(present, {}, present.atBaseRate));
    return setField(
      written,
      ["models", model.id, "price"],
      others.length === 0
        ? next
        : [...others, next].toSorted((a, b) => dayOf(a) < dayOf(b) ? -1 : 1),
    );
  }, text);
}

/** The day on which a card of the file begins; empty for one that always counts. */
function dayOf({ from }: { readonly from?: unknown }): string {
  return typeof from === "string" ? from : "";
}
