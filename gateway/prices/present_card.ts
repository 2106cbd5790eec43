/**
 * The card that a model of the configuration has.
 *
 * @module
 */
import type { Model } from "../upstream/catalogue.ts";
import type { ListedCard } from "./listed_card.ts";

/** A card of the configuration, as price tables are read. */
export interface PresentCard extends ListedCard {
  /** Unix milliseconds from which it counts; absent: always. */
  readonly fromMs?: number;
  /** What may be asked for although it has no rate. */
  readonly atBaseRate: readonly string[];
}

/** The card that counts at a time; undefined for a model without one. */
export function presentCard(
  { price, unpriced }: Model,
  _atMs: number,
): PresentCard | undefined {
  return unpriced !== undefined ? undefined : {
    rates: {
      input: price.input,
      output: price.output,
      cache_read: price.cacheRead,
      cache_write: price.cacheWrite,
    },
    uses: {},
    when: [],
    atBaseRate: [],
  };
}

/** Whether the model costs nothing by the configuration. */
export function isFree({ price }: Model): boolean {
  return price.input === 0 && price.output === 0;
}
