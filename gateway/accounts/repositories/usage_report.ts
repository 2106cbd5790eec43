/**
 * Usage reports: the roll-ups of the ledger, summed up by chosen fields.
 *
 * @module
 */
import { invalidField } from "../../../translate/model/error.ts";
import { coverage } from "./coverage.ts";
import { dayNumber, dayText, hourNumber, hourText } from "./days.ts";
import { HOURS_DAYS } from "../ledger/backfill.ts";
import { DAY_MS } from "../ledger/calendar_window.ts";
import {
  type ListPage,
  listPage,
  type RepositoryContext,
} from "./repository.ts";
import type { RecordOf } from "../field.ts";
import { ROLL_UP_SUMS, USAGE_SUMS } from "../records.ts";
import { recordFrom } from "../store/record_rows.ts";
import { intOf, type SqlRow, textOf } from "../store/store.ts";
import type { UsageGroup, UsageQuery } from "./usage_query.ts";
import {
  isByUser,
  readUsage,
  selectUsage,
  sumOf,
  USAGE_COLUMNS,
} from "./usage_selection.ts";

/** Sums of usage. */
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
  /** Id of the key that was used. */
  readonly keyId?: string;
  /** Model that was called. */
  readonly model?: string;
  /** The client's own id of its end user; empty if none was given. */
  readonly user?: string;
}

/** A page of a report. */
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
  const columns = Object.values(sums).map(({ column }) => sumOf(column));
  const rows = by.length === 0
    ? []
    : await readGroups(context, query, by, columns, limit + 1);
  // The page has every group, so its sums are the totals: no second walk over the rows.
  const isWhole = by.length > 0 && query.after === undefined &&
    rows.length <= limit;
  const [total = {}] = isWhole
    ? [summed(rows, Object.values(sums).map(({ column }) => column))]
    : await readUsage(context, selectUsage(query, by), columns);
  const totals: UsageTotals = recordFrom(sums, total);
  const lines: readonly UsageLine[] = by.length === 0
    ? [totals]
    : rows.map((row) => ({
      ...Object.fromEntries(
        by.map((group) => [FIELDS[group], groupText(row, group)]),
      ),
      ...recordFrom(sums, row),
    }));
  const firstDay = query.fromDay === undefined
    ? 0
    : dayNumber("from", query.fromDay.slice(0, "2026-11-21".length));
  const figuresFrom = await firstCompleteDay(context, by, query);
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

function summed(
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

/** Reads the first groups after the query's cursor, in ascending order. */
function readGroups(
  context: RepositoryContext,
  query: UsageQuery,
  by: readonly UsageGroup[],
  columns: readonly string[],
  limit: number,
): Promise<readonly SqlRow[]> {
  const selection = selectUsage(query, by);
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
  ).join(", ");
  if (query.after !== undefined) {
    const after = cursorValues(query.after, by).map(selection.put);
    selection.conditions.push(`(${ordered}) > (${after.join(", ")})`);
  }
  return readUsage(
    context,
    selection,
    [...groups.map(({ name, value }) => `${value} AS ${name}`), ...columns],
    `GROUP BY ${groups.map((_, at) => at + 1).join(", ")} ORDER BY ${ordered}` +
      ` LIMIT ${selection.put(limit)}`,
  );
}

/** End users are only in `usage_daily`, which has fewer sums. */
function sumsOf(
  query: UsageQuery,
  by: readonly UsageGroup[],
): typeof USAGE_SUMS | typeof ROLL_UP_SUMS {
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
    Math.floor(context.now() / DAY_MS) - HOURS_DAYS + 1,
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
