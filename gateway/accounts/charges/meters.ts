/**
 * What a vendor bills by: the one definition of meters and conditions. The configuration file's
 * shape, the cost of a call, its explanation, the models' JSON and the table in `docs/billing.md`
 * follow from it.
 */
import type { Usage } from "../../../translate/model/reply.ts";

/** Whether tokens are of the prompt or of the reply. */
type Direction = "in" | "out";

/** The totals that every card has a rate for; the other meters count parts of them. */
export type BaseMeter = "input" | "cache_read" | "cache_write" | "output";

/** What a meter counts. Its rate is in micro-dollars per million tokens. */
interface MeterDefinition {
  readonly direction: Direction;
  /** The name on pages and in exports. */
  readonly words: string;
  readonly counts: PartFigure | TotalFigure;
  /** The total that its tokens are a part of; absent: it is a total. */
  readonly partOf?: BaseMeter;
  /**
   * Whether its tokens cost what their total costs where a card has no rate for them. It holds for
   * what every vendor bills alike: images in a prompt, and the cache's shortest lives, which
   * vendors publish as the price of a cache write.
   */
  readonly asTotal?: true;
}

type TotalFigure = "input" | "cacheRead" | "cacheWrite" | "output";
type PartFigure =
  | "cacheWrite5m"
  | "cacheWrite30m"
  | "cacheWrite1h"
  | "cacheWrite12h"
  | "audioInput"
  | "imageInput"
  | "audioOutput"
  | "imageOutput";

const definitions = <T extends string>(
  meters: Readonly<Record<T, MeterDefinition>>,
): Readonly<Record<T, MeterDefinition>> => meters;

/** The meters of tokens, in the order of an explanation. */
export const METERS: Readonly<Record<MeterName, MeterDefinition>> = definitions(
  {
    input: { direction: "in", words: "Input", counts: "input" },
    audio_input: {
      direction: "in",
      words: "Audio input",
      counts: "audioInput",
      partOf: "input",
    },
    image_input: {
      direction: "in",
      words: "Image input",
      counts: "imageInput",
      partOf: "input",
      asTotal: true,
    },
    cache_read: { direction: "in", words: "Cache read", counts: "cacheRead" },
    cache_write: {
      direction: "in",
      words: "Cache write",
      counts: "cacheWrite",
    },
    cache_write_5m: {
      direction: "in",
      words: "Cache write, 5 minutes",
      counts: "cacheWrite5m",
      partOf: "cache_write",
      asTotal: true,
    },
    cache_write_30m: {
      direction: "in",
      words: "Cache write, 30 minutes",
      counts: "cacheWrite30m",
      partOf: "cache_write",
      asTotal: true,
    },
    cache_write_1h: {
      direction: "in",
      words: "Cache write, 1 hour",
      counts: "cacheWrite1h",
      partOf: "cache_write",
    },
    cache_write_12h: {
      direction: "in",
      words: "Cache write, 12 hours",
      counts: "cacheWrite12h",
      partOf: "cache_write",
    },
    output: { direction: "out", words: "Output", counts: "output" },
    audio_output: {
      direction: "out",
      words: "Audio output",
      counts: "audioOutput",
      partOf: "output",
    },
    image_output: {
      direction: "out",
      words: "Image output",
      counts: "imageOutput",
      partOf: "output",
    },
  },
);

/** A meter of tokens that counts a part of a total. */
export type PartMeter =
  | "audio_input"
  | "image_input"
  | "cache_write_5m"
  | "cache_write_30m"
  | "cache_write_1h"
  | "cache_write_12h"
  | "audio_output"
  | "image_output";

export type MeterName = BaseMeter | PartMeter;

/** The meters that count parts. */
export const PART_METERS: readonly PartMeter[] = Object.keys(METERS).filter((
  name,
): name is PartMeter => METERS[name as MeterName].partOf !== undefined);

/** What is counted of a call whose reply reports no tokens. */
interface UnitDefinition {
  /** The name on pages and in exports. */
  readonly words: string;
  /** What a rate is for: a million units, as for tokens, or one unit. */
  readonly per: "million" | "one";
}

/** A meter that counts no tokens. */
export type UnitMeter = "second" | "character" | "image";

/** The meters of calls through configured routes, in the order of an explanation. */
export const UNITS: Readonly<Record<UnitMeter, UnitDefinition>> = {
  second: { words: "Seconds", per: "million" },
  character: { words: "Characters", per: "million" },
  image: { words: "Images", per: "one" },
};

export const UNIT_METERS = Object.keys(UNITS) as readonly UnitMeter[];

/** Whether a meter counts something else than tokens, uses or calls. */
export function isUnit(meter: string): meter is UnitMeter {
  return Object.hasOwn(UNITS, meter);
}

/** Prefix of the meter of a tool's uses: `uses.web_search`. */
export const USES = "uses.";
/** The meter whose rate is for each call that used anything. */
export const CALL_METER = "call";

/** The name of any meter on pages. */
export function meterWords(meter: string): string {
  if (meter.startsWith(USES)) {
    return `Uses of ${meter.slice(USES.length).replaceAll("_", " ")}`;
  }
  if (isUnit(meter)) return UNITS[meter].words;
  return meter === CALL_METER
    ? "Calls"
    : METERS[meter as MeterName]?.words ?? meter;
}

/** Whether a meter's rate is for one use, call or image, not for a million of what it counts. */
export function isPerUse(meter: string): boolean {
  return meter === CALL_METER || meter.startsWith(USES) ||
    (isUnit(meter) && UNITS[meter].per === "one");
}

/** What a condition of a card is about. */
interface DimensionDefinition {
  readonly words: string;
  /** The value that a reply reports. */
  readonly said: (usage: Usage) => string | undefined;
  /** Values that mean the base rate, in whatever format. */
  readonly neutral: ReadonlySet<string>;
  /** Values that mean another one: replies and requests do not use the same words. */
  readonly same: Readonly<Record<string, string>>;
}

/** What the rates of a call can depend on, besides the length of its prompt. */
export type Dimension = "tier" | "speed" | "region";

/** The dimensions, in the order of an explanation. */
const DIMENSIONS: Readonly<Record<Dimension, DimensionDefinition>> = {
  tier: {
    words: "Service tier",
    said: ({ tier }) => tier,
    neutral: new Set([
      "auto",
      "default",
      "standard",
      "standard_only",
      "on_demand",
    ]),
    same: { fast: "priority" },
  },
  speed: {
    words: "Speed",
    said: ({ speed }) => speed,
    neutral: new Set(["standard"]),
    same: {},
  },
  region: {
    words: "Region",
    said: ({ region }) => region,
    neutral: new Set(["global", "not_available"]),
    same: {},
  },
};

export const DIMENSION_NAMES: readonly Dimension[] = [
  "tier",
  "speed",
  "region",
];

/** A dimension's value in one word for all formats; undefined where it means the base rate. */
export function valueOf(
  dimension: Dimension,
  said: string | undefined,
): string | undefined {
  if (said === undefined || said === "") return undefined;
  const { neutral, same } = DIMENSIONS[dimension];
  const lower = said.toLowerCase();
  return neutral.has(lower) ? undefined : same[lower] ?? lower;
}
