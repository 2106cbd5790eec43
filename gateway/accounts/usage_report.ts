/**
 * Reports of usage: days added up by whatever is asked for.
 *
 * @module
 */
import { invalidField } from "../../translate/error.ts";
import {
  look,
  type Page,
  pageLimit,
  pageOf,
  type PageRequest,
  type RegisterContext,
} from "./register.ts";
import { intOf, type SqlRow, type SqlValue, textOf } from "./store.ts";

/** What usage can be told apart by. */
export type UsageGroup = "day" | "account" | "key" | "model" | "user";

/** Which usage, and told apart by what. */
export interface UsageQuery extends PageRequest {
  /** Of this account. */
  readonly accountId?: string;
  /** Of this key. */
  readonly keyId?: string;
  /** Of this model. */
  readonly model?: string;
  /** Of this user of the callers' own. */
  readonly user?: string;
  /** First and last day, as `2026-11-21`, in UTC, both included. */
  readonly fromDay?: string;
  /** See `fromDay`. */
  readonly toDay?: string;
  /** Absent: by day. */
  readonly by?: readonly UsageGroup[];
}

/** One line of a report. Of the first five, those that were asked for. */
export interface UsageLine {
  /** As `2026-11-21`, in UTC. */
  readonly day?: string;
  /** Who paid. */
  readonly accountId?: string;
  /** Who called. */
  readonly keyId?: string;
  /** What was called. */
  readonly model?: string;
  /** The caller's own user id; empty where none was given. */
  readonly user?: string;
  /** Calls that were settled. */
  readonly requests: number;
  /** How many of them were billed by an estimate. */
  readonly estimatedRequests: number;
  /** Prompt tokens at the full rate. */
  readonly inputTokens: number;
  /** Prompt tokens read from a cache. */
  readonly cacheReadTokens: number;
  /** Prompt tokens written to a cache. */
  readonly cacheWriteTokens: number;
  /** Tokens generated, reasoning included. */
  readonly outputTokens: number;
  /** The part of them spent on reasoning. */
  readonly reasoningTokens: number;
  /** What they came to. */
  readonly microUsd: number;
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

const SUMS = [
  "requests",
  "estimated",
  "input_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "output_tokens",
  "reasoning_tokens",
  "micro_usd",
];

/**
 * Adds usage up.
 *
 * @throws {ApiError} `invalid_request` for a day or cursor that is none; `unavailable`
 */
export async function reportUsage(
  context: RegisterContext,
  query: UsageQuery,
): Promise<Page<UsageLine>> {
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
  const rows = await look(
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
  return pageOf(
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
  return {
    ...groups,
    requests: intOf(row, "requests"),
    estimatedRequests: intOf(row, "estimated"),
    inputTokens: intOf(row, "input_tokens"),
    cacheReadTokens: intOf(row, "cache_read_tokens"),
    cacheWriteTokens: intOf(row, "cache_write_tokens"),
    outputTokens: intOf(row, "output_tokens"),
    reasoningTokens: intOf(row, "reasoning_tokens"),
    microUsd: intOf(row, "micro_usd"),
  };
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
    throw invalidField("after", "this is no cursor of such a list");
  }
  return by.map((group, index) => {
    const part: unknown = parts[index];
    if (typeof part !== "string") {
      throw invalidField("after", "this is no cursor of such a list");
    }
    return group === "day" ? dayNumber("after", part) : part;
  });
}

const DAY_MS = 86_400_000;

function dayNumber(field: string, text: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text)
    ? Date.parse(`${text}T00:00:00Z`)
    : NaN;
  // Date.parse takes the 31st of every month: what comes out must be what went in.
  if (Number.isNaN(ms) || dayText(ms / DAY_MS) !== text) {
    throw invalidField(field, "expected a day, as 2026-11-21");
  }
  return ms / DAY_MS;
}

function dayText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
