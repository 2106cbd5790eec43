/**
 * Limits the rate of wrong credentials. The right credential always passes: if the limit applied to
 * it too, an attacker could lock its owner out.
 */
import { ApiError } from "../../translate/model/error.ts";
import {
  type Bucket,
  consume,
  leak,
  waitMs,
} from "../accounts/limits/bucket.ts";

/** Counts wrong attempts of this process in one area. */
export interface WrongAttempts {
  /**
   * Counts a wrong attempt.
   *
   * @throws {ApiError} `rate_limit` if there were too many within a minute
   */
  count(): void;
}

/** Wrong attempts per minute that are answered; further ones are refused. */
const WRONG_PER_MINUTE = 10;

/** Creates a counter; `what` is presented wrongly, for the error text. */
export function wrongAttempts(what: string, now: () => number): WrongAttempts {
  let wrong: Bucket = { level: 0, atMs: now() };
  return {
    count() {
      wrong = leak(wrong, WRONG_PER_MINUTE, now());
      const ms = waitMs(wrong, WRONG_PER_MINUTE, 1);
      if (ms > 0) {
        throw new ApiError(
          "rate_limit",
          `too many requests with a wrong ${what}; try again later`,
          {
            code: "rate_limit_exceeded",
            retryAfterSeconds: Math.ceil(ms / 1000),
          },
        );
      }
      wrong = consume(wrong, 1);
    },
  };
}
