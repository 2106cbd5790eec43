/**
 * What a credential of an account may see.
 *
 * @module
 */
import type { Holder } from "../accounts/credential_kind.ts";

/** The account of a credential, and its key where it is limited to one. */
export interface AccountScope {
  /** Only data of this account. */
  readonly accountId: string;
  /** Only data of this key; absent: of every key of the account. */
  readonly keyId?: string;
}

/** What a credential may see: a key itself, a token the whole account. */
export function scopeOf({ kind, id, accountId }: Holder): AccountScope {
  return { accountId, ...(kind === "key" ? { keyId: id } : {}) };
}
