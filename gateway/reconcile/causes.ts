/**
 * Why an amount of a vendor's export differs from that of the books. The parts add up to the
 * difference exactly.
 */
import type { Tokens } from "../accounts/charges/money.ts";
import { type InvoiceLine, sumsOf } from "./invoice.ts";
import { covers, plus, worths } from "./invoice_values.ts";

/** Parts of a difference, theirs minus ours, in 10⁻¹² dollars. */
export interface Causes {
  /** Tokens that differ, as far as calls whose charge is an estimate explain it. */
  readonly oursEstimated: bigint;
  /** In the books, not in the file: negative. */
  readonly theirsMissing: bigint;
  /** In the file, not in the books: positive. */
  readonly oursMissing: bigint;
  /** Lines that the file has more than once. */
  readonly doubled: bigint;
  /**
   * The same tokens, billed for another cache life, tier, speed or region, or with other searches.
   */
  readonly billedOtherwise: bigint;
  /** The same tokens at another price. */
  readonly priceChanged: bigint;
  /** Amounts differ, and the file has no tokens that would explain it. */
  readonly unexplained: bigint;
  /** At most a micro-dollar a call, and half a unit of the last decimal a line of the file. */
  readonly rounding: bigint;
}

/** A difference without parts. */
export const NO_CAUSES: Causes = {
  oursEstimated: 0n,
  theirsMissing: 0n,
  oursMissing: 0n,
  doubled: 0n,
  billedOtherwise: 0n,
  priceChanged: 0n,
  unexplained: 0n,
  rounding: 0n,
};

/** What the books have of a model on a day. */
export interface OwnSums {
  readonly calls: number;
  readonly tokens: Tokens;
  readonly picoUsd: bigint;
  /** Part of the cost that is an estimate. */
  readonly estimatedPicoUsd: bigint;
}

/** A line that the file has more often than the books explain. */
interface DoubledLine {
  readonly line: InvoiceLine;
  /** How many times too often. */
  readonly times: number;
  readonly picoUsd: bigint;
}

/** A micro-dollar: each charge is rounded up to one. */
export const PICO_PER_MICRO = 1_000_000n;

/** A difference in its parts, and the lines of the part `doubled`. */
interface Split {
  readonly causes: Causes;
  readonly doubled: readonly DoubledLine[];
}

/**
 * Splits the difference of a day and model by their sums.
 *
 * @param price in micro-dollars per million tokens
 * @param otherwise what the other cache lives, tiers, speeds, regions and searches of the file
 * cost, at our prices, more than those of the books
 */
export function splitDifference(
  ours: OwnSums,
  lines: readonly InvoiceLine[],
  price: Tokens,
  otherwise: bigint = 0n,
): Split {
  const { tokens, amount } = sumsOf(lines);
  const worth = (of: Tokens): bigint => sum(worths(of, price));
  // Where the file has no amounts, its tokens are worth what ours are.
  const total = amount?.picoUsd ??
    worth(tokens ?? ours.tokens) + ours.picoUsd - worth(ours.tokens) +
      otherwise;
  if (lines.length === 0) {
    return {
      causes: { ...NO_CAUSES, theirsMissing: -ours.picoUsd },
      doubled: [],
    };
  }
  const doubled = doubledLines(ours, lines, worth);
  const doubledPico = sum(doubled.map(({ picoUsd }) => picoUsd));
  if (ours.calls === 0) {
    return {
      causes: {
        ...NO_CAUSES,
        doubled: doubledPico,
        oursMissing: total - doubledPico,
      },
      doubled,
    };
  }
  if (tokens === undefined) {
    const rest = total - doubledPico - ours.picoUsd;
    const isRounding = size(rest) <= tolerance(ours, lines);
    return {
      causes: {
        ...NO_CAUSES,
        doubled: doubledPico,
        [isRounding ? "rounding" : "unexplained"]: rest,
      },
      doubled,
    };
  }
  let left = tokens;
  for (const { line, times } of doubled) {
    if (line.tokens !== undefined) left = plus(left, line.tokens, -times);
  }
  const differences = worths(plus(left, ours.tokens, -1), price);
  let more = sum(differences.filter((one) => one > 0n));
  let less = sum(differences.filter((one) => one < 0n));
  const oursEstimated = within(more + less, ours.estimatedPicoUsd);
  if (oursEstimated > 0n) more -= oursEstimated;
  else less -= oursEstimated;
  const theirPrice = total - doubledPico - worth(left);
  const ourPrice = worth(ours.tokens) - ours.picoUsd;
  // A vendor may round each call up as well.
  const isTheirRounding = size(theirPrice) <= tolerance(ours, lines);
  const isOurRounding = size(ourPrice) <= BigInt(ours.calls) * PICO_PER_MICRO;
  const changed = (isTheirRounding ? 0n : theirPrice) +
    (isOurRounding ? 0n : ourPrice);
  const billedOtherwise = (changed > 0n) === (otherwise > 0n)
    ? within(changed, size(otherwise))
    : 0n;
  return {
    causes: {
      ...NO_CAUSES,
      oursEstimated,
      oursMissing: more,
      theirsMissing: less,
      doubled: doubledPico,
      billedOtherwise,
      priceChanged: changed - billedOtherwise,
      rounding: (isTheirRounding ? theirPrice : 0n) +
        (isOurRounding ? ourPrice : 0n),
    },
    doubled,
  };
}

/**
 * Lines that occur more than once, counted only as far as the file exceeds the books: calls of
 * equal size have equal lines without being doubled.
 */
function doubledLines(
  ours: OwnSums,
  lines: readonly InvoiceLine[],
  worth: (of: Tokens) => bigint,
): readonly DoubledLine[] {
  const { tokens: allTokens, amount } = sumsOf(lines);
  let tokens = allTokens;
  let excess = (amount?.picoUsd ?? 0n) - ours.picoUsd;
  const found: DoubledLine[] = [];
  for (const line of lines) {
    const each = line.amount?.picoUsd ?? worth(line.tokens ?? ours.tokens);
    let times = 0;
    for (; times < line.count - 1; times++) {
      if (line.tokens !== undefined && tokens !== undefined) {
        const rest = plus(tokens, line.tokens, -1);
        if (!covers(rest, ours.tokens, line.tokens)) break;
        tokens = rest;
      } else {
        if (each <= 0n || excess < each) break;
        excess -= each;
      }
    }
    if (times > 0) found.push({ line, times, picoUsd: each * BigInt(times) });
  }
  return found;
}

/** The largest difference of the amounts that rounding alone can make. */
export function tolerance(
  { calls }: Pick<OwnSums, "calls">,
  lines: readonly InvoiceLine[],
): bigint {
  return BigInt(calls) * PICO_PER_MICRO +
    (sumsOf(lines).amount?.roundedBy ?? 0n);
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((a, b) => a + b, 0n);
}

function size(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function within(value: bigint, limit: bigint): bigint {
  return value > limit ? limit : value < -limit ? -limit : value;
}

/** The difference that the parts add up to. */
export function differenceOf(causes: Causes): bigint {
  return sum(Object.values(causes));
}

/** Adds parts. */
export function plusCauses(a: Causes, b: Causes): Causes {
  return {
    oursEstimated: a.oursEstimated + b.oursEstimated,
    theirsMissing: a.theirsMissing + b.theirsMissing,
    oursMissing: a.oursMissing + b.oursMissing,
    doubled: a.doubled + b.doubled,
    billedOtherwise: a.billedOtherwise + b.billedOtherwise,
    priceChanged: a.priceChanged + b.priceChanged,
    unexplained: a.unexplained + b.unexplained,
    rounding: a.rounding + b.rounding,
  };
}
