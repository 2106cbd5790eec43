/**
 * Authenticates operators by the admin token. Compares in constant time and limits the rate
 * of wrong tokens.
 *
 * @module
 */
import { ApiError } from "../../translate/model/error.ts";
import {
  type Bucket,
  consume,
  leak,
  waitMs,
} from "../accounts/ledger/bucket.ts";
import { hashesEqual, keyHash } from "../accounts/key.ts";

/** Verifies the admin token. */
export interface AdminAuth {
  /**
   * Returns for the right token.
   *
   * @throws {ApiError} `authentication` for a wrong token, `rate_limit` after many of them
   */
  verify(presented: string | undefined): void;
}

/** Wrong tokens per minute that get 401; further ones get 429. */
const WRONG_PER_MINUTE = 10;

/**
 * Creates the check. The right token always passes: if the limit applied to it too, an
 * attacker could lock the operators out. The minimum token length, checked with the
 * settings, makes guessing hopeless.
 */
export function adminAuth(token: string, now: () => number): AdminAuth {
  const hash = keyHash(token);
  let wrong: Bucket = { level: 0, atMs: now() };
  return {
    verify(presented) {
      if (presented !== undefined && hashesEqual(keyHash(presented), hash)) {
        return;
      }
      wrong = leak(wrong, WRONG_PER_MINUTE, now());
      const ms = waitMs(wrong, WRONG_PER_MINUTE, 1);
      if (ms > 0) {
        throw new ApiError(
          "rate_limit",
          "too many requests with a wrong admin token; try again later",
          {
            code: "rate_limit_exceeded",
            retryAfterSeconds: Math.ceil(ms / 1000),
          },
        );
      }
      wrong = consume(wrong, 1);
      throw new ApiError(
        "authentication",
        presented === undefined
          ? "no admin token: send it as `authorization: Bearer TOKEN`"
          : "wrong admin token: send the value of GATEWAY_ADMIN_TOKEN",
        { retryable: false },
      );
    },
  };
}
