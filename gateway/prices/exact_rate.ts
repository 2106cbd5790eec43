/**
 * Reads a rate of a price table digit by digit: amounts of money never pass through a float.
 */

/** Decimal places from dollars a token to micro-dollars a million tokens. */
export const PER_TOKEN = 12;
/** Decimal places from dollars to micro-dollars, and so from dollars a million tokens. */
export const PER_DOLLAR = 6;

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;
/** Longer amounts are no prices, and would exceed a double's precision. */
const MOST_DIGITS = 15;

/** A whole amount, or why there is none. */
type ExactRate =
  | { readonly microUsd: number }
  | { readonly problem: string };

/**
 * The number of a JSON text, `places` decimal places to the left, as a whole number.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * assert.deepEqual(exactRate("6.25e-06", PER_TOKEN), { microUsd: 6_250_000 });
 * ```
 */
export function exactRate(text: string, places: number): ExactRate {
  const match = DECIMAL.exec(text);
  if (match === null) return { problem: `${text} is no number` };
  const [, sign, whole = "", part = "", exponent = "0"] = match;
  const digits = `${whole}${part}`.replace(/^0+/, "");
  if (digits === "") return { microUsd: 0 };
  if (sign === "-") return { problem: `${text} is below zero` };
  const shift = Number(exponent) - part.length + places;
  const end = digits.length + shift;
  if (end > MOST_DIGITS) return { problem: `${text} is too large` };
  if (shift >= 0) return { microUsd: Number(digits + "0".repeat(shift)) };
  const kept = digits.slice(0, Math.max(end, 0));
  return /^0*$/.test(digits.slice(kept.length)) && end > 0
    ? { microUsd: Number(kept) }
    : { problem: `${text} is no whole number of micro-dollars` };
}
