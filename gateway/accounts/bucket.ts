/**
 * One limit per minute as a leaky bucket: what is drawn leaks away evenly, the whole limit in a minute. So there is no edge of
 * a minute at which twice the limit fits through, and no time at which everybody waits for the same second.
 *
 * The level is counted in 1/60,000 of a unit. That is what leaks in a millisecond per unit of the limit, so every figure is a
 * whole number and every edge exact.
 *
 * @module
 */
import type { LimitState } from "./accounts.ts";

/** How full a bucket was, and when. */
export interface Bucket {
  /** In 1/60,000 of a unit. May be above the limit: more came out than was foreseen. */
  readonly level: number;
  /** When it was that full. */
  readonly atMs: number;
}

const MINUTE_MS = 60_000;

/**
 * The bucket as it is now. A clock that runs behind leaks nothing and takes nothing back. Without a limit it is empty: one that
 * is set later begins anew.
 */
export function leaked(
  bucket: Bucket,
  limit: number | undefined,
  nowMs: number,
): Bucket {
  if (limit === undefined) {
    return { level: 0, atMs: Math.max(nowMs, bucket.atMs) };
  }
  if (nowMs <= bucket.atMs) return bucket;
  const level = bucket.level - limit * (nowMs - bucket.atMs);
  return { level: Math.max(0, level), atMs: nowMs };
}

/** A bucket with `units` more in it; fewer, where they are negative. */
export function drawn(bucket: Bucket, units: number): Bucket {
  return {
    ...bucket,
    level: Math.max(0, bucket.level + units * MINUTE_MS),
  };
}

/**
 * How long until `units` fit, in milliseconds; 0 where they do now. What is larger than the whole limit fits into an empty
 * bucket: it must be possible some time, and is paid for with the wait of those after it.
 */
export function waitMs(bucket: Bucket, limit: number, units: number): number {
  const excess = bucket.level + Math.min(units, limit) * MINUTE_MS -
    limit * MINUTE_MS;
  return Math.max(0, Math.ceil(excess / limit));
}

/** What rate-limit headers tell of it. */
export function limitState(bucket: Bucket, limit: number): LimitState {
  return {
    limit,
    remaining: Math.max(
      0,
      Math.floor((limit * MINUTE_MS - bucket.level) / MINUTE_MS),
    ),
    resetAtMs: bucket.atMs + Math.ceil(bucket.level / limit),
  };
}
