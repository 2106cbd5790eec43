/**
 * Authenticates operators by the admin token. Compares in constant time and limits the rate
 * of wrong tokens.
 */
import { ApiError } from "../../translate/model/error.ts";
import { hashesEqual, keyHash } from "../accounts/key.ts";
import { wrongAttempts } from "../console/wrong_attempts.ts";

export interface AdminAuth {
  /**
   * Returns for the right token.
   *
   * @throws {ApiError} `authentication` for a wrong token, `rate_limit` after many of them
   */
  verify(presented: string | undefined): void;
}

/**
 * Creates the check. The minimum token length, checked with the settings, makes guessing
 * hopeless. `token` is asked each time, because its file may change.
 */
export function adminAuth(token: () => string, now: () => number): AdminAuth {
  const wrong = wrongAttempts("admin token", now);
  return {
    verify(presented) {
      if (
        presented !== undefined &&
        hashesEqual(keyHash(presented), keyHash(token()))
      ) return;
      wrong.count();
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
