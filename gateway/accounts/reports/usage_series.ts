/**
 * The cost, tokens or charges of each day or hour, split by model, key or account: what a plot
 * shows.
 */
import { dayText } from "./days.ts";
import {
  readReport,
  type RepositoryContext,
} from "../repositories/repository.ts";
import type { UsageGroup, UsageQuery } from "./usage_query.ts";
import {
  readUsage,
  rowsOf,
  selectUsage,
  USAGE_COLUMNS,
} from "./usage_selection.ts";
import { intOf, textOf, textOrUndefined } from "../store/store.ts";

export interface UsageSeriesQuery extends Omit<UsageQuery, "by" | "after"> {
  readonly group: Extract<UsageGroup, "model" | "key" | "account">;
  readonly measure: Measure;
  readonly step: Step;
  /** How many groups have a series of their own. */
  readonly limit: number;
  /** All groups, those with most first, if they are known. */
  readonly dearest?: readonly string[];
}

/** What a plot shows: micro-dollars, tokens of every kind, or the number of charges. */
export type Measure = "cost" | "tokens" | "charges";

/** What a bar of a plot covers, in UTC. */
export type Step = "day" | "hour";

const COLUMNS: Readonly<Record<Measure, readonly string[]>> = {
  cost: ["micro_usd"],
  tokens: [
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_tokens",
  ],
  charges: ["requests"],
};

function valueOf({ measure }: UsageSeriesQuery): string {
  const sum = COLUMNS[measure].join(" + ");
  return `CAST(COALESCE(SUM(${sum}), 0) AS BIGINT) AS value`;
}

/** `2026-11-21T07:00`, of an hour counted from 1970. */
function hourText(hour: number): string {
  return new Date(hour * 3_600_000).toISOString().slice(0, 16);
}

/** The figures of each day or hour. */
export interface UsageSeries {
  /** The groups with most, in that order: a series each. */
  readonly series: readonly string[];
  /** Whether there are other groups: the last series, which has no name, is their sum. */
  readonly hasOthers: boolean;
  /**
   * The figure of each series by day or hour, such as `2026-11-21` or `2026-11-21T07:00`; those
   * without usage are absent.
   */
  readonly sums: ReadonlyMap<string, readonly number[]>;
}

/**
 * Sums up a figure of each day or hour.
 *
 * @throws {ApiError} `invalid_request` for an invalid day; `unavailable`
 */
export async function usageSeries(
  context: RepositoryContext,
  query: UsageSeriesQuery,
): Promise<UsageSeries> {
  const { group, limit, step, dearest = await topGroups(context, query) } =
    query;
  const series = dearest.slice(0, limit);
  const hasOthers = dearest.length > series.length;
  const column = USAGE_COLUMNS[group];
  const selection = selectUsage(query, [step, group]);
  const all = rowsOf(selection);
  const names = selection.put(JSON.stringify(series)).slice(1);
  selection.conditions.push(
    `${column} IN ${context.store.dialect.texts(Number(names))}`,
  );
  const time = step === "day" && selection.table === "usage_hours"
    ? "hour / 24"
    : step;
  const picks = (name: string): string =>
    `SELECT ${time} AS ${step}, ${name} AS name, ${valueOf(query)} FROM`;
  // Sums of all groups need no sorting; what the series leave of them is that of the others.
  const ofAll = ` UNION ALL ${picks("NULL")} ${all} GROUP BY 1`;
  const rows = await readReport(
    context,
    `${picks(column)} ${rowsOf(selection)} GROUP BY 1, 2${
      hasOthers ? ofAll : ""
    }`,
    selection.values,
  );
  const places = new Map(series.map((name, at) => [name, at]));
  const sums = new Map<string, number[]>();
  for (const row of rows) {
    const number = intOf(row, step);
    const time = step === "day" ? dayText(number) : hourText(number);
    let figures = sums.get(time);
    if (figures === undefined) {
      figures = Array<number>(series.length + (hasOthers ? 1 : 0)).fill(0);
      sums.set(time, figures);
    }
    const value = intOf(row, "value");
    const name = textOrUndefined(row, "name");
    const at = name === undefined ? undefined : places.get(name);
    if (at !== undefined) figures[at] = value;
    if (hasOthers) {
      figures[series.length] = (figures[series.length] ?? 0) +
        (at === undefined ? value : -value);
    }
  }
  return { series, hasOthers, sums };
}

/** One more than have a series: it shows that there are others. */
async function topGroups(
  context: RepositoryContext,
  query: UsageSeriesQuery,
): Promise<readonly string[]> {
  const column = USAGE_COLUMNS[query.group];
  const selection = selectUsage(query, [query.group]);
  const limit = selection.put(query.limit + 1);
  const rows = await readUsage(
    context,
    selection,
    [column, valueOf(query)],
    `GROUP BY ${column} ORDER BY 2 DESC, 1 LIMIT ${limit}`,
  );
  return rows.map((row) => textOf(row, column));
}
