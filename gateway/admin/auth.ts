/**
 * Authenticates operators by the admin token, or by a token of their own. Limits the rate of wrong
 * ones.
 */
import { ApiError } from "../../translate/model/error.ts";
import { hashesEqual, keyHash } from "../accounts/key.ts";
import type { OperatorScope } from "../accounts/operator_scope.ts";
import type { OperatorTokenRepository } from "../accounts/repositories/operator_token_repository.ts";
import { wrongAttempts } from "../console/wrong_attempts.ts";

/** Who operates. */
export interface Operator {
  readonly scope: OperatorScope;
  /** Id of the operator token; absent for the admin token. */
  readonly id?: string;
}

export interface AdminAuth {
  /**
   * Who presents the token.
   *
   * @throws {ApiError} `authentication` for a wrong token, `rate_limit` after many of them;
   * `unavailable` for an operator token while the store is
   */
  verify(presented: string | undefined): Promise<Operator>;
}

/**
 * Creates the check. The admin token is compared in constant time, and its least length, checked
 * with the settings, makes guessing hopeless. `token` is asked each time, because its file may
 * change.
 */
export function adminAuth(
  token: () => string,
  tokens: Pick<OperatorTokenRepository, "verify">,
  now: () => number,
): AdminAuth {
  const wrong = wrongAttempts("admin token", now);
  return {
    async verify(presented) {
      if (
        presented !== undefined &&
        hashesEqual(keyHash(presented), keyHash(token()))
      ) return { scope: "administer" };
      const found = presented === undefined
        ? undefined
        : await tokens.verify(presented);
      if (found !== undefined) return found;
      wrong.count();
      throw new ApiError(
        "authentication",
        presented === undefined
          ? "no admin token: send it as `authorization: Bearer TOKEN`"
          : "wrong admin token: send the value of GATEWAY_ADMIN_TOKEN, or an operator token that is neither revoked nor expired",
        { retryable: false },
      );
    },
  };
}
