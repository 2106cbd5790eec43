/**
 * Which table and index the rows of a usage report are read along.
 *
 * @module
 */
import { dayNumber } from "./days.ts";
import { readRows, type RepositoryContext } from "./repository.ts";
import { type SqlValue, textOf } from "../store/store.ts";
import type { UsageGroup, UsageQuery } from "./usage_query.ts";
import type { UsageWalk } from "./usage_slices.ts";

/** The columns that hold the groups. */
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

/** Groups of one field; all others are one group, whose name is empty. */
export interface NamedGroups {
  readonly group: UsageGroup;
  readonly names: readonly string[];
}

/**
 * The walks along the tables whose rows are the query's, with the sums of `columns`.
 *
 * @throws {ApiError} `invalid_request` for an invalid day; `unavailable`
 */
export async function* usageWalks(
  context: RepositoryContext,
  query: UsageQuery,
  by: readonly UsageGroup[],
  columns: readonly string[],
  only?: NamedGroups,
): AsyncGenerator<UsageWalk, void, void> {
  const { fromDay, toDay } = query;
  const time = by.includes("hour") ? "hour" : "day";
  const perDay = time === "hour" ? 24 : 1;
  const common = {
    ...(fromDay === undefined
      ? {}
      : { first: dayNumber("from", fromDay) * perDay }),
    ...(toDay === undefined
      ? {}
      : { last: (dayNumber("to", toDay) + 1) * perDay - 1 }),
    groups: by.length,
    picks: (put: (value: SqlValue) => string) => [
      ...by.map((group) => {
        const column = USAGE_COLUMNS[group];
        if (group === "day" && time === "hour") return `hour / 24 AS ${column}`;
        if (group !== only?.group) return column;
        const names = put(JSON.stringify(only.names)).slice(1);
        const among = context.store.dialect.texts(Number(names));
        return `CASE WHEN ${column} IN ${among} THEN ${column} ELSE '' END AS ${column}`;
      }),
      ...columns.map((column) => `CAST(SUM(${column}) AS BIGINT) AS ${column}`),
    ],
  };
  const { accountId, keyId } = query;
  const filters: (readonly [string, string])[] = [];
  if (query.model !== undefined) filters.push(["model", query.model]);
  if (isByUser(query, by)) {
    if (query.user !== undefined) filters.push(["user_id", query.user]);
    if (keyId !== undefined) filters.push(["key_id", keyId]);
    const accounts = accountId === undefined
      ? await accountsOf(context, keyId)
      : [accountId];
    for (const value of accounts) {
      yield {
        table: "usage_daily",
        fixed: { column: "account_id", value },
        order: ["day", "key_id", "model", "user_id"],
        filters,
        ...common,
      };
    }
    return;
  }
  const table = time === "hour" ? "usage_hours" : "usage_days";
  if (keyId !== undefined) {
    if (accountId !== undefined) filters.push(["account_id", accountId]);
    yield {
      table,
      fixed: { column: "key_id", value: keyId },
      order: [time, "account_id", "model"],
      filters,
      ...common,
    };
  } else if (accountId !== undefined) {
    yield {
      table,
      fixed: { column: "account_id", value: accountId },
      order: [time, "key_id", "model"],
      filters,
      ...common,
    };
  } else {
    yield {
      table,
      order: [time, "account_id", "key_id", "model"],
      filters,
      ...common,
    };
  }
}

/** The accounts that a key, or any key, may have usage of. */
async function accountsOf(
  context: RepositoryContext,
  keyId: string | undefined,
): Promise<readonly string[]> {
  const rows = keyId === undefined
    ? await readRows(context, "SELECT id FROM accounts ORDER BY id")
    : await readRows(
      context,
      // The configured key has no record.
      `SELECT account_id AS id FROM keys WHERE id = $1
       UNION SELECT account_id AS id FROM usage_days WHERE key_id = $1`,
      [keyId],
    );
  return rows.map((row) => textOf(row, "id"));
}
