/**
 * Medians, quantiles, and the exponent of a growth.
 *
 * @module
 */

/** The value below which a part of the values is, between 0 and 1; not a number where there are none. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * part;
  const low = sorted[Math.floor(at)] ?? NaN;
  const high = sorted[Math.ceil(at)] ?? NaN;
  return low + (high - low) * (at - Math.floor(at));
}

/** The value in the middle. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The median with the lowest and the highest value. */
export interface Spread {
  /** In the middle. */
  readonly median: number;
  /** The lowest. */
  readonly low: number;
  /** The highest. */
  readonly high: number;
}

/** Sums values up; undefined where there are none. */
export function spreadOf(values: readonly number[]): Spread | undefined {
  if (values.length === 0) return undefined;
  return {
    median: median(values),
    low: Math.min(...values),
    high: Math.max(...values),
  };
}

/**
 * The exponent with which y grows with x: the slope of the straight line that fits best where both are logarithms. 1 is linear, 2
 * quadratic.
 */
export function exponent(
  points: readonly { readonly x: number; readonly y: number }[],
): number {
  const logs = points.map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }));
  const meanX = logs.reduce((sum, { x }) => sum + x, 0) / logs.length;
  const meanY = logs.reduce((sum, { y }) => sum + y, 0) / logs.length;
  let above = 0;
  let below = 0;
  for (const { x, y } of logs) {
    above += (x - meanX) * (y - meanY);
    below += (x - meanX) ** 2;
  }
  return above / below;
}
