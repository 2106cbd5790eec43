/**
 * A rate card: what a model costs, by meter and under which conditions. Rates are whole
 * micro-dollars, so that every cost is exact.
 */
import {
  type Dimension,
  DIMENSION_NAMES,
  type MeterName,
  METERS,
  type PartMeter,
  type UnitMeter,
  valueOf,
} from "./meters.ts";
import type { StoredPrice } from "./money.ts";
import type { Usage } from "../../../translate/model/reply.ts";

/** Rates that replace others, or a factor on them, for calls with all of these values. */
export interface Condition {
  readonly tier?: string;
  readonly speed?: string;
  readonly region?: string;
  /**
   * Prompts of more tokens than this. Of several such steps, only the highest that is exceeded
   * counts.
   */
  readonly promptAbove?: number;
  /** Multiplies the rates of all tokens; at most three decimals. */
  readonly factor?: number;
  /** Replace the card's; a meter that is not given keeps its rate. */
  readonly rates?: Readonly<Partial<Record<MeterName, number>>>;
}

/** The prices of a model. The four numbers alone are a card. */
export interface RateCard extends StoredPrice {
  /** Rates of parts of the totals, in micro-dollars per million tokens. */
  readonly meters?: Readonly<Partial<Record<PartMeter, number>>>;
  /** Micro-dollars for one use of a vendor's own tool, by its name. */
  readonly uses?: Readonly<Record<string, number>>;
  /**
   * Rates of what is counted where a reply reports no tokens that cost anything; what each is for
   * is in `UNITS`.
   */
  readonly units?: Readonly<Partial<Record<UnitMeter, number>>>;
  /** Micro-dollars for a call. */
  readonly call?: number;
  /** Applied in order: a later condition overrides an earlier one. */
  readonly when?: readonly Condition[];
  /**
   * What may be asked for at the base rate although the card has no rate for it: `tier`, `speed`,
   * `region`, `fallbacks`, `provider`, a meter, `uses.NAME`.
   */
  readonly atBaseRate?: ReadonlySet<string>;
  /** Everything of the model is free of charge. */
  readonly isFree?: true;
  /** Unix milliseconds from which it counts; absent: always. */
  readonly fromMs?: number;
  /** Where the rates were read. */
  readonly source?: string;
}

/** The card of a model whose calls cost nothing. */
export const FREE: RateCard = {
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  output: 0,
  isFree: true,
};

/** The card that counts at a time: the last one that has begun; undefined before the first. */
export function cardAt(
  cards: readonly RateCard[],
  nowMs: number,
): RateCard | undefined {
  let found: RateCard | undefined;
  for (const card of cards) {
    const from = card.fromMs ?? -Infinity;
    if (from <= nowMs && from >= (found?.fromMs ?? -Infinity)) found = card;
  }
  return found;
}

/** Under which conditions tokens are charged. A value is absent where it means the base rate. */
export interface Situation {
  readonly tier?: string | undefined;
  readonly speed?: string | undefined;
  readonly region?: string | undefined;
  /** Prompt tokens of the call, cached ones included. */
  readonly promptTokens: number;
}

/** The situation that a reply reports. */
export function situationOf(usage: Usage, promptTokens: number): Situation {
  return {
    tier: valueOf("tier", usage.tier),
    speed: valueOf("speed", usage.speed),
    region: valueOf("region", usage.region),
    promptTokens,
  };
}

/** Why a rate is not the card's own. */
export interface Reason {
  /** The condition: `speed=fast`, `prompt_above=200000`. */
  readonly because: string;
  /** What the rate is multiplied by; absent: the condition has a rate of its own. */
  readonly factor?: number;
}

export interface Rate {
  /** Before its factors. */
  readonly rate: number;
  readonly reasons: readonly Reason[];
  /** Whether it replaces one that the card does not have. */
  readonly unpriced?: true;
}

/** The rate with its factors, rounded up to a whole micro-dollar. */
export function eachOf(
  { rate, reasons }: {
    readonly rate: number;
    readonly reasons?: readonly Reason[];
  },
): number {
  let numerator = BigInt(rate);
  let denominator = 1n;
  for (const { factor } of reasons ?? []) {
    if (factor === undefined) continue;
    numerator *= BigInt(Math.round(factor * 1000));
    denominator *= 1000n;
  }
  return Number((numerator + denominator - 1n) / denominator);
}

/** Whether a card has rates for a value, or lets it pass at the base rate. */
export function prices(
  card: RateCard,
  dimension: Dimension,
  value: string,
): boolean {
  return card.isFree === true || isAtBase(card, dimension) ||
    hasCondition(card, dimension, value);
}

function hasCondition(
  { when = [] }: RateCard,
  dimension: Dimension,
  value: string,
): boolean {
  return when.some((condition) => condition[dimension] === value);
}

function isAtBase({ atBaseRate }: RateCard, what: string): boolean {
  return atBaseRate?.has(what) === true;
}

/** Whether a card has a rate for a tool's uses, or lets it pass. */
export function pricesUse(card: RateCard, name: string): boolean {
  return card.isFree === true || card.uses?.[name] !== undefined ||
    isAtBase(card, `uses.${name}`);
}

/** Whether a card has a rate for a meter, or lets its tokens pass at the rate of their total. */
export function pricesMeter(card: RateCard, meter: PartMeter): boolean {
  return card.isFree === true || METERS[meter].asTotal === true ||
    hasOwnRate(card, meter) || isAtBase(card, meter);
}

/** Whether a card has a rate of the meter's own, at least under a condition. */
export function hasOwnRate(card: RateCard, meter: PartMeter): boolean {
  return card.meters?.[meter] !== undefined ||
    card.when?.some(({ rates }) => rates?.[meter] !== undefined) === true;
}

/** Dimensions of a situation whose value the card has no rate for. */
export function unpricedDimensions(
  card: RateCard,
  situation: Situation,
): readonly Dimension[] {
  return DIMENSION_NAMES.filter((dimension) => {
    const value = situation[dimension];
    return value !== undefined && !prices(card, dimension, value);
  });
}

/** The conditions of a card that hold, in its order. */
export function conditionsOf(
  card: RateCard,
  situation: Situation,
): readonly Condition[] {
  if (card.when === undefined) return NONE;
  const holds = card.when.filter((one) =>
    (one.promptAbove === undefined ||
      situation.promptTokens > one.promptAbove) &&
    DIMENSION_NAMES.every((dimension) =>
      one[dimension] === undefined || one[dimension] === situation[dimension]
    )
  );
  return holds.filter((one) =>
    one.promptAbove === undefined ||
    !holds.some((other) =>
      (other.promptAbove ?? 0) > (one.promptAbove ?? 0) &&
      DIMENSION_NAMES.every((dimension) => other[dimension] === one[dimension])
    )
  );
}

const NONE: readonly Condition[] = [];

/**
 * The rate of a meter in a situation. Where the card has none: the dearest of the meter's
 * direction, marked.
 */
export function rateIn(
  card: RateCard,
  meter: MeterName,
  situation: Situation,
): Rate {
  const unknown = unpricedDimensions(card, situation);
  if (unknown.length > 0) {
    return {
      ...dearest(
        situationsWithout(card, situation, unknown).map((one) =>
          rateIn(card, meter, one)
        ),
      ),
      unpriced: true,
    };
  }
  const { direction, partOf, asTotal } = METERS[meter];
  if (partOf === undefined) return conditionedRate(card, meter, situation);
  if (hasOwnRate(card, meter as PartMeter)) {
    return conditionedRate(card, meter, situation);
  }
  return asTotal === true || isAtBase(card, meter)
    ? conditionedRate(card, partOf, situation)
    : { ...dearestOf(card, direction, situation), unpriced: true };
}

/** The dearest rate of a direction in a situation. */
export function dearestOf(
  card: RateCard,
  direction: "in" | "out",
  situation: Situation,
): Rate {
  return dearest(
    METER_NAMES.filter((name) =>
      METERS[name].direction === direction &&
      (METERS[name].partOf === undefined ||
        hasOwnRate(card, name as PartMeter))
    ).map((name) => rateIn(card, name, situation)),
  );
}

const METER_NAMES = Object.keys(METERS) as readonly MeterName[];

/**
 * Replaces a value that the card does not know by each value that it knows, and by the base rate.
 */
function situationsWithout(
  card: RateCard,
  situation: Situation,
  unknown: readonly Dimension[],
): readonly Situation[] {
  let all: readonly Situation[] = [situation];
  for (const dimension of unknown) {
    const values = new Set(card.when?.map((one) => one[dimension]));
    all = all.flatMap((one) =>
      [...values, undefined].map((value) => ({ ...one, [dimension]: value }))
    );
  }
  return all;
}

function dearest(rates: readonly Rate[]): Rate {
  return rates.reduce((most, one) => eachOf(one) > eachOf(most) ? one : most);
}

function conditionedRate(
  card: RateCard,
  meter: MeterName,
  situation: Situation,
): Rate {
  let rate = ownRate(card, meter);
  let replaced: Reason | undefined;
  const factors: Reason[] = [];
  for (const condition of conditionsOf(card, situation)) {
    const { rates, factor } = condition;
    const own = rates?.[meter];
    if (own !== undefined) {
      rate = own;
      replaced = { because: textOf(condition) };
    }
    if (factor !== undefined) {
      factors.push({ because: textOf(condition), factor });
    }
  }
  return {
    rate,
    reasons: replaced === undefined ? factors : [replaced, ...factors],
  };
}

function ownRate(card: RateCard, meter: MeterName): number {
  switch (meter) {
    case "input":
      return card.input;
    case "cache_read":
      return card.cacheRead;
    case "cache_write":
      return card.cacheWrite;
    case "output":
      return card.output;
    default: {
      const own = card.meters?.[meter];
      // A meter whose only rates are those of conditions costs what its total costs.
      return own ?? ownRate(card, METERS[meter].partOf ?? "input");
    }
  }
}

function textOf(condition: Condition): string {
  return [
    ...DIMENSION_NAMES.flatMap((dimension) =>
      condition[dimension] === undefined
        ? []
        : [`${dimension}=${condition[dimension]}`]
    ),
    ...(condition.promptAbove === undefined
      ? []
      : [`prompt_above=${condition.promptAbove}`]),
  ].join(" and ");
}
