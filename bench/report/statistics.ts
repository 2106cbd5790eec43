/**
 * Quantiles, and the exponent of a growth.
 */

/** The quantile of `part` (0 to 1), interpolated; NaN without values. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * part;
  const low = sorted[Math.floor(at)] ?? NaN;
  const high = sorted[Math.ceil(at)] ?? NaN;
  return low + (high - low) * (at - Math.floor(at));
}

/** The median; NaN without values. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The median and the range of some values. */
export interface Spread {
  readonly median: number;
  /** The lowest value. */
  readonly low: number;
  /** The highest value. */
  readonly high: number;
}

/** The median and the range; undefined without values. */
export function spreadOf(values: readonly number[]): Spread | undefined {
  if (values.length === 0) return undefined;
  return {
    median: median(values),
    low: Math.min(...values),
    high: Math.max(...values),
  };
}

/**
 * The exponent k of y ~ x^k, by linear regression on the logarithms: 1 is linear, 2 is quadratic.
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
