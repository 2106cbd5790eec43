/**
 * Usage reports: the roll-ups of the ledger, summed up by chosen fields.
 *
 * @module
 */
import { invalidField } from "../../../translate/model/error.ts";
import { coverage } from "./coverage.ts";
import { dayNumber, dayText, hourNumber, hourText } from "./days.ts";
import {
  type FirstGroups,
  firstGroups,
  type GroupKey,
} from "./first_groups.ts";
import { HOURS_DAYS } from "../ledger/backfill.ts";
import { DAY_MS } from "../ledger/calendar_window.ts";
import {
  type ListPage,
  listPage,
  type RepositoryContext,
} from "./repository.ts";
import type { RecordOf } from "../field.ts";
import { ROLL_UP_SUMS, USAGE_SUMS } from "../records.ts";
import { recordFrom, rowOf } from "../store/record_rows.ts";
import { intOf, type SqlRow, type SqlValue, textOf } from "../store/store.ts";
import type { UsageGroup, UsageQuery } from "./usage_query.ts";
import { usageSlices } from "./usage_slices.ts";
import { isByUser, USAGE_COLUMNS, usageWalks } from "./usage_walks.ts";

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
  const firstDay = query.fromDay === undefined
    ? undefined
    : dayNumber("from", query.fromDay);
  const after = query.after === undefined || by.length === 0
    ? undefined
    : cursorValues(query.after, by);
  const columns = Object.values(sums).map(({ column }) => column);
  const limit = Math.min(Math.max(1, query.limit ?? PAGE_GROUPS), MAX_GROUPS);
  const groups = firstGroups(limit + 1, after);
  const known = await totalsByDays(context, query, by, columns);
  const totals: number[] = known ?? columns.map(() => 0);
  for await (const walk of usageWalks(context, query, by, columns)) {
    const needed = known === undefined
      ? walk
      : { ...walk, within: () => neededGroups(context, by, after, groups) };
    for await (const rows of usageSlices(context, needed)) {
      for (const row of rows) {
        // Without a grouping, the sums of no rows are NULL.
        if (row["requests"] === null) continue;
        const numbers = columns.map((column) => intOf(row, column));
        if (known === undefined) {
          for (const [at, number] of numbers.entries()) {
            totals[at] = (totals[at] ?? 0) + number;
          }
        }
        groups.add(by.map((group) => groupValue(row, group)), numbers);
      }
    }
  }
  const recordOf = (numbers: readonly number[]): UsageTotals =>
    recordFrom(
      sums,
      Object.fromEntries(columns.map((name, at) => [name, numbers[at] ?? 0])),
    );
  const lines: readonly UsageLine[] = by.length === 0
    ? [recordOf(totals)]
    : groups.sorted().map(({ key, sums }) => ({
      ...Object.fromEntries(
        by.map((group, at) => [FIELDS[group], groupText(group, key[at] ?? "")]),
      ),
      ...recordOf(sums),
    }));
  const figuresFrom = await firstCompleteDay(context, by, query);
  return {
    ...listPage(
      lines,
      limit,
      (line) => JSON.stringify(by.map((group) => line[FIELDS[group]])),
    ),
    totals: recordOf(totals),
    ...(figuresFrom === undefined || (firstDay ?? 0) >= figuresFrom
      ? {}
      : { figuresFromDay: dayText(figuresFrom) }),
  };
}

/**
 * The totals of a report by end user from the days' sums, which are quick to add up, so that the
 * rows of end users who are not on the page need not be read. Undefined where the days' sums do not
 * have them.
 */
async function totalsByDays(
  context: RepositoryContext,
  query: UsageQuery,
  by: readonly UsageGroup[],
  columns: readonly string[],
): Promise<number[] | undefined> {
  if (!by.includes("user") || query.user !== undefined) return undefined;
  const { after: _after, limit: _limit, ...whole } = query;
  const { totals, figuresFromDay } = await reportUsage(context, {
    ...whole,
    by: [],
  });
  if (figuresFromDay !== undefined) return undefined;
  const row = rowOf(ROLL_UP_SUMS, totals);
  return columns.map((column) => Number(row[column] ?? 0));
}

/** Conditions that every group satisfies that may be on the page. */
function neededGroups(
  { store }: RepositoryContext,
  by: readonly UsageGroup[],
  after: GroupKey | undefined,
  groups: FirstGroups,
): readonly (readonly [string, SqlValue])[] {
  const [group] = by;
  if (group === undefined) return [];
  const column = group === "day" || store.dialect.name === "sqlite"
    ? USAGE_COLUMNS[group]
    // Groups are ordered by code units, whatever the database's collation.
    : `${USAGE_COLUMNS[group]} COLLATE "C"`;
  const found: (readonly [string, SqlValue])[] = [];
  for (
    const [operator, value] of [
      [">=", after?.[0]],
      ["<=", groups.bound()?.[0]],
    ] as const
  ) {
    // From here on, the order of code units is not that of UTF-8.
    if (value === undefined || /[\ud800-\uffff]/.test(String(value))) continue;
    found.push([`${column} ${operator}`, value]);
  }
  return found;
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

function groupValue(row: SqlRow, group: UsageGroup): string | number {
  const column = USAGE_COLUMNS[group];
  return group === "day" || group === "hour"
    ? intOf(row, column)
    : textOf(row, column);
}

function groupText(group: UsageGroup, value: string | number): string {
  if (group === "day") return dayText(Number(value));
  return group === "hour" ? hourText(Number(value)) : String(value);
}

function cursorValues(cursor: string, by: readonly UsageGroup[]): GroupKey {
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
