/**
 * The shape of a model's `price` in the configuration file, and the rate cards that it describes.
 * Its meters are those of `meters.ts`.
 */
import { z } from "zod";
import { compact } from "../../../translate/bytes/compact.ts";
import {
  DIMENSION_NAMES,
  type MeterName,
  METERS,
  PART_METERS,
  UNIT_METERS,
  type UnitMeter,
  UNITS,
  valueOf,
} from "../../accounts/charges/meters.ts";
import { allowedText } from "./setting_errors.ts";
import type { Condition, RateCard } from "../../accounts/charges/rate_card.ts";

/**
 * 10,000 dollars for a million tokens: many times the dearest model, and a sign of a wrong unit.
 */
const MAX_RATE = 10_000_000_000;
/** 100 dollars for a use or a call. */
const MAX_PER_USE = 100_000_000;
const MAX_FACTOR = 1000;

const rate = z.int("must be whole micro-dollars per million tokens")
  .nonnegative().max(
    MAX_RATE,
    "is above 10,000 dollars per million tokens; the unit is micro-dollars per million tokens",
  );
const perUse = z.int("must be whole micro-dollars").nonnegative().max(
  MAX_PER_USE,
  "is above 100 dollars; the unit is micro-dollars",
);
const word = z.string().min(1).max(64);

const METER_NAMES = Object.keys(METERS) as readonly MeterName[];
const rates = z.strictObject(
  Object.fromEntries(METER_NAMES.map((name) => [name, rate])) as Record<
    MeterName,
    typeof rate
  >,
).partial();

const unitRates = z.strictObject(
  Object.fromEntries(
    UNIT_METERS.map((
      name,
    ) => [name, UNITS[name].per === "one" ? perUse : rate]),
  ) as Record<UnitMeter, typeof rate>,
).partial();

const condition = z.strictObject({
  tier: word,
  speed: word,
  region: word,
  prompt_above: z.int().positive().max(1_000_000_000),
  factor: z.number().positive().max(MAX_FACTOR).refine(
    (factor) => Number.isInteger(Math.round(factor * 1e6) / 1000),
    "has more than three decimals",
  ),
  rates,
}).partial().refine(
  (one) =>
    one.prompt_above !== undefined ||
    DIMENSION_NAMES.some((name) => one[name] !== undefined),
  "needs tier, speed, region or prompt_above",
).refine(
  ({ factor, rates }) => factor !== undefined || rates !== undefined,
  "needs a factor or rates",
).superRefine((one, context) => {
  for (const name of DIMENSION_NAMES) {
    const value = one[name];
    if (value === undefined || valueOf(name, value) !== undefined) continue;
    context.addIssue({
      code: "custom",
      path: [name],
      message: `${value} means the base rate, which cannot be a condition`,
    });
  }
});

const AT_BASE_RATE = [
  ...DIMENSION_NAMES,
  "fallbacks",
  "provider",
  "billing_policy",
  ...PART_METERS,
] as const;

const AT_BASE_RATE_RULE = `must be one of ${
  AT_BASE_RATE.join(", ")
}, uses.NAME`;

const card = rates.extend(unitRates.shape).extend({
  from: z.union([z.iso.date(), z.iso.datetime({ offset: true })], {
    error: "must be a day such as 2026-12-31, or a time with a time zone",
  }).optional(),
  version: z.string().regex(
    /^[\w.:+-]{1,64}$/,
    "must be 1 to 64 letters, digits, or . _ : + -",
  ).optional(),
  source: z.string().max(2000).optional(),
  uses: z.record(
    z.string().regex(
      /^\w{1,64}$/,
      "must be letters, digits and underscores, 64 at most",
    ),
    perUse,
  ).optional(),
  call: perUse.optional(),
  when: z.array(condition).max(100).optional(),
  at_base_rate: z.array(
    z.union(
      [
        z.enum(AT_BASE_RATE),
        z.string().regex(/^uses\.\w{1,64}$/, AT_BASE_RATE_RULE),
      ],
      {
        error: AT_BASE_RATE_RULE,
      },
    ),
  ).optional(),
}).superRefine((one, context) => {
  // Which of both are needed depends on what the model does; `route_problems.ts` checks that.
  if (one.input !== undefined || isByUnit(one)) return;
  context.addIssue({
    code: "custom",
    path: ["input"],
    message: REQUIRED,
  });
});

/** The reason for a rate that is absent. */
export const REQUIRED = "is missing; it must be a number";

/** Whether a card has a price for something else than tokens. */
function isByUnit(
  one: Readonly<Partial<Record<UnitMeter | "call", number | undefined>>>,
): boolean {
  return one.call !== undefined ||
    UNIT_METERS.some((name) => one[name] !== undefined);
}

const cards = z.array(card).min(1).max(100).refine(
  (list) => new Set(list.map(({ from }) => from)).size === list.length,
  "has two cards with the same from",
);

/**
 * Schema of `price`: `free`, one card, or several with a beginning each. A union would report no
 * path inside it.
 */
export const priceShape: z.ZodType<PriceSetting | "free"> = z.unknown()
  .transform((value, context) => {
    if (value === "free") return value;
    if (typeof value !== "object") {
      context.addIssue(
        'must be "free", an object of micro-dollars per million tokens, a list of such objects, or null',
      );
      return z.NEVER;
    }
    const parsed = Array.isArray(value)
      ? cards.safeParse(value, { error: allowedText })
      : z.tuple([card]).safeParse([value], { error: allowedText });
    if (parsed.success) return parsed.data;
    for (const { path, message } of parsed.error.issues) {
      context.addIssue({
        code: "custom",
        path: Array.isArray(value) ? path : path.slice(1),
        message,
      });
    }
    return z.NEVER;
  });

/** Cards as the configuration file has them. */
type PriceSetting = readonly z.infer<typeof card>[];

/** The cards of a price. Cached tokens without prices of their own cost what input costs. */
export function cardsOf(setting: PriceSetting): readonly RateCard[] {
  return setting.map((one): RateCard => {
    const meters = Object.fromEntries(
      PART_METERS.flatMap((name) =>
        one[name] === undefined ? [] : [[name, one[name]]]
      ),
    );
    const units = Object.fromEntries(
      UNIT_METERS.flatMap((name) =>
        one[name] === undefined ? [] : [[name, one[name]]]
      ),
    );
    const { input = 0, output = 0 } = one;
    return {
      input,
      cacheRead: one.cache_read ?? input,
      cacheWrite: one.cache_write ?? input,
      output,
      ...(Object.keys(units).length === 0 ? {} : { units }),
      ...(Object.keys(meters).length === 0 ? {} : { meters }),
      ...compact({ uses: one.uses, call: one.call }),
      ...(one.when === undefined ? {} : { when: one.when.map(conditionOf) }),
      ...(one.at_base_rate === undefined
        ? {}
        : { atBaseRate: new Set(one.at_base_rate) }),
      ...(one.from === undefined ? {} : { fromMs: Date.parse(one.from) }),
      ...compact({ version: one.version, source: one.source }),
    };
  });
}

function conditionOf(one: z.infer<typeof condition>): Condition {
  return {
    ...Object.fromEntries(
      DIMENSION_NAMES.flatMap((name) => {
        const value = valueOf(name, one[name]);
        return value === undefined ? [] : [[name, value]];
      }),
    ),
    ...compact({ promptAbove: one.prompt_above, factor: one.factor }),
    ...(one.rates === undefined ? {} : { rates: compact(one.rates) }),
  };
}

/** A card in the form of the configuration file, for JSON. */
export function cardJson(card: RateCard): Readonly<Record<string, unknown>> {
  const { meters, units, uses, call, when, atBaseRate } = card;
  const { fromMs, version, source } = card;
  return {
    ...(fromMs === undefined ? {} : { from: new Date(fromMs).toISOString() }),
    ...compact({ version, source }),
    input: card.input,
    cache_read: card.cacheRead,
    cache_write: card.cacheWrite,
    output: card.output,
    ...meters,
    ...units,
    ...compact({ uses, call }),
    ...(when === undefined ? {} : {
      when: when.map(({ promptAbove, ...one }) => ({
        ...one,
        ...compact({ prompt_above: promptAbove }),
      })),
    }),
    ...(atBaseRate === undefined ? {} : { at_base_rate: [...atBaseRate] }),
  };
}
