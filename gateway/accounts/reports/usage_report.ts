/**
 * Usage reports: the roll-ups of the ledger, summed up by chosen fields.
 */
import { invalidField } from "../../../translate/model/error.ts";
import { coverage } from "./coverage.ts";
import { dayNumber, dayText, hourNumber, hourText } from "./days.ts";
import { HOURS_KEPT_DAYS } from "../ledger/backfill.ts";
import { DAY_MS } from "../limits/calendar_window.ts";
import { type ListPage, listPage } from "../repositories/list_page.ts";
import {
  readReport,
  type RepositoryContext,
} from "../repositories/repository.ts";
import type { RecordOf } from "../field.ts";
import { ROLL_UP_SUMS, USAGE_SUMS } from "../records.ts";
import { recordFrom } from "../rows/record_rows.ts";
import { intOf, type SqlRow, textOf } from "../store/store.ts";
import type { UsageGroup, UsageQuery } from "./usage_query.ts";
import {
  isByUser,
  readUsage,
  rowsOf,
  selectUsage,
  sumOf,
  USAGE_COLUMNS,
  type UsageSelection,
} from "./usage_selection.ts";

export interface UsageTotals extends RecordOf<typeof USAGE_SUMS> {
  /** Part of the cost that is an estimate; absent in a report by end user. */
  readonly estimatedMicroUsd?: number;
}

/** One line of a report. Of the first six fields only those grouped by are present. */
export interface UsageLine extends UsageTotals {
  /** Day in UTC, such as `2026-11-21`. */
  readonly day?: string;
  /** Start of an hour in UTC, such as `2026-11-21T13:00:00Z`. */
  readonly hour?: string;
  /** Id of the account that paid. */
  readonly accountId?: string;
  readonly keyId?: string;
  readonly model?: string;
  /** The client's own id of its end user; empty if none was given. */
  readonly user?: string;
}

export interface UsageReport extends ListPage<UsageLine> {
  /** Sums of the whole query, whatever its page. */
  readonly totals: UsageTotals;
  /**
   * The figures hold from this day on, because those of earlier days are not summed up yet or no
   * longer kept; absent: all of them hold.
   */
  readonly figuresFromDay?: string;
}

const PAGE_GROUPS = 100;
/** Most groups of a page. */
const MAX_GROUPS = 1000;

const FIELDS: Readonly<Record<UsageGroup, keyof UsageLine>> = {
  day: "day",
  hour: "hour",
  account: "accountId",
  key: "keyId",
  model: "model",
  user: "user",
};

/**
 * Sums up usage.
 *
 * @throws {ApiError} `invalid_request` for an invalid day or cursor; `unavailable`
 */
export async function reportUsage(
  context: RepositoryContext,
  query: UsageQuery,
): Promise<UsageReport> {
  const by = [...new Set(query.by ?? ["day" as const])];
  const sums = sumsOf(query, by);
  const limit = Math.min(Math.max(1, query.limit ?? PAGE_GROUPS), MAX_GROUPS);
  const rows = by.length === 0
    ? []
    : await readGroups(context, query, by, sums, limit + 1);
  const figuresFrom = await firstCompleteDay(context, by, query);
  // The page has every group, so its sums are the totals: no second walk over the rows.
  const isWhole = by.length > 0 && query.after === undefined &&
    rows.length <= limit;
  const [total = {}] = isWhole
    ? [sumRow(rows, Object.values(sums).map(({ column }) => column))]
    : await readUsage(
      context,
      await selectTotals(context, query, by),
      sumsFrom(sums),
    );
  const totals: UsageTotals = recordFrom(sums, total);
  const lines: readonly UsageLine[] = by.length === 0
    ? [totals]
    : rows.map((row) => ({
      ...Object.fromEntries(
        by.map((group) => [FIELDS[group], groupText(row, group)]),
      ),
      ...recordFrom(sums, row),
    }));
  const firstDay = firstDayOf(query);
  return {
    ...listPage(
      lines,
      limit,
      (line) => JSON.stringify(by.map((group) => line[FIELDS[group]])),
    ),
    totals,
    ...(figuresFrom === undefined || firstDay >= figuresFrom
      ? {}
      : { figuresFromDay: dayText(figuresFrom) }),
  };
}

/**
 * Whether a query has any usage.
 *
 * @throws {ApiError} `invalid_request` for an invalid day; `unavailable`
 */
export async function hasUsage(
  context: RepositoryContext,
  query: UsageQuery,
): Promise<boolean> {
  const rows = await readUsage(
    context,
    selectUsage(query, []),
    ["1"],
    "LIMIT 1",
  );
  return rows.length > 0;
}

function sumRow(
  rows: readonly SqlRow[],
  columns: readonly string[],
): SqlRow {
  return Object.fromEntries(
    columns.map((column) => [
      column,
      rows.reduce((sum, row) => sum + intOf(row, column), 0),
    ]),
  );
}

/**
 * The rows that the sums of a whole report are read from. Without a filter on end users the table
 * of days has the same sums in far fewer rows than the one of end users, once it is filled.
 */
async function selectTotals(
  context: RepositoryContext,
  query: UsageQuery,
  by: readonly UsageGroup[],
): Promise<UsageSelection> {
  const isOfDays = by.includes("user") && query.user === undefined &&
    (await coverage(context)).fromDay <= firstDayOf(query);
  return selectUsage(query, isOfDays ? [] : by);
}

function firstDayOf({ fromDay }: UsageQuery): number {
  return fromDay === undefined
    ? 0
    : dayNumber("from", fromDay.slice(0, "2026-11-21".length));
}

type Sums = typeof USAGE_SUMS | typeof ROLL_UP_SUMS;

function sumsFrom(sums: Sums): readonly string[] {
  return Object.values(sums).map(({ column }) => sumOf(column));
}

/** Reads the first groups after the query's cursor, in its order. */
async function readGroups(
  context: RepositoryContext,
  query: UsageQuery,
  by: readonly UsageGroup[],
  sums: Sums,
  limit: number,
): Promise<readonly SqlRow[]> {
  const { order } = query;
  if (by.length !== 1 || by[0] !== "user" || order?.by === undefined) {
    const selection = selectUsage(query, by);
    return await readOrdered(context, selection, query, by, sums, limit);
  }
  // Sorting the rows of all end users takes the longest: first by one figure, then the others of
  // those shown.
  const ranked = await readOrdered(
    context,
    selectUsage(query, by),
    query,
    by,
    { [order.by]: sums[order.by] },
    limit,
  );
  const users = ranked.map((row) => textOf(row, USAGE_COLUMNS.user));
  const selection = selectUsage(query, by);
  const place = Number(selection.put(JSON.stringify(users)).slice(1));
  selection.conditions.push(
    `${USAGE_COLUMNS.user} IN ${context.store.dialect.texts(place)}`,
  );
  const rows = await readUsage(
    context,
    selection,
    [USAGE_COLUMNS.user, ...sumsFrom(sums)],
    "GROUP BY 1",
  );
  const places = new Map(users.map((user, at) => [user, at]));
  const placeOf = (row: SqlRow): number =>
    places.get(textOf(row, USAGE_COLUMNS.user)) ?? 0;
  return rows.toSorted((a, b) => placeOf(a) - placeOf(b));
}

function readOrdered(
  context: RepositoryContext,
  selection: UsageSelection,
  query: UsageQuery,
  by: readonly UsageGroup[],
  sums: Partial<Sums>,
  limit: number,
): Promise<readonly SqlRow[]> {
  const { dialect } = context.store;
  const groups = by.map((group) => ({
    name: USAGE_COLUMNS[group],
    value: group === "day" && selection.table === "usage_hours"
      ? "hour / 24"
      : USAGE_COLUMNS[group],
    isText: group !== "day" && group !== "hour",
  }));
  const ordered = groups.map(({ value, isText }) =>
    isText ? dialect.byCodePoint(value) : value
  );
  const { after, order } = query;
  if (after !== undefined) {
    const values = cursorValues(after, by).map(selection.put);
    selection.conditions.push(
      `(${ordered.join(", ")}) > (${values.join(", ")})`,
    );
  }
  const direction = order?.isDescending === true ? " DESC" : "";
  const first = order?.by === undefined
    ? ordered.map((one) => `${one}${direction}`)
    : [`${ROLL_UP_SUMS[order.by].column}${direction}`, ...ordered];
  const picks = [
    ...groups.map(({ name, value }) => `${value} AS ${name}`),
    ...Object.values(sums).map(({ column }) => sumOf(column)),
  ];
  const tail = `GROUP BY ${groups.map((_, at) => at + 1).join(", ")} ` +
    `ORDER BY ${first.join(", ")} LIMIT ${selection.put(limit)}`;
  return readReport(
    context,
    `SELECT ${picks.join(", ")} FROM ${
      partsOf(selection, query, by, sums)
    } ${tail}`,
    selection.values,
  );
}

/**
 * What a report sums up. Rows of `usage_days` are in the order of day, account and key: the sums of
 * those, which need no sorting, are far fewer rows to sort by account or key.
 */
function partsOf(
  selection: UsageSelection,
  { accountId, keyId, model }: UsageQuery,
  [by, ...others]: readonly UsageGroup[],
  sums: Partial<Sums>,
): string {
  const isSorted = others.length === 0 && (by === "account" || by === "key") &&
    selection.table === "usage_days" &&
    accountId === undefined && keyId === undefined && model === undefined;
  if (!isSorted) return rowsOf(selection);
  const parts = by === "account" ? "account_id" : "account_id, key_id";
  const columns = Object.values(sums).map(({ column }) =>
    `SUM(${column}) AS ${column}`
  );
  return `(SELECT ${parts}, ${columns.join(", ")} FROM ${
    rowsOf(selection)
  } GROUP BY day, ${parts}) AS parts`;
}

/** End users are only in `usage_daily`, which has fewer sums. */
function sumsOf(
  query: UsageQuery,
  by: readonly UsageGroup[],
): Sums {
  if (isByUser(query, by) && by.includes("hour")) {
    throw invalidField(
      "by",
      "usage of end users is kept by day: hour cannot be combined with user",
    );
  }
  return isByUser(query, by) ? USAGE_SUMS : ROLL_UP_SUMS;
}

async function firstCompleteDay(
  context: RepositoryContext,
  by: readonly UsageGroup[],
  query: UsageQuery,
): Promise<number | undefined> {
  // `usage_daily` is older than the other tables: it has all days.
  if (isByUser(query, by)) return undefined;
  const { fromDay } = await coverage(context);
  if (!by.includes("hour")) return fromDay === 0 ? undefined : fromDay;
  return Math.max(
    fromDay,
    Math.floor(context.now() / DAY_MS) - HOURS_KEPT_DAYS + 1,
  );
}

function groupText(row: SqlRow, group: UsageGroup): string {
  const column = USAGE_COLUMNS[group];
  if (group === "day") return dayText(intOf(row, column));
  return group === "hour" ? hourText(intOf(row, column)) : textOf(row, column);
}

function cursorValues(
  cursor: string,
  by: readonly UsageGroup[],
): readonly (string | number)[] {
  let parts: unknown;
  try {
    parts = JSON.parse(cursor);
  } catch {
    parts = undefined;
  }
  const invalid = () =>
    invalidField(
      "after",
      "is not the cursor that an earlier page of this report ended with",
    );
  if (!Array.isArray(parts) || parts.length !== by.length) throw invalid();
  return by.map((group, index) => {
    const part: unknown = parts[index];
    if (typeof part !== "string") throw invalid();
    if (group === "day") return dayNumber("after", part);
    return group === "hour" ? hourNumber("after", part) : part;
  });
}
