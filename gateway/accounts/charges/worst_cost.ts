/**
 * What a call can cost at most, from what its request asks for: the amount to reserve.
 */
import {
  isPerUse,
  type MeterName,
  METERS,
  PART_METERS,
  UNIT_METERS,
} from "./meters.ts";
import { microUsdOf, type StoredPrice } from "./money.ts";
import {
  conditionsOf,
  eachOf,
  hasOwnRate,
  type RateCard,
  rateIn,
  type Situation,
} from "./rate_card.ts";
import { type Asked, NOTHING_ASKED } from "./asked.ts";
import { type ChargeLine, picoUsdOf } from "./charge_lines.ts";

/**
 * Prompt tokens that a use of a vendor's tool is reserved for: what it finds is added to the
 * prompt, which the model then reads again.
 */
const TOKENS_PER_USE = 20_000;

/**
 * The worst-case cost of a call whose prompt is as long as estimated: every prompt token at the
 * highest of the rates that it can have, the output likewise, and every tool used as often as the
 * request allows. Each other model that may serve the call may do so after the first has generated
 * as much.
 */
export function worstCostMicroUsd(
  card: RateCard,
  inputTokens: number,
  maxOutputTokens: number,
  asked: Asked = NOTHING_ASKED,
): number {
  let sum = 0n;
  const promptTokens = inputTokens + TOKENS_PER_USE *
      Object.values(asked.uses ?? {}).reduce((all, one) => all + one, 0);
  const addTokens = (one: RateCard): void => {
    const rates = dearestRates(one, asked, promptTokens);
    sum += BigInt(promptTokens) * rates.in +
      BigInt(maxOutputTokens) * rates.out;
  };
  addTokens(card);
  asked.otherCards?.forEach(addTokens);
  if (asked.units !== undefined) {
    const units = unitLines(card, asked.units).reduce(
      (all, line) => all + picoUsdOf(line),
      0n,
    );
    // A call is billed by its tokens or by what else is counted.
    if (units > sum) sum = units;
  }
  for (const line of perUse(card, asked)) sum += picoUsdOf(line);
  return microUsdOf(sum);
}

/**
 * The base rates under the conditions that a request asks for; a call is charged by them if its
 * reply is not known. The card itself where none of its conditions holds.
 */
export function askedPrice(
  card: RateCard,
  inputTokens: number,
  asked: Asked = NOTHING_ASKED,
): StoredPrice {
  const situation: Situation = { ...asked, promptTokens: inputTokens };
  if (conditionsOf(card, situation).length === 0) return card;
  const each = (meter: MeterName): number =>
    eachOf(rateIn(card, meter, situation));
  return {
    input: each("input"),
    cacheRead: each("cache_read"),
    cacheWrite: each("cache_write"),
    output: each("output"),
    ...(card.version === undefined ? {} : { version: card.version }),
  };
}

function unitLines(
  card: RateCard,
  units: NonNullable<Asked["units"]>,
): readonly ChargeLine[] {
  return UNIT_METERS.map((meter) => ({
    meter,
    quantity: Math.ceil(units[meter] ?? 0),
    rate: card.units?.[meter] ?? 0,
  }));
}

const NO_LINES: readonly ChargeLine[] = [];

function perUse(card: RateCard, { uses }: Asked): readonly ChargeLine[] {
  if (uses === undefined && card.call === undefined) return NO_LINES;
  return [
    ...Object.entries(uses ?? {}).map(([name, quantity]) => ({
      meter: `uses.${name}`,
      quantity,
      rate: card.uses?.[name] ?? 0,
    })),
    { meter: "call", quantity: 1, rate: card.call ?? 0 },
  ].filter(({ meter, rate }) => rate > 0 && isPerUse(meter));
}

/** The highest rate that a token of each direction can have, in picodollars. */
interface DearestRates {
  readonly in: bigint;
  readonly out: bigint;
}

/** The rates of cards without conditions, for requests without billed fields: nearly every call. */
const plainRates = new WeakMap<RateCard, DearestRates>();

function dearestRates(
  card: RateCard,
  asked: Asked,
  promptTokens: number,
): DearestRates {
  const isPlain = asked === NOTHING_ASKED && card.when === undefined;
  const known = isPlain ? plainRates.get(card) : undefined;
  if (known !== undefined) return known;
  const situations = situationsOf(card, asked, promptTokens);
  const rates = {
    in: BigInt(dearestRate(card, "in", asked, situations)),
    out: BigInt(dearestRate(card, "out", asked, situations)),
  };
  if (isPlain) plainRates.set(card, rates);
  return rates;
}

function dearestRate(
  card: RateCard,
  direction: "in" | "out",
  asked: Asked,
  situations: readonly Situation[],
): number {
  const meters = [
    ...BASE[direction],
    // Meters that can occur without being requested: the cache's shortest lives, and images.
    ...PART_METERS.filter((meter) =>
      METERS[meter].direction === direction &&
      (asked.meters?.includes(meter) === true ||
        (METERS[meter].asTotal === true && hasOwnRate(card, meter)))
    ),
  ];
  return Math.max(
    ...situations.flatMap((situation) =>
      meters.map((meter) => eachOf(rateIn(card, meter, situation)))
    ),
  );
}

const BASE = {
  in: ["input", "cache_read", "cache_write"],
  out: ["output"],
} as const satisfies Record<"in" | "out", readonly MeterName[]>;

/**
 * Every situation in which a call may be charged: upstreams may serve it at less than what it asks
 * for, and its prompt may be shorter than estimated.
 */
function situationsOf(
  card: RateCard,
  asked: Asked,
  inputTokens: number,
): readonly Situation[] {
  if (card.when === undefined) return [{ promptTokens: inputTokens }];
  const prompts = new Set([
    inputTokens,
    ...card.when.flatMap(({ promptAbove }) =>
      promptAbove !== undefined && promptAbove < inputTokens
        ? [promptAbove]
        : []
    ),
  ]);
  let all: readonly Situation[] = [...prompts].map((promptTokens) => ({
    promptTokens,
  }));
  for (const dimension of ["tier", "speed", "region"] as const) {
    const value = asked[dimension];
    if (value === undefined) continue;
    all = all.flatMap((one) => [one, { ...one, [dimension]: value }]);
  }
  return all;
}
