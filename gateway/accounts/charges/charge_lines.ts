/**
 * The lines of a charge: meter × quantity × rate × factors, exact in integers. A call that has
 * nothing but tokens at the four base rates has no lines of its own: they follow from its tokens
 * and its price.
 */
import { z } from "zod";
import type { ServedUsage, Usage } from "../../../translate/model/reply.ts";
import {
  type BaseMeter,
  CALL_METER,
  isPerUse,
  type MeterName,
  METERS,
  PART_METERS,
  type PartMeter,
  UNIT_METERS,
  USES,
} from "./meters.ts";
import { type Asked, NOTHING_ASKED, type OtherCards } from "./asked.ts";
import { microUsdOf, type ModelPrice, type Tokens } from "./money.ts";
import {
  conditionsOf,
  dearestOf,
  eachOf,
  hasOwnRate,
  pricesMeter,
  type Rate,
  type RateCard,
  rateIn,
  type Reason,
  type Situation,
  situationOf,
  unpricedDimensions,
} from "./rate_card.ts";

/** A line of a charge, as it is stored with the call and shown in JSON. */
export interface ChargeLine {
  /** A name of `meters.ts`, `uses.NAME`, `call`, or an unknown kind of tokens. */
  readonly meter: string;
  /** Tokens, uses, or whatever else the meter counts. */
  readonly quantity: number;
  /** Micro-dollars per million, or per use, call or image, before the factors. */
  readonly rate: number;
  /** Why the rate is not the card's base rate, with its factors; absent: it is. */
  readonly reasons?: readonly Reason[];
  /** Whether the card has no rate for it, so that the dearest rate of its direction is charged. */
  readonly unpriced?: true;
  /**
   * Whether the upstream reported more than the call can have used, so that the bound is charged.
   */
  readonly bounded?: true;
  /** The model that served it, where it is another than the call's. */
  readonly model?: string;
}

/** JSON form of a charge's lines. */
export const CHARGE_LINES: z.ZodType<readonly ChargeLine[]> = z.array(z.object({
  meter: z.string(),
  quantity: z.int(),
  rate: z.int().describe(
    "micro-dollars per million tokens, seconds or characters, or per use, call or image, before the factors",
  ),
  reasons: z.array(z.object({
    because: z.string().describe("speed=fast, prompt_above=200000"),
    factor: z.number().exactOptional(),
  })).exactOptional(),
  unpriced: z.literal(true).exactOptional().describe(
    "the dearest rate of its direction, because the price of the model has none for it",
  ),
  bounded: z.literal(true).exactOptional().describe(
    "the most that the call can have used, because the upstream reported more",
  ),
  model: z.string().exactOptional().describe(
    "the upstream's name of the model that served it; absent: the call's",
  ),
}));

/**
 * The price of a use where a card has none for any tool: the dearest that the vendors of the
 * built-in models publish (https://ai.google.dev/gemini-api/docs/pricing, grounding with search, 35
 * dollars for 1,000).
 */
const DEAREST_USE_MICRO_USD = 35_000;

const TOTALS = [
  ["input", "input"],
  ["cache_read", "cacheRead"],
  ["cache_write", "cacheWrite"],
  ["output", "output"],
] as const satisfies readonly (readonly [BaseMeter, keyof Tokens])[];

/**
 * The lines of a charge; undefined where it consists of tokens at the four base rates.
 *
 * @param tokens the totals that are billed, those of other models included
 * @param asked fills in what a reply does not report: a cache write of unreported life has the
 * longest that the request asks for
 */
export function chargeLines(
  card: RateCard,
  tokens: Tokens,
  reported: Usage,
  asked: Asked = NOTHING_ASKED,
): readonly ChargeLine[] | undefined {
  if (card.isFree === true) return undefined;
  const usage = withLives(reported, tokens.cacheWrite, asked);
  const situation = situationOf(usage, promptOf(tokens));
  if (isPlain(card, usage, situation)) return undefined;
  const lines: ChargeLine[] = [];
  let left = tokens;
  let parts: Usage = usage;
  for (const served of usage.served ?? []) {
    const own = within(served, left);
    const other = cardFor(served.model, asked.otherCards);
    const its = situationOf({ ...usage, ...served }, promptOf(own));
    const ofOther = other === undefined
      ? unpricedLines(card, own, its)
      : tokenLines(other, own, served, its);
    lines.push(...ofOther.map((line) => ({ ...line, model: served.model })));
    left = minus(left, own);
    parts = withoutParts(parts, served);
  }
  lines.unshift(
    ...tokenLines(card, left, parts, {
      ...situation,
      promptTokens: promptOf(left),
    }),
  );
  for (const [name, quantity] of Object.entries(usage.uses ?? {})) {
    const line = useLine(card, name, quantity);
    if (line !== undefined) lines.push(line);
  }
  const { units } = usage;
  if (units !== undefined && costOfLines(lines) === 0) {
    for (const meter of UNIT_METERS) {
      const quantity = wholePart(units[meter]);
      const rate = card.units?.[meter] ?? 0;
      if (quantity > 0 && rate > 0) lines.push({ meter, quantity, rate });
    }
  }
  if ((card.call ?? 0) > 0 && (lines.length > 0 || units !== undefined)) {
    lines.push({ meter: CALL_METER, quantity: 1, rate: card.call ?? 0 });
  }
  return lines;
}

/** The lines of tokens at the four base rates. */
export function totalLines(
  price: ModelPrice,
  tokens: Tokens,
): readonly ChargeLine[] {
  return TOTALS.map(([meter, figure]) => ({
    meter,
    quantity: tokens[figure],
    rate: price[figure],
  }));
}

/**
 * Adds the lines of two charges: equal lines add their quantities, and lines whose quantity becomes
 * 0 are left out.
 */
export function joinedLines(
  lines: readonly ChargeLine[],
): readonly ChargeLine[] {
  const byKind = new Map<string, ChargeLine>();
  for (const line of lines) {
    const kind = JSON.stringify({ ...line, quantity: 0 });
    const quantity = (byKind.get(kind)?.quantity ?? 0) + line.quantity;
    byKind.set(kind, { ...line, quantity });
  }
  return [...byKind.values()].filter(({ quantity }) => quantity !== 0);
}

/** The cost of one line in 10⁻¹² dollars. */
export function picoUsdOf(line: ChargeLine): bigint {
  const worth = BigInt(line.quantity) * BigInt(eachOf(line));
  return isPerUse(line.meter) ? worth * 1_000_000n : worth;
}

/** What the lines add up to, in micro-dollars, rounded up once. */
export function costOfLines(lines: readonly ChargeLine[]): number {
  return microUsdOf(lines.reduce((sum, line) => sum + picoUsdOf(line), 0n));
}

/** The lives that the request asks for, the longest first. */
const LONG_LIVES = [
  ["cache_write_12h", "cacheWrite12h"],
  ["cache_write_1h", "cacheWrite1h"],
] as const;

function withLives(usage: Usage, written: number, { meters }: Asked): Usage {
  if (written === 0 || meters === undefined) return usage;
  const life = LONG_LIVES.find(([meter]) => meters.includes(meter));
  if (life === undefined) return usage;
  const known = (usage.cacheWrite5m ?? 0) + (usage.cacheWrite30m ?? 0) +
    (usage.cacheWrite1h ?? 0) + (usage.cacheWrite12h ?? 0);
  const [, figure] = life;
  return known >= written
    ? usage
    : { ...usage, [figure]: (usage[figure] ?? 0) + written - known };
}

function isPlain(card: RateCard, usage: Usage, situation: Situation): boolean {
  return usage.served === undefined && usage.uses === undefined &&
    usage.units === undefined &&
    (usage.unknownInput ?? 0) === 0 && (usage.unknownOutput ?? 0) === 0 &&
    (card.call ?? 0) === 0 &&
    PART_METERS.every((meter) =>
      (usage[figureOf(meter)] ?? 0) === 0 ||
      (!hasOwnRate(card, meter) && pricesMeter(card, meter))
    ) &&
    conditionsOf(card, situation).length === 0 &&
    unpricedDimensions(card, situation).length === 0;
}

function tokenLines(
  card: RateCard,
  tokens: Tokens,
  usage: Usage,
  situation: Situation,
): readonly ChargeLine[] {
  const lines: ChargeLine[] = [];
  const push = (meter: string, quantity: number, rate: Rate): void => {
    if (quantity === 0) return;
    lines.push({
      meter,
      quantity,
      rate: rate.rate,
      ...(rate.reasons.length === 0 ? {} : { reasons: rate.reasons }),
      ...(rate.unpriced === undefined ? {} : { unpriced: rate.unpriced }),
    });
  };
  for (const [total, figure] of TOTALS) {
    let rest = tokens[figure];
    const take = (count: number | undefined): number => {
      const taken = Math.min(rest, wholePart(count));
      rest -= taken;
      return taken;
    };
    const later: (() => void)[] = [];
    for (const meter of PART_METERS) {
      if (METERS[meter].partOf !== total) continue;
      // A meter without a rate of its own is part of the total's line.
      if (!hasOwnRate(card, meter) && pricesMeter(card, meter)) continue;
      const quantity = take(usage[figureOf(meter)]);
      later.push(() => push(meter, quantity, rateIn(card, meter, situation)));
    }
    if (total === "input" || total === "output") {
      const isInput = total === "input";
      const quantity = take(isInput ? usage.unknownInput : usage.unknownOutput);
      later.push(() =>
        push(`unknown_${total}`, quantity, {
          ...dearestOf(card, isInput ? "in" : "out", situation),
          unpriced: true,
        })
      );
    }
    if (rest > 0) push(total, rest, rateIn(card, total, situation));
    for (const one of later) one();
  }
  return lines;
}

/**
 * The lines for a model whose card is not known: everything at the dearest rate of its direction.
 */
function unpricedLines(
  card: RateCard,
  tokens: Tokens,
  situation: Situation,
): readonly ChargeLine[] {
  return ([
    ["input", "in", promptOf(tokens)],
    ["output", "out", tokens.output],
  ] as const).filter(([, , quantity]) => quantity > 0).map((
    [meter, direction, quantity],
  ) => ({
    meter,
    quantity,
    ...dearestOf(card, direction, situation),
    unpriced: true,
  }));
}

function useLine(
  card: RateCard,
  name: string,
  count: number,
): ChargeLine | undefined {
  const quantity = wholePart(count);
  const rate = card.uses?.[name];
  const meter = `${USES}${name}`;
  if (quantity === 0) return undefined;
  if (rate !== undefined) {
    return rate === 0 ? undefined : { meter, quantity, rate };
  }
  if (card.atBaseRate?.has(meter) === true) return undefined;
  const known = Object.values(card.uses ?? {});
  return {
    meter,
    quantity,
    rate: Math.max(...known, 0) || DEAREST_USE_MICRO_USD,
    unpriced: true,
  };
}

/** A vendor's reply may name a dated snapshot of the model that was asked for. */
function cardFor(
  model: string,
  others: OtherCards | undefined,
): RateCard | undefined {
  return others?.get(model) ?? others?.get(model.replace(/-\d{8}$/, ""));
}

function figureOf(meter: PartMeter): PartFigure {
  return METERS[meter satisfies MeterName].counts as PartFigure;
}

type PartFigure = Exclude<
  typeof METERS[PartMeter]["counts"],
  keyof Tokens
>;

function promptOf({ input, cacheRead, cacheWrite }: Tokens): number {
  return input + cacheRead + cacheWrite;
}

function within(served: ServedUsage, left: Tokens): Tokens {
  return {
    input: Math.min(wholePart(served.input), left.input),
    cacheRead: Math.min(wholePart(served.cacheRead), left.cacheRead),
    cacheWrite: Math.min(wholePart(served.cacheWrite), left.cacheWrite),
    output: Math.min(wholePart(served.output), left.output),
  };
}

function minus(one: Tokens, other: Tokens): Tokens {
  return {
    input: one.input - other.input,
    cacheRead: one.cacheRead - other.cacheRead,
    cacheWrite: one.cacheWrite - other.cacheWrite,
    output: one.output - other.output,
  };
}

function withoutParts(all: Usage, served: ServedUsage): Usage {
  const left: Record<string, unknown> = { ...all };
  for (const meter of PART_METERS) {
    const figure = figureOf(meter);
    const count = all[figure];
    if (count !== undefined) {
      left[figure] = Math.max(0, count - wholePart(served[figure]));
    }
  }
  return left;
}

const MAX_QUANTITY = 1_000_000_000;

function wholePart(value: number | undefined): number {
  return value === undefined || !(value > 0)
    ? 0
    : Math.min(Math.ceil(value), MAX_QUANTITY);
}
