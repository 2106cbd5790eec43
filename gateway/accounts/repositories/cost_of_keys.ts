/**
 * What some keys of an account cost, however many others it has.
 *
 * @module
 */
import { intOf, textOf } from "../store/store.ts";
import type { RepositoryContext } from "./repository.ts";
import type { UsageQuery } from "./usage_query.ts";
import { usageSlices } from "./usage_slices.ts";
import { usageWalks } from "./usage_walks.ts";

/** A query of {@linkcode costOfKeys}. */
export interface KeyCostQuery
  extends Required<Pick<UsageQuery, "accountId" | "fromDay" | "toDay">> {
  /** Ids; the rows of other keys are summed up by the store. */
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
  const costs = new Map<string, number>();
  const walks = usageWalks(context, query, ["key"], ["micro_usd"], {
    group: "key",
    names: keyIds,
  });
  for await (const walk of walks) {
    for await (const rows of usageSlices(context, walk)) {
      for (const row of rows) {
        const id = textOf(row, "key_id");
        costs.set(id, (costs.get(id) ?? 0) + intOf(row, "micro_usd"));
      }
    }
  }
  costs.delete("");
  return costs;
}
