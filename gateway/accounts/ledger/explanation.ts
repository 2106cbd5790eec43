/**
 * The arithmetic of a charge, exact in integers: tokens times the price at the moment of the
 * call, per kind of token.
 *
 * @module
 */
import { type ModelPrice, parsePrice } from "./money.ts";
import type { LedgerEntry } from "../records.ts";

/** One kind of token in a charge. */
export interface ChargePart {
  readonly of: "input" | "cache_read" | "cache_write" | "output";
  readonly tokens: number;
  /** Price in micro-dollars per million tokens. */
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
}

const PICO_PER_MICRO = 1_000_000n;

/** Explains a charge; undefined for an entry without a price: a top-up. */
export function explainCharge(entry: LedgerEntry): Explanation | undefined {
  if (entry.kind !== "charge" || entry.price === undefined) return undefined;
  const price: ModelPrice = parsePrice(entry.price);
  const part = (
    of: ChargePart["of"],
    tokens: number,
    each: number,
  ): ChargePart => ({
    of,
    tokens,
    price: each,
    picoUsd: BigInt(tokens) * BigInt(each),
  });
  const parts = [
    part("input", entry.inputTokens, price.input),
    part("cache_read", entry.cacheReadTokens, price.cacheRead),
    part("cache_write", entry.cacheWriteTokens, price.cacheWrite),
    part("output", entry.outputTokens, price.output),
  ];
  const picoUsd = parts.reduce((sum, one) => sum + one.picoUsd, 0n);
  return {
    parts,
    picoUsd,
    microUsd: Number((picoUsd + PICO_PER_MICRO - 1n) / PICO_PER_MICRO),
  };
}
