/**
 * What a credential of an account may see.
 */
import { invalidField } from "../../translate/model/error.ts";
import type { Holder } from "../accounts/credential_kind.ts";

/** The account of a credential, and its key where it is limited to one. */
export interface AccountScope {
  /** Only data of this account. */
  readonly accountId: string;
  /** Only data of this key; absent: of every key of the account. */
  readonly keyId?: string;
}

/**
 * Checks a filter by key against the scope.
 *
 * @throws {ApiError} `invalid_request` for another key than the scope's
 */
export function assertOwnKey(
  scope: AccountScope,
  keyId: string | undefined,
): void {
  if (
    scope.keyId !== undefined && keyId !== undefined && keyId !== scope.keyId
  ) {
    throw invalidField("key", "must be the key that makes the request");
  }
}

/** What a credential may see: a key itself, a token the whole account. */
export function scopeOf({ kind, id, accountId }: Holder): AccountScope {
  return { accountId, ...(kind === "key" ? { keyId: id } : {}) };
}
