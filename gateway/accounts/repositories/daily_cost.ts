/**
 * The cost of each day, split by model, key or account: what a plot shows.
 *
 * @module
 */
import { dayText } from "./days.ts";
import type { RepositoryContext } from "./repository.ts";
import type { UsageGroup, UsageQuery } from "./usage_query.ts";
import { usageSlices } from "./usage_slices.ts";
import { type NamedGroups, USAGE_COLUMNS, usageWalks } from "./usage_walks.ts";
import { intOf, type SqlRow, textOf } from "../store/store.ts";

/** A query of {@linkcode DailyCost}. */
export interface DailyCostQuery extends Omit<UsageQuery, "by" | "after"> {
  readonly group: Extract<UsageGroup, "model" | "key" | "account">;
  /** How many groups have a series of their own. */
  readonly limit: number;
  /**
   * All groups, dearest first, if they are known; else they are found by a further walk over the
   * same rows.
   */
  readonly dearest?: readonly string[];
}

/** From this number on, reading fewer rows is worth the time to compare each one's group. */
const MANY_GROUPS = 100;

/** Cost by day. */
export interface DailyCost {
  /** The dearest groups, dearest first: a series each. */
  readonly series: readonly string[];
  /** Whether there are other groups: the last series, which has no name, is their sum. */
  readonly hasOthers: boolean;
  /** Micro-dollars of each series by day, such as `2026-11-21`; days without usage are absent. */
  readonly days: ReadonlyMap<string, readonly number[]>;
}

/**
 * Sums up the cost of each day.
 *
 * @throws {ApiError} `invalid_request` for an invalid day; `unavailable`
 */
export async function dailyCost(
  context: RepositoryContext,
  query: DailyCostQuery,
): Promise<DailyCost> {
  const { group, limit, dearest = await dearestGroups(context, query) } = query;
  const series = dearest.slice(0, limit);
  const hasOthers = dearest.length > series.length;
  const places = new Map(series.map((name, at) => [name, at]));
  const days = new Map<number, number[]>();
  const walked = costs(
    context,
    query,
    ["day", group],
    dearest.length > MANY_GROUPS ? { group, names: series } : undefined,
  );
  for await (const rows of walked) {
    for (const row of rows) {
      const day = intOf(row, "day");
      let sums = days.get(day);
      if (sums === undefined) {
        sums = Array<number>(series.length + (hasOthers ? 1 : 0)).fill(0);
        days.set(day, sums);
      }
      const at = places.get(textOf(row, USAGE_COLUMNS[group])) ?? series.length;
      sums[at] = (sums[at] ?? 0) + intOf(row, "micro_usd");
    }
  }
  return {
    series,
    hasOthers,
    days: new Map([...days].map(([day, sums]) => [dayText(day), sums])),
  };
}

async function dearestGroups(
  context: RepositoryContext,
  query: DailyCostQuery,
): Promise<readonly string[]> {
  const sums = new Map<string, number>();
  for await (const rows of costs(context, query, [query.group])) {
    for (const row of rows) {
      const name = textOf(row, USAGE_COLUMNS[query.group]);
      sums.set(name, (sums.get(name) ?? 0) + intOf(row, "micro_usd"));
    }
  }
  return [...sums].toSorted((a, b) => b[1] - a[1]).map(([name]) => name);
}

async function* costs(
  context: RepositoryContext,
  query: DailyCostQuery,
  by: readonly UsageGroup[],
  only?: NamedGroups,
): AsyncGenerator<readonly SqlRow[], void, void> {
  const walks = usageWalks(context, query, by, ["micro_usd"], only);
  for await (const walk of walks) yield* usageSlices(context, walk);
}
