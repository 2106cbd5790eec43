/**
 * Who may administer: whoever has the token. Compared in constant time; wrong ones are slowed down.
 *
 * @module
 */
import { ApiError } from "../../translate/error.ts";
import { type Bucket, drawn, leaked, waitMs } from "../accounts/bucket.ts";
import { keyHash, sameHash } from "../accounts/key.ts";

/** Lets those with the token in. */
export interface AdminGate {
  /**
   * Lets the right token pass.
   *
   * @throws {ApiError} `authentication` for a wrong token, `rate_limit` after many of them
   */
  admit(presented: string | undefined): void;
}

/** As many wrong tokens a minute are answered as such. */
const WRONG_PER_MINUTE = 10;

/**
 * Makes a gate. The right token is always let in: a limit that also held it back would let anybody lock the operators out. What
 * keeps guessing hopeless is the token's length, which the settings see to.
 */
export function openGate(token: string, now: () => number): AdminGate {
  const hash = keyHash(token);
  let wrong: Bucket = { level: 0, atMs: now() };
  return {
    admit(presented) {
      if (presented !== undefined && sameHash(keyHash(presented), hash)) return;
      wrong = leaked(wrong, WRONG_PER_MINUTE, now());
      const ms = waitMs(wrong, WRONG_PER_MINUTE, 1);
      if (ms > 0) {
        throw new ApiError("rate_limit", "too many wrong admin tokens", {
          code: "rate_limit_exceeded",
          retryAfterSeconds: Math.ceil(ms / 1000),
        });
      }
      wrong = drawn(wrong, 1);
      throw new ApiError(
        "authentication",
        presented === undefined
          ? "no admin token: send it as `authorization: Bearer TOKEN`"
          : "wrong admin token",
        { retryable: false },
      );
    },
  };
}
