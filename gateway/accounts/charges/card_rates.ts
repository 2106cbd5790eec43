/**
 * Every rate of a card as a list, for pages.
 */
import { CALL_METER, DIMENSION_NAMES, USES } from "./meters.ts";
import type { Condition, RateCard } from "./rate_card.ts";

/** An amount or a factor, and where it applies. */
export interface CardRate {
  /** A name of `meters.ts`, `uses.NAME` or `call`; absent: all tokens. */
  readonly meter?: string;
  /** The condition under which it applies, such as `tier priority`; empty: always. */
  readonly condition: string;
  /** Micro-dollars per million tokens, or per use or call; absent: see `factor`. */
  readonly microUsd?: number;
  /**
   * Multiplies the rates of tokens; absent beside `microUsd`, and for what costs the base rate.
   */
  readonly factor?: number;
}

/**
 * The rates in the order of the card: of tokens, of uses and calls, under conditions, and what is
 * at the base rate.
 */
export function cardRates(card: RateCard): readonly CardRate[] {
  if (card.isFree === true) return [];
  const always = (rates: Readonly<Record<string, number>>): CardRate[] =>
    Object.entries(rates).map(([meter, microUsd]) => ({
      meter,
      condition: "",
      microUsd,
    }));
  return [
    ...always({
      input: card.input,
      cache_read: card.cacheRead,
      cache_write: card.cacheWrite,
      output: card.output,
      ...card.meters,
    }),
    ...always(card.uses ?? {}).map((one) => ({
      ...one,
      meter: `${USES}${one.meter}`,
    })),
    ...always(card.units ?? {}),
    ...(card.call === undefined ? [] : always({ [CALL_METER]: card.call })),
    ...(card.when ?? []).flatMap(conditionalRates),
    ...[...card.atBaseRate ?? []].map((what) => ({
      condition: what.replaceAll("_", " "),
    })),
  ];
}

function conditionalRates(one: Condition): readonly CardRate[] {
  const condition = [
    ...DIMENSION_NAMES.flatMap((name) =>
      one[name] === undefined ? [] : [`${name} ${one[name]}`]
    ),
    ...(one.promptAbove === undefined
      ? []
      : [`prompt above ${one.promptAbove}`]),
  ].join(", ");
  return [
    ...(one.factor === undefined ? [] : [{ condition, factor: one.factor }]),
    ...Object.entries(one.rates ?? {}).map(([meter, microUsd]) => ({
      meter,
      condition,
      microUsd,
    })),
  ];
}
