/**
 * Limits the concurrent calls of this process, in total and per key. A call beyond a limit is
 * refused at once, before its body is read: there is no queue.
 */
import { ApiError } from "../../translate/model/error.ts";

export interface ConcurrencySlot {
  /** Releases the slot. Further calls do nothing. */
  release(): void;
}

export interface ConcurrencyLimiter {
  /** Number of acquired slots. */
  inUse(): number;
  /**
   * Acquires a slot for a call of a key.
   *
   * @throws {ApiError} `overloaded` if no slot is free, `rate_limit` if the key is at its own limit
   */
  acquire(keyId: string): ConcurrencySlot;
}

/** Suggested to clients, because the end of a running call cannot be predicted. */
const RETRY_SECONDS = 1;

/** Creates a limiter with `limit` slots. One key may hold at most `limitPerKey`. */
export function concurrencyLimiter(
  limit: number,
  limitPerKey: number,
): ConcurrencyLimiter {
  let inUse = 0;
  const byKey = new Map<string, number>();
  return {
    inUse: () => inUse,
    acquire(keyId) {
      if (inUse >= limit) {
        throw new ApiError(
          "overloaded",
          "the gateway has reached its limit of concurrent calls; try again",
          {
            retryAfterSeconds: RETRY_SECONDS,
            fill: { limit, used: inUse, needed: 1 },
          },
        );
      }
      const own = byKey.get(keyId) ?? 0;
      if (own >= limitPerKey) {
        throw new ApiError(
          "rate_limit",
          `the key has reached its limit of ${own} concurrent calls; try again`,
          {
            code: "concurrent_requests",
            retryAfterSeconds: RETRY_SECONDS,
            fill: { limit: limitPerKey, used: own, needed: 1 },
          },
        );
      }
      inUse++;
      byKey.set(keyId, own + 1);
      let isHeld = true;
      return {
        release() {
          if (!isHeld) return;
          isHeld = false;
          inUse--;
          const remaining = (byKey.get(keyId) ?? 1) - 1;
          if (remaining === 0) byKey.delete(keyId);
          else byKey.set(keyId, remaining);
        },
      };
    },
  };
}
