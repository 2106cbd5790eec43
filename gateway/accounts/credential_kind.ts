/**
 * The kinds of credentials, and what each may do. The kind is fixed when a credential is made, and
 * this table is the only place that grants anything: no field of a request widens it.
 */
import { ApiError } from "../../translate/model/error.ts";

/** `read` and `manage` are the scopes of account tokens and sign-in links. */
export type CredentialKind = "key" | "read" | "manage" | "operator";

/** Which kinds may do what. */
const PERMITTED = {
  /** See its own usage, calls, limits and models; a token sees those of its whole account. */
  look: ["key", "read", "manage"],
  /** See the account's keys, ledger, tokens and sessions. */
  see_account: ["read", "manage"],
  /** Issue, rotate and revoke keys and `read` tokens of the account; end its sessions. */
  manage: ["manage"],
  /** Revoke the key that is presented. */
  revoke_itself: ["key"],
  /** Everything in the operator's area and under `/admin/v1`. */
  operate: ["operator"],
} as const satisfies Readonly<Record<string, readonly CredentialKind[]>>;

/** Something that a credential's kind permits or not. */
export type Permission = keyof typeof PERMITTED;

/** A credential that was verified. */
export interface Holder {
  /** Decides what it may do. */
  readonly kind: Exclude<CredentialKind, "operator">;
  /** Id of the key, token or sign-in link. */
  readonly id: string;
  readonly accountId: string;
}

/** Whether a kind has a permission. */
export function isPermitted(
  kind: CredentialKind,
  permission: Permission,
): boolean {
  const kinds: readonly CredentialKind[] = PERMITTED[permission];
  return kinds.includes(kind);
}

const NAMES: Readonly<Record<CredentialKind, string>> = {
  key: "an API key",
  read: "an account token with the scope read",
  manage: "an account token with the scope manage",
  operator: "the operator's token",
};

/** The kind in words, with its article. */
function kindName(kind: CredentialKind): string {
  return NAMES[kind];
}

/**
 * Refuses a kind without the permission.
 *
 * @throws {ApiError} `permission`, naming the kinds that have it
 */
export function requirePermission(
  kind: CredentialKind,
  permission: Permission,
): void {
  if (isPermitted(kind, permission)) return;
  const kinds: readonly CredentialKind[] = PERMITTED[permission];
  throw new ApiError(
    "permission",
    `${kindName(kind)} may not do this; ${
      kinds.map(kindName).join(", or ")
    } may`,
    { code: "wrong_credential", retryable: false },
  );
}
