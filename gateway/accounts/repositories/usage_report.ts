/**
 * Usage reports: the rows of `usage_daily`, summed up by chosen fields.
 *
 * @module
 */
import { invalidField } from "../../../translate/model/error.ts";
import {
  type ListPage,
  listPage,
  pageLimit,
  type PageRequest,
  readRows,
  type RepositoryContext,
} from "./repository.ts";
import type { RecordOf } from "../field.ts";
import { USAGE_SUMS } from "../records.ts";
import { recordFrom } from "../store/record_rows.ts";
import { intOf, type SqlRow, type SqlValue, textOf } from "../store/store.ts";

/** A field to group usage by. */
export type UsageGroup = "day" | "account" | "key" | "model" | "user";

/** A filter on usage, and its grouping; absent filters match everything. */
export interface UsageQuery extends PageRequest {
  /** Usage of this account. */
  readonly accountId?: string;
  /** Usage of this key. */
  readonly keyId?: string;
  /** Usage of this model. */
  readonly model?: string;
  /** Usage of this end user, by the client's own id. */
  readonly user?: string;
  /** First day in UTC, inclusive, such as `2026-11-21`. */
  readonly fromDay?: string;
  /** Last day in UTC, inclusive. */
  readonly toDay?: string;
  /** Fields to group by; absent: by day. */
  readonly by?: readonly UsageGroup[];
}

/** One line of a report. Of the first five fields only those grouped by are present. */
export interface UsageLine extends RecordOf<typeof USAGE_SUMS> {
  /** Day in UTC, such as `2026-11-21`. */
  readonly day?: string;
  /** Id of the account that paid. */
  readonly accountId?: string;
  /** Id of the key that was used. */
  readonly keyId?: string;
  /** Model that was called. */
  readonly model?: string;
  /** The client's own id of its end user; empty if none was given. */
  readonly user?: string;
}

const GROUPS: Readonly<
  Record<
    UsageGroup,
    { readonly column: string; readonly field: keyof UsageLine }
  >
> = {
  day: { column: "day", field: "day" },
  account: { column: "account_id", field: "accountId" },
  key: { column: "key_id", field: "keyId" },
  model: { column: "model", field: "model" },
  user: { column: "user_id", field: "user" },
};

const SUMS = Object.values(USAGE_SUMS).map(({ column }) => column);

/**
 * Sums up usage.
 *
 * @throws {ApiError} `invalid_request` for an invalid day or cursor; `unavailable`
 */
export async function reportUsage(
  context: RepositoryContext,
  query: UsageQuery,
): Promise<ListPage<UsageLine>> {
  const by = [...new Set(query.by ?? ["day" as const])];
  const columns = by.map((group) => GROUPS[group].column);
  const values: SqlValue[] = [];
  const put = (value: SqlValue): string => `$${values.push(value)}`;
  const where: string[] = [];
  const exact: readonly (readonly [string, string | undefined])[] = [
    ["account_id", query.accountId],
    ["key_id", query.keyId],
    ["model", query.model],
    ["user_id", query.user],
  ];
  for (const [column, value] of exact) {
    if (value !== undefined) where.push(`${column} = ${put(value)}`);
  }
  if (query.fromDay !== undefined) {
    where.push(`day >= ${put(dayNumber("from", query.fromDay))}`);
  }
  if (query.toDay !== undefined) {
    where.push(`day <= ${put(dayNumber("to", query.toDay))}`);
  }
  if (query.after !== undefined && columns.length > 0) {
    const last = cursorValues(query.after, by);
    where.push(`(${columns.join(", ")}) > (${last.map(put).join(", ")})`);
  }
  const limit = pageLimit(query);
  const grouped = columns.length === 0
    ? ""
    : `GROUP BY ${columns.join(", ")} ORDER BY ${columns.join(", ")}`;
  const rows = await readRows(
    context,
    `SELECT ${
      [
        ...columns,
        ...SUMS.map((name) =>
          `CAST(COALESCE(SUM(${name}), 0) AS BIGINT) AS ${name}`
        ),
      ].join(", ")
    } FROM usage_daily ${
      where.length === 0 ? "" : `WHERE ${where.join(" AND ")}`
    } ${grouped} LIMIT ${put(limit + 1)}`,
    values,
  );
  return listPage(
    rows.map((row) => lineFrom(row, by)),
    limit,
    (line) => JSON.stringify(by.map((group) => line[GROUPS[group].field])),
  );
}

function lineFrom(row: SqlRow, by: readonly UsageGroup[]): UsageLine {
  const groups: Record<string, string> = {};
  for (const group of by) {
    const { column, field } = GROUPS[group];
    groups[field] = group === "day"
      ? dayText(intOf(row, column))
      : textOf(row, column);
  }
  return { ...groups, ...recordFrom(USAGE_SUMS, row) };
}

function cursorValues(
  cursor: string,
  by: readonly UsageGroup[],
): readonly SqlValue[] {
  let parts: unknown;
  try {
    parts = JSON.parse(cursor);
  } catch {
    parts = undefined;
  }
  if (!Array.isArray(parts) || parts.length !== by.length) {
    throw invalidField(
      "after",
      "is not the cursor that an earlier page of this report ended with",
    );
  }
  return by.map((group, index) => {
    const part: unknown = parts[index];
    if (typeof part !== "string") {
      throw invalidField(
        "after",
        "is not the cursor that an earlier page of this report ended with",
      );
    }
    return group === "day" ? dayNumber("after", part) : part;
  });
}

const DAY_MS = 86_400_000;

function dayNumber(field: string, text: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text)
    ? Date.parse(`${text}T00:00:00Z`)
    : NaN;
  // Date.parse accepts the 31st of every month: compare the text with its round trip.
  if (Number.isNaN(ms) || dayText(ms / DAY_MS) !== text) {
    throw invalidField(field, "expected a day such as 2026-11-21");
  }
  return ms / DAY_MS;
}

function dayText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
