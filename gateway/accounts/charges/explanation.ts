/**
 * The arithmetic of a charge, exact in integers: quantities times the rates at the moment of the
 * call, per meter.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import { type ChargeLine, picoUsdOf, totalLines } from "./charge_lines.ts";
import { microUsdOf, parsePrice } from "./money.ts";
import { eachOf } from "./rate_card.ts";
import type { LedgerEntry } from "../records.ts";

/** A line of a charge with its cost. */
export interface ChargePart extends Omit<ChargeLine, "quantity"> {
  /** The meter's name, as {@linkcode ChargeLine} has it. */
  readonly of: string;
  /** Tokens, or uses. */
  readonly tokens: number;
  /** The rate with its factors: micro-dollars per million tokens, or per use. */
  readonly price: number;
  /** `tokens` times `price`: a whole number of 10⁻¹² dollars. */
  readonly picoUsd: bigint;
}

/** How a charge was computed. */
export interface Explanation {
  readonly parts: readonly ChargePart[];
  /** Sum of the parts. */
  readonly picoUsd: bigint;
  /** The sum in micro-dollars, rounded up: the amount charged. */
  readonly microUsd: number;
  /** The version of the card; absent where it had none. */
  readonly version?: string;
}

/** Explains a charge; undefined for an entry without a price: a top-up. */
export function explainCharge(entry: LedgerEntry): Explanation | undefined {
  if (entry.kind !== "charge" || entry.price === undefined) return undefined;
  const { version } = parsePrice(entry.price);
  const parts = linesOf(entry, entry.price).map((line): ChargePart => {
    const { quantity, ...rest } = line;
    return {
      ...rest,
      of: line.meter,
      tokens: quantity,
      price: eachOf(line),
      picoUsd: picoUsdOf(line),
    };
  });
  const picoUsd = parts.reduce((sum, one) => sum + one.picoUsd, 0n);
  return {
    parts,
    picoUsd,
    microUsd: microUsdOf(picoUsd),
    ...compact({ version }),
  };
}

/** The lines of a charge; without stored ones, the four totals at the four base rates. */
export function linesOf(
  entry: Pick<
    LedgerEntry,
    | "lines"
    | "inputTokens"
    | "cacheReadTokens"
    | "cacheWriteTokens"
    | "outputTokens"
  >,
  priceText: string,
): readonly ChargeLine[] {
  return entry.lines ?? totalLines(parsePrice(priceText), {
    input: entry.inputTokens,
    cacheRead: entry.cacheReadTokens,
    cacheWrite: entry.cacheWriteTokens,
    output: entry.outputTokens,
  });
}
