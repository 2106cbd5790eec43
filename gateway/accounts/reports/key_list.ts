/**
 * The keys of one account or of all: filtered by a part of their names, and sorted.
 */
import { KEY, type KeyRecord } from "../records.ts";
import { recordFrom } from "../rows/record_rows.ts";
import type { SqlValue } from "../store/store.ts";
import {
  readRows,
  type RepositoryContext,
} from "../repositories/repository.ts";
import { contains, pattern } from "./find_by_part.ts";

/** What a list of keys is sorted by, as columns. */
const ORDERS = {
  made: "id",
  name: "LOWER(name)",
  account: "account_id",
  used: "last_used_at_ms",
} as const;

/** What a list of keys can be sorted by. */
export type KeyOrder = keyof typeof ORDERS;
/** For checking the name of an order. */
export const KEY_ORDERS = Object.keys(ORDERS) as readonly KeyOrder[];

export interface KeyListQuery {
  readonly accountId?: string;
  /** Keys whose name or hint contains this. */
  readonly part?: string;
  readonly order: KeyOrder;
  readonly isDescending: boolean;
  readonly offset: number;
  readonly limit: number;
}

/**
 * Reads a page of the keys, and whether there are more.
 *
 * @throws {ApiError} `unavailable`
 */
export async function listKeys(
  context: RepositoryContext,
  { accountId, part = "", order, isDescending, offset, limit }: KeyListQuery,
): Promise<{ readonly data: readonly KeyRecord[]; readonly hasMore: boolean }> {
  const values: SqlValue[] = [];
  const put = (value: SqlValue): string => `$${values.push(value)}`;
  const conditions: string[] = [];
  if (accountId !== undefined) {
    conditions.push(`account_id = ${put(accountId)}`);
  }
  if (part !== "") {
    const at = put(pattern(part));
    conditions.push(`(${contains("name", at)} OR ${contains("hint", at)})`);
  }
  const where = conditions.join(" AND ") || "TRUE";
  const direction = isDescending ? "DESC" : "ASC";
  const rows = await readRows(
    context,
    `SELECT * FROM keys WHERE ${where} ORDER BY ${
      ORDERS[order]
    } ${direction} NULLS LAST, id DESC LIMIT ${put(limit + 1)} OFFSET ${
      put(offset)
    }`,
    values,
  );
  return {
    data: rows.slice(0, limit).map((row) => recordFrom(KEY, row)),
    hasMore: rows.length > limit,
  };
}
