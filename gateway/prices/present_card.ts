/**
 * The card that a model of the configuration has, in the form in which price tables are read.
 */
import { compact } from "../../translate/bytes/compact.ts";
import { cardAt, type RateCard } from "../accounts/charges/rate_card.ts";
import type { Model } from "../upstream/catalogue/catalogue.ts";
import type { ListedCard } from "./listed_card.ts";

export interface PresentCard extends ListedCard {
  /** Unix milliseconds from which it counts; absent: always. */
  readonly fromMs?: number;
  /** What may be asked for although it has no rate. */
  readonly atBaseRate: readonly string[];
  /** Whether the model costs nothing. */
  readonly isFree: boolean;
}

/** The card that counts at a time; undefined for a model without one. */
export function presentCard(
  { cards }: Pick<Model, "cards">,
  atMs: number,
): PresentCard | undefined {
  const card = cardAt(cards, atMs);
  return card === undefined ? undefined : asListed(card);
}

function asListed(card: RateCard): PresentCard {
  const { meters, units, uses = {}, call, when = [], atBaseRate = [], fromMs } =
    card;
  return {
    rates: {
      input: card.input,
      output: card.output,
      cache_read: card.cacheRead,
      cache_write: card.cacheWrite,
      ...meters,
      ...units,
    },
    uses,
    ...compact({ call }),
    when: when.map(({ promptAbove, ...one }) => ({
      ...one,
      ...compact({ prompt_above: promptAbove }),
    })),
    ...compact({ fromMs }),
    atBaseRate: [...atBaseRate],
    isFree: card.isFree === true,
  };
}
