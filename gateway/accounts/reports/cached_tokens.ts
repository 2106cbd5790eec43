/**
 * The tokens that prompts read from caches and wrote to them, by key and model: what a cache saved
 * depends on the model.
 */
import {
  readReport,
  type RepositoryContext,
} from "../repositories/repository.ts";
import { intOf, textOf, textOrUndefined } from "../store/store.ts";
import type { UsageQuery } from "./usage_query.ts";
import { rowsOf, selectUsage, sumOf } from "./usage_selection.ts";

export interface CachedTokens {
  /** One of the keys that were asked for; absent: all others together. */
  readonly keyId?: string;
  readonly model: string;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

/**
 * Sums up the tokens of caches, of each of these keys and of all other keys together.
 *
 * @throws {ApiError} `invalid_request` for an invalid day; `unavailable`
 */
export async function cachedTokens(
  { store }: RepositoryContext,
  query: Omit<UsageQuery, "by">,
  keyIds: readonly string[],
): Promise<readonly CachedTokens[]> {
  const selection = selectUsage(query, []);
  selection.conditions.push("cache_read_tokens + cache_write_tokens > 0");
  const place = Number(selection.put(JSON.stringify(keyIds)).slice(1));
  const rows = await readReport(
    { store },
    `SELECT CASE WHEN key_id IN ${
      store.dialect.texts(place)
    } THEN key_id END AS name, model, ${sumOf("cache_read_tokens")}, ${
      sumOf("cache_write_tokens")
    } FROM ${rowsOf(selection)} GROUP BY 1, 2`,
    selection.values,
  );
  return rows.map((row) => {
    const keyId = textOrUndefined(row, "name");
    return {
      ...(keyId === undefined ? {} : { keyId }),
      model: textOf(row, "model"),
      cacheReadTokens: intOf(row, "cache_read_tokens"),
      cacheWriteTokens: intOf(row, "cache_write_tokens"),
    };
  });
}
