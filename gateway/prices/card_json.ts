/**
 * A card in the form of the configuration file.
 */
import { compact } from "../../translate/bytes/compact.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import type { ListedCard } from "./listed_card.ts";

/** When a card begins, and where it comes from. */
export interface CardOrigin {
  /** Day, as YYYY-MM-DD. */
  readonly from: string;
  /** Kept with each call. */
  readonly version: string;
  /** Where the rates were read. */
  readonly source: string;
}

/** The `price` of a model; parts that the card does not have are absent. */
export function cardJson(
  card: ListedCard,
  origin: Partial<CardOrigin>,
  atBaseRate: readonly string[] = [],
): JsonObject {
  return compact({
    ...origin,
    ...card.rates,
    uses: Object.keys(card.uses).length === 0 ? undefined : card.uses,
    call: card.call,
    when: card.when.length === 0 ? undefined : card.when,
    at_base_rate: atBaseRate.length === 0 ? undefined : atBaseRate,
  });
}
