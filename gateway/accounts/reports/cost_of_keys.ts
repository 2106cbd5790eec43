/**
 * What some keys of an account cost, however many others it has.
 */
import { intOf, textOf } from "../store/store.ts";
import type { RepositoryContext } from "../repositories/repository.ts";
import type { UsageQuery } from "./usage_query.ts";
import { readUsage, selectUsage, sumOf } from "./usage_selection.ts";

export interface KeyCostQuery
  extends Required<Pick<UsageQuery, "accountId" | "fromDay" | "toDay">> {
  readonly keyIds: readonly string[];
}

/**
 * Sums up the cost of keys, in micro-dollars by id; keys without usage are absent.
 *
 * @throws {ApiError} `invalid_request` for an invalid day; `unavailable`
 */
export async function costOfKeys(
  context: RepositoryContext,
  { keyIds, ...query }: KeyCostQuery,
): Promise<ReadonlyMap<string, number>> {
  const selection = selectUsage(query, ["key"]);
  const ids = selection.put(JSON.stringify(keyIds)).slice(1);
  selection.conditions.push(
    `key_id IN ${context.store.dialect.texts(Number(ids))}`,
  );
  const rows = await readUsage(
    context,
    selection,
    ["key_id", sumOf("micro_usd")],
    "GROUP BY key_id",
  );
  return new Map(
    rows.map((row) => [textOf(row, "key_id"), intOf(row, "micro_usd")]),
  );
}
