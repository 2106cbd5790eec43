/**
 * Reads and writes keys: rows of `keys`. Only the hash of a key is stored.
 *
 * @module
 */
import { KEY, type KeyRecord } from "../records.ts";
import { insertRow, recordFrom, rowOf } from "./record_rows.ts";
import type { Sql, SqlRow } from "./store.ts";

/** Reads one row. */
export function keyFrom(row: SqlRow): KeyRecord {
  return recordFrom(KEY, row);
}

/** Inserts a new key. */
export async function insertKey(
  sql: Sql,
  key: KeyRecord,
  hash: string,
): Promise<void> {
  await insertRow(sql, "keys", { ...rowOf(KEY, key), hash });
}
