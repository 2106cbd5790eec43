/**
 * Puts a table's rates into a model's card, and lists what that changes. Rates that the table does
 * not have stay.
 */
import { compact } from "../../translate/bytes/compact.ts";
import {
  type Condition,
  type ConditionalRates,
  conditionText,
  type ListedCard,
  type Rates,
} from "./listed_card.ts";

import { isPerUse } from "../accounts/charges/meters.ts";

export type AmountUnit = "per_million_tokens" | "per_use" | "factor";

/** One amount of a card that differs. */
export interface CardChange {
  /** The meter, and its condition in brackets: `input (tier priority)`. */
  readonly meter: string;
  readonly unit: AmountUnit;
  /** In micro-dollars, or the factor; absent: the card has none. */
  readonly now?: number;
  /** In micro-dollars, or the factor; absent: the card has none. */
  readonly then?: number;
}

/** A card after a table was read. */
export interface MergedCard {
  readonly card: ListedCard;
  readonly changes: readonly CardChange[];
  /** Meters whose amounts stay because the table does not have them. */
  readonly kept: readonly string[];
  /** What was assumed. */
  readonly notes: readonly string[];
}

/** The card with the table's amounts. `present` is absent for a model without a card. */
export function mergeCard(
  present: ListedCard | undefined,
  listed: ListedCard,
): MergedCard {
  const { rates, when, notes } = withCacheRates(present, listed);
  const call = listed.call ?? present?.call;
  const card: ListedCard = {
    rates: { ...present?.rates, ...rates },
    uses: { ...present?.uses, ...listed.uses },
    ...compact({ call }),
    when: mergedConditions(present?.when ?? [], when),
  };
  const before = amountsOf(present);
  const after = amountsOf(card);
  const reported = amountsOf({ ...listed, rates, when });
  const meters = [...new Set([...after.keys(), ...before.keys()])];
  return {
    card,
    notes,
    kept: meters.filter((meter) =>
      before.has(meter) && after.has(meter) && !reported.has(meter)
    ),
    changes: meters.flatMap((meter): readonly CardChange[] => {
      const now = before.get(meter);
      const then = after.get(meter);
      const unit = (then ?? now)?.unit;
      if (now?.amount === then?.amount || unit === undefined) return [];
      return [{
        meter,
        unit,
        ...(now === undefined ? {} : { now: now.amount }),
        ...(then === undefined ? {} : { then: then.amount }),
      }];
    }),
  };
}

/** Cached tokens cost what input costs where neither the table nor the card has a rate. */
function withCacheRates(
  present: ListedCard | undefined,
  listed: ListedCard,
): Pick<ListedCard, "rates" | "when"> & Pick<MergedCard, "notes"> {
  const absent = ["cache_read", "cache_write"].filter((meter) =>
    listed.rates[meter] === undefined && present?.rates[meter] === undefined
  );
  const fillRates = (rates: Rates): Rates => {
    const { input } = rates;
    return input === undefined ? rates : {
      ...Object.fromEntries(absent.map((meter) => [meter, input])),
      ...rates,
    };
  };
  return {
    rates: fillRates(listed.rates),
    when: listed.when.map((one) =>
      one.rates === undefined ? one : { ...one, rates: fillRates(one.rates) }
    ),
    notes: absent.map((meter) => `${meter}: absent; as input`),
  };
}

/**
 * The table's conditions, then those of the card that it does not have. A table with steps
 * has all of them.
 */
function mergedConditions(
  present: readonly ConditionalRates[],
  listed: readonly ConditionalRates[],
): readonly ConditionalRates[] {
  const tellsSteps = listed.some((one) => one.prompt_above !== undefined);
  const merged = listed.map((one) => {
    const own = present.find((other) =>
      conditionText(other) === conditionText(one)
    );
    return one.rates === undefined || own?.rates === undefined
      ? one
      : { ...one, rates: { ...own.rates, ...one.rates } };
  });
  const kept = present.filter((one) =>
    !(tellsSteps && one.prompt_above !== undefined) &&
    !listed.some((other) => conditionText(other) === conditionText(one))
  );
  return [...merged, ...kept].toSorted(fromGeneral);
}

/** A card's later condition replaces an earlier one: steps first, combinations last. */
function fromGeneral(a: ConditionalRates, b: ConditionalRates): number {
  return valuesOf(a) - valuesOf(b) ||
    (a.prompt_above ?? 0) - (b.prompt_above ?? 0);
}

function valuesOf({ tier, speed, region }: Condition): number {
  return [tier, speed, region].filter((value) => value !== undefined).length;
}

interface Amount {
  readonly amount: number;
  readonly unit: AmountUnit;
}

function amountsOf(card: ListedCard | undefined): ReadonlyMap<string, Amount> {
  const amounts = new Map<string, Amount>();
  if (card === undefined) return amounts;
  const add = (
    rates: Rates,
    unit: AmountUnit,
    name: (key: string) => string,
  ) => {
    for (const [key, amount] of Object.entries(rates)) {
      amounts.set(name(key), {
        amount,
        unit: isPerUse(key) ? "per_use" : unit,
      });
    }
  };
  add(card.rates, "per_million_tokens", (meter) => meter);
  add(card.uses, "per_use", (tool) => `uses.${tool}`);
  if (card.call !== undefined) {
    amounts.set("call", { amount: card.call, unit: "per_use" });
  }
  for (const one of card.when) {
    const condition = conditionText(one);
    if (one.factor !== undefined) {
      amounts.set(`factor (${condition})`, {
        amount: one.factor,
        unit: "factor",
      });
    }
    add(
      one.rates ?? {},
      "per_million_tokens",
      (meter) => `${meter} (${condition})`,
    );
  }
  return amounts;
}
