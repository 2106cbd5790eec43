/**
 * The rows of usage that a report sums up.
 */
import { invalidField } from "../../../translate/model/error.ts";
import { DAY_MS } from "../limits/calendar_window.ts";
import { HOUR_MS } from "../rows/usage_rows.ts";
import { isRangeHour, rangeMs } from "./days.ts";
import {
  readReport,
  type RepositoryContext,
} from "../repositories/repository.ts";
import type { SqlRow, SqlValue } from "../store/store.ts";
import type { UsageGroup, UsageQuery } from "./usage_query.ts";

const FIRST_DAY = "1970-01-01";

export const USAGE_COLUMNS: Readonly<Record<UsageGroup, string>> = {
  day: "day",
  hour: "hour",
  account: "account_id",
  key: "key_id",
  model: "model",
  user: "user_id",
};

/** Whether only `usage_daily` has the rows of a query: end users are in no other table. */
export function isByUser(
  { user }: UsageQuery,
  by: readonly UsageGroup[],
): boolean {
  return by.includes("user") || user !== undefined;
}

/** A table, conditions on its rows, and the values of their parameters. */
export interface UsageSelection {
  readonly table: "usage_days" | "usage_hours" | "usage_daily";
  readonly conditions: string[];
  /** Adds a parameter and returns its place, such as `$1`. */
  put(value: SqlValue): string;
  readonly values: readonly SqlValue[];
}

/**
 * The rows of a query that are needed for its groups.
 *
 * @throws {ApiError} `invalid_request` for an invalid day
 */
export function selectUsage(
  query: UsageQuery,
  by: readonly UsageGroup[],
): UsageSelection {
  const { accountId, keyId, model, user, fromDay, toDay } = query;
  const values: SqlValue[] = [];
  const put = (value: SqlValue): string => `$${values.push(value)}`;
  const conditions: string[] = [];
  const isOfUsers = isByUser(query, by);
  const hasHours = [fromDay, toDay].some((one = "") => isRangeHour(one));
  if (isOfUsers && hasHours) {
    throw invalidField(
      "from",
      "usage of end users is kept by day: expected a day such as 2026-11-21",
    );
  }
  const time = by.includes("hour") || hasHours ? "hour" : "day";
  const stepMs = time === "hour" ? HOUR_MS : DAY_MS;
  const { fromMs, untilMs } = rangeMs(
    fromDay ?? FIRST_DAY,
    toDay ?? FIRST_DAY,
  );
  if (fromDay !== undefined) {
    conditions.push(`${time} >= ${put(fromMs / stepMs)}`);
  }
  if (toDay !== undefined) {
    conditions.push(`${time} < ${put(untilMs / stepMs)}`);
  }
  for (
    const [column, value] of [
      ["account_id", accountId],
      ["key_id", keyId],
      ["model", model],
      ["user_id", user],
    ] as const
  ) {
    if (value !== undefined) conditions.push(`${column} = ${put(value)}`);
  }
  if (isOfUsers && accountId === undefined && keyId !== undefined) {
    // The indexes begin with the account. The configured key has no record.
    const key = put(keyId);
    conditions.push(
      `account_id IN (SELECT account_id FROM keys WHERE id = ${key} UNION SELECT account_id FROM usage_days WHERE key_id = ${key})`,
    );
  }
  return {
    table: isOfUsers
      ? "usage_daily"
      : time === "hour"
      ? "usage_hours"
      : "usage_days",
    conditions,
    put,
    values,
  };
}

/**
 * Runs `SELECT picks FROM …`, with `tail` after its conditions.
 *
 * @throws {ApiError} `unavailable`
 */
export function readUsage(
  { store }: RepositoryContext,
  selection: UsageSelection,
  picks: readonly string[],
  tail: string = "",
): Promise<readonly SqlRow[]> {
  return readReport(
    { store },
    `SELECT ${picks.join(", ")} FROM ${rowsOf(selection)} ${tail}`,
    selection.values,
  );
}

/** A table and its conditions, as the text after `FROM`. */
export function rowsOf({ table, conditions }: UsageSelection): string {
  return conditions.length === 0
    ? table
    : `${table} WHERE ${conditions.join(" AND ")}`;
}

/** The sum of a column under its name; 0 of no rows. */
export function sumOf(column: string): string {
  return `CAST(COALESCE(SUM(${column}), 0) AS BIGINT) AS ${column}`;
}
