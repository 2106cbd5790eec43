/**
 * Reads and writes keys: rows of `keys`. Only the hash of a key is stored.
 *
 * @module
 */
import type { KeyRecord } from "../records.ts";
import { modelsFrom } from "./account_state_rows.ts";
import {
  intOf,
  intOrUndefined,
  type Sql,
  type SqlRow,
  textOf,
  textOrUndefined,
} from "./store.ts";

/** Reads one row. */
export function keyFrom(row: SqlRow): KeyRecord {
  const models = modelsFrom(row, "models");
  const expiresAtMs = intOrUndefined(row, "expires_at_ms");
  const revokedAtMs = intOrUndefined(row, "revoked_at_ms");
  const lastUsedAtMs = intOrUndefined(row, "last_used_at_ms");
  const replaces = textOrUndefined(row, "replaces");
  return {
    id: textOf(row, "id"),
    accountId: textOf(row, "account_id"),
    name: textOf(row, "name"),
    hint: textOf(row, "hint"),
    ...(models === undefined ? {} : { models }),
    createdAtMs: intOf(row, "created_at_ms"),
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
    ...(revokedAtMs === undefined ? {} : { revokedAtMs }),
    ...(lastUsedAtMs === undefined ? {} : { lastUsedAtMs }),
    ...(replaces === undefined ? {} : { replaces }),
  };
}

/** Inserts a new key. */
export async function insertKey(
  sql: Sql,
  key: KeyRecord,
  hash: string,
): Promise<void> {
  await sql.all(
    "INSERT INTO keys (id, account_id, name, hash, hint, models, created_at_ms, expires_at_ms, replaces) " +
      "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    [
      key.id,
      key.accountId,
      key.name,
      hash,
      key.hint,
      key.models === undefined ? null : JSON.stringify(key.models),
      key.createdAtMs,
      key.expiresAtMs ?? null,
      key.replaces ?? null,
    ],
  );
}
