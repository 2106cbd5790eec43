/**
 * What a credential of an account may see.
 *
 * @module
 */

/** The account of a credential, and its key where it is limited to one. */
export interface AccountScope {
  /** Only data of this account. */
  readonly accountId: string;
  /** Only data of this key; absent: of every key of the account. */
  readonly keyId?: string;
}
