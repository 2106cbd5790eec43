/**
 * How many calls may be under way in this process. Beyond that a call is refused at once, before its body is read: a gateway
 * that takes everything in ends up serving nobody.
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
   * Takes one.
   *
   * @throws {ApiError} `overloaded` where none is left
   */
  take(): Slot;
}

/** When a call will end is not known: a client asks again after this. */
const RETRY_SECONDS = 1;

/** Makes `most` places. */
export function createSlots(most: number): Slots {
  let taken = 0;
  return {
    taken: () => taken,
    take() {
      if (taken >= most) {
        throw new ApiError(
          "overloaded",
          "the gateway has as many calls under way as it can take; try again",
          { retryAfterSeconds: RETRY_SECONDS },
        );
      }
      taken++;
      let held = true;
      return {
        release() {
          if (!held) return;
          held = false;
          taken--;
        },
      };
    },
  };
}
