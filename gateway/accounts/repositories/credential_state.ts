/**
 * The state on which the calls of a credential are decided, read from the store.
 */
import type { Holder } from "../credential_kind.ts";
import { type AccountState, advanceTo } from "../ledger/account_state.ts";
import { keyAt, type KeyState } from "../ledger/key_state.ts";
import { readAccountStates } from "../rows/account_state_rows.ts";
import { readKeyStates } from "../rows/key_state_rows.ts";
import { intOf, type Sql } from "../store/store.ts";
import { notFound, readRows, type RepositoryContext } from "./repository.ts";

export interface CredentialState {
  /** The time of the state, as Unix time in milliseconds. */
  readonly atMs: number;
  /** Balances, plan and what is used of its limits. */
  readonly account: AccountState;
  /** What is used of the key's own limits; absent: a token, or a key without any. */
  readonly key?: KeyState;
  /** End of the key or token, as Unix time in milliseconds; absent: none. */
  readonly expiresAtMs?: number;
}

/**
 * Reads the state of a credential now.
 *
 * @throws {ApiError} `not_found` for the account; `unavailable`
 */
export async function credentialState(
  context: RepositoryContext,
  { kind, id, accountId }: Holder,
): Promise<CredentialState> {
  const { store: { dialect } } = context;
  const sql: Sql = { all: (text, values) => readRows(context, text, values) };
  const [accounts, keys, [credential]] = await Promise.all([
    readAccountStates(sql, dialect, [accountId]),
    readKeyStates(sql, dialect, kind === "key" ? [id] : []),
    sql.all(
      `SELECT expires_at_ms FROM ${
        kind === "key" ? "keys" : "account_tokens"
      } WHERE id = $1 AND expires_at_ms IS NOT NULL`,
      [id],
    ),
  ]);
  const account = accounts.get(accountId);
  if (account === undefined) throw notFound("account", accountId);
  const key = keys.get(id);
  const atMs = context.now();
  return {
    atMs,
    account: advanceTo(account, atMs),
    ...(key === undefined ? {} : { key: keyAt(key, atMs) }),
    ...(credential === undefined
      ? {}
      : { expiresAtMs: intOf(credential, "expires_at_ms") }),
  };
}

/**
 * Reads the present use of the limits of the keys that have limits, by key id.
 *
 * @throws {ApiError} `unavailable`
 */
export async function keyStates(
  context: RepositoryContext,
  ids: readonly string[],
): Promise<ReadonlyMap<string, KeyState>> {
  const sql: Sql = { all: (text, values) => readRows(context, text, values) };
  const states = await readKeyStates(sql, context.store.dialect, ids);
  const nowMs = context.now();
  return new Map(
    [...states].map(([id, state]) => [id, keyAt(state, nowMs)]),
  );
}
