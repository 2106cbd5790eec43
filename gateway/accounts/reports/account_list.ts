/**
 * The accounts with what they spent and when they were used last: filtered, and sorted by any of
 * it.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import { type Account, ACCOUNT_ROW } from "../records.ts";
import { recordFrom } from "../rows/record_rows.ts";
import {
  intOf,
  intOrUndefined,
  type SqlRow,
  type SqlValue,
  type Store,
  textOf,
} from "../store/store.ts";
import { dayNumber } from "./days.ts";
import {
  readReport,
  type RepositoryContext,
} from "../repositories/repository.ts";
import { contains, MAX_SEARCHED, pattern } from "./find_by_part.ts";

/** What a list of accounts is sorted by, as columns of the query. */
const ORDERS = {
  id: "a.id",
  name: "LOWER(a.name)",
  plan: "a.plan_id",
  balance: "a.balance_micro_usd",
  spent: "spent",
  used: "used",
  under_way: "a.open_requests",
} as const;

/** What a list of accounts can be sorted by. */
type AccountOrder = keyof typeof ORDERS;
/** For checking the name of an order. */
export const ACCOUNT_ORDERS = Object.keys(ORDERS) as readonly AccountOrder[];

export interface AccountListQuery {
  /** Accounts whose id or name contains this. */
  readonly part?: string;
  readonly planId?: string;
  readonly status?: Account["status"];
  /** First day of the spend, in UTC. */
  readonly fromDay: string;
  readonly order: AccountOrder;
  readonly isDescending: boolean;
  readonly offset: number;
  readonly limit: number;
}

/** An account of the list; its model balances are left out. */
export interface ListedAccount extends Account {
  /** Since the first day of the query. */
  readonly spentMicroUsd: number;
  /** Exact to the minute; absent: none of its keys was used. */
  readonly lastUsedAtMs?: number;
}

/**
 * Reads a page of the accounts, and whether there are more.
 *
 * @throws {ApiError} `unavailable`
 */
export async function listAccounts(
  { store }: RepositoryContext,
  query: AccountListQuery,
): Promise<
  { readonly data: readonly ListedAccount[]; readonly hasMore: boolean }
> {
  const { part, planId, status, order, isDescending, limit, offset } = query;
  const values: SqlValue[] = [dayNumber("from", query.fromDay)];
  const put = (value: SqlValue): string => `$${values.push(value)}`;
  const conditions: string[] = [];
  if (part !== undefined && part !== "") {
    const at = put(pattern(part));
    conditions.push(`(${contains("a.id", at)} OR ${contains("a.name", at)})`);
  }
  if (planId !== undefined) conditions.push(`a.plan_id = ${put(planId)}`);
  if (status !== undefined) conditions.push(`a.status = ${put(status)}`);
  const where = conditions.join(" AND ") || "TRUE";
  // For all accounts, only the figure that they are sorted by is added up.
  const [spent, join] = order === "spent"
    ? [
      "COALESCE(s.spent, 0)",
      "LEFT JOIN (SELECT account_id, SUM(micro_usd) AS spent FROM usage_days WHERE day >= $1 GROUP BY account_id) s " +
      "ON s.account_id = a.id",
    ]
    : ["$1", ""];
  const used = order === "used" ? LAST_USED : "0";
  const rows = await readReport(
    { store },
    `SELECT a.*, CAST(${spent} AS BIGINT) AS spent, ${used} AS used ` +
      `FROM (SELECT * FROM accounts ORDER BY id LIMIT ${MAX_SEARCHED}) a ${join} WHERE ${where} ORDER BY ${
        ORDERS[order]
      } ${isDescending ? "DESC" : "ASC"} NULLS LAST, a.id LIMIT ${
        put(limit + 1)
      } OFFSET ${put(offset)}`,
    values,
  );
  const data = rows.slice(0, limit).map((row) => recordFrom(ACCOUNT_ROW, row));
  const figures = await figuresOf(store, data.map(({ id }) => id), values[0]);
  return {
    data: data.map((account) => {
      const row = figures.get(account.id);
      const lastUsedAtMs = row && intOrUndefined(row, "used");
      return {
        ...account,
        modelBalances: [],
        spentMicroUsd: row === undefined ? 0 : intOf(row, "spent"),
        ...compact({ lastUsedAtMs }),
      };
    }),
    hasMore: rows.length > limit,
  };
}

const LAST_USED =
  "(SELECT MAX(k.last_used_at_ms) FROM keys k WHERE k.account_id = a.id)";

/** What some accounts spent since a day, and when they were used last, by their ids. */
async function figuresOf(
  store: Store,
  ids: readonly string[],
  fromDay: SqlValue = 0,
): Promise<ReadonlyMap<string, SqlRow>> {
  const rows = await readReport(
    { store },
    "SELECT a.id, CAST(COALESCE((SELECT SUM(d.micro_usd) FROM usage_days d " +
      "WHERE d.account_id = a.id AND d.day >= $2), 0) AS BIGINT) AS spent, " +
      `${LAST_USED} AS used FROM accounts a WHERE a.id IN ${
        store.dialect.texts(1)
      }`,
    [JSON.stringify(ids), fromDay],
  );
  return new Map(rows.map((row) => [textOf(row, "id"), row]));
}
