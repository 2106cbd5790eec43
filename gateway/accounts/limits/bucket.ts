/**
 * A limit per minute, as a leaky bucket: consumed units leak away evenly, the whole limit
 * in a minute. So there is no minute boundary at which twice the limit passes, and no
 * second at which every client retries.
 *
 * The level is counted in 1/60,000 of a unit: the amount that leaks per millisecond and
 * unit of the limit. So every level is a whole number and every comparison exact.
 */
import type { LimitState } from "../accounts.ts";

/** Level of a bucket at a point in time. */
export interface Bucket {
  /** In 1/60,000 of a unit. May exceed the limit if a call used more than was estimated. */
  readonly level: number;
  /** Unix time in milliseconds to which the level applies. */
  readonly atMs: number;
}

const MINUTE_MS = 60_000;

/**
 * The bucket at `nowMs`. An earlier `nowMs` changes nothing, unless the bucket's time must come
 * from a wrong clock: then the level leaks from now on. Without a limit the bucket is empty, so
 * that a limit set later starts afresh.
 */
export function leak(
  bucket: Bucket,
  limit: number | undefined,
  nowMs: number,
): Bucket {
  const isFuture = bucket.atMs - nowMs > MINUTE_MS;
  if (limit === undefined) {
    return { level: 0, atMs: isFuture ? nowMs : Math.max(nowMs, bucket.atMs) };
  }
  if (isFuture) return { ...bucket, atMs: nowMs };
  if (nowMs <= bucket.atMs) return bucket;
  const level = bucket.level - limit * (nowMs - bucket.atMs);
  return { level: Math.max(0, level), atMs: nowMs };
}

/** The bucket with `units` consumed, or returned if negative. */
export function consume(bucket: Bucket, units: number): Bucket {
  return {
    ...bucket,
    level: Math.max(0, bucket.level + units * MINUTE_MS),
  };
}

/** Milliseconds until `units`, at most the whole limit, fit; 0 if they fit now. */
export function waitMs(bucket: Bucket, limit: number, units: number): number {
  const excess = bucket.level + units * MINUTE_MS - limit * MINUTE_MS;
  return Math.max(0, Math.ceil(excess / limit));
}

/** The bucket's state for rate-limit headers. */
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
