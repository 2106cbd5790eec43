/**
 * How many calls may be under way in this process, in all and for one key. Beyond that a call is refused at once, before its body
 * is read: a gateway that takes everything in ends up serving nobody, and one key must not take every place. Nothing queues.
 *
 * @module
 */
import { ApiError } from "../translate/error.ts";

/** A place for one call. */
export interface Slot {
  /** Gives the place back; doing so again does nothing. */
  release(): void;
}

/** The places. */
export interface Slots {
  /** How many are taken. */
  taken(): number;
  /**
   * Takes one for a call of a key.
   *
   * @throws {ApiError} `overloaded` where none is left, `rate_limit` where the key has as many as it may have
   */
  take(keyId: string): Slot;
}

/** When a call will end is not known: a client asks again after this. */
const RETRY_SECONDS = 1;

/** Makes `most` places, of which one key may take `mostPerKey`. */
export function createSlots(most: number, mostPerKey: number): Slots {
  let taken = 0;
  const byKey = new Map<string, number>();
  return {
    taken: () => taken,
    take(keyId) {
      if (taken >= most) {
        throw new ApiError(
          "overloaded",
          "the gateway has as many calls under way as it can take; try again",
          { retryAfterSeconds: RETRY_SECONDS },
        );
      }
      const own = byKey.get(keyId) ?? 0;
      if (own >= mostPerKey) {
        throw new ApiError(
          "rate_limit",
          `the key has ${own} calls under way, which is as many as one key may have at once; try again`,
          { code: "concurrent_requests", retryAfterSeconds: RETRY_SECONDS },
        );
      }
      taken++;
      byKey.set(keyId, own + 1);
      let held = true;
      return {
        release() {
          if (!held) return;
          held = false;
          taken--;
          const left = (byKey.get(keyId) ?? 1) - 1;
          if (left === 0) byKey.delete(keyId);
          else byKey.set(keyId, left);
        },
      };
    },
  };
}
