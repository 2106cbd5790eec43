/**
 * Where accounts stand, as rows of `accounts`, `plans` and `purses`.
 *
 * @module
 */
import type { Account, Plan, Purse } from "./records.ts";
import type { Held, Standing } from "./standing.ts";
import {
  type Dialect,
  insertion,
  insertRows,
  intOf,
  intOrUndefined,
  type Sql,
  type SqlRow,
  textOf,
  textOrUndefined,
} from "./store.ts";

const PLAN_COLUMNS = [
  "id",
  "models",
  "requests_per_minute",
  "tokens_per_minute",
  "concurrent_requests",
  "spend_per_day_micro_usd",
  "created_at_ms",
];

/** The columns of a plan under names of their own, for where its account's are in the same row. */
export const PLAN_PICKS: string = PLAN_COLUMNS.map((name) =>
  `p.${name} AS plan__${name}`
).join(", ");

/** Reads a plan; `prefix` is `plan__` where {@linkcode PLAN_PICKS} picked it. */
export function planFrom(row: SqlRow, prefix: string = ""): Plan {
  const models = modelsFrom(row, `${prefix}models`);
  const requestsPerMinute = intOrUndefined(
    row,
    `${prefix}requests_per_minute`,
  );
  const tokensPerMinute = intOrUndefined(row, `${prefix}tokens_per_minute`);
  const concurrent = intOrUndefined(row, `${prefix}concurrent_requests`);
  const perDay = intOrUndefined(row, `${prefix}spend_per_day_micro_usd`);
  return {
    id: textOf(row, `${prefix}id`),
    ...(models === undefined ? {} : { models }),
    ...(requestsPerMinute === undefined ? {} : { requestsPerMinute }),
    ...(tokensPerMinute === undefined ? {} : { tokensPerMinute }),
    ...(concurrent === undefined ? {} : { concurrentRequests: concurrent }),
    ...(perDay === undefined ? {} : { spendPerDayMicroUsd: perDay }),
    createdAtMs: intOf(row, `${prefix}created_at_ms`),
  };
}

/** A list of models kept as JSON text; absent where there is none. */
export function modelsFrom(
  row: SqlRow,
  column: string,
): readonly string[] | undefined {
  const text = textOrUndefined(row, column);
  if (text === undefined) return undefined;
  const list: unknown = JSON.parse(text);
  if (!Array.isArray(list)) {
    throw new Error(`could not read column ${column}: it holds no list`);
  }
  return list.filter((model) => typeof model === "string");
}

/** Reads an account without its purses. */
export function accountFrom(row: SqlRow): Omit<Account, "purses"> {
  return {
    id: textOf(row, "id"),
    name: textOf(row, "name"),
    status: textOf(row, "status") === "active" ? "active" : "disabled",
    billing: textOf(row, "billing") === "prepaid" ? "prepaid" : "postpaid",
    planId: textOf(row, "plan_id"),
    balanceMicroUsd: intOf(row, "balance_micro_usd"),
    reservedMicroUsd: intOf(row, "reserved_micro_usd"),
    openRequests: intOf(row, "open_requests"),
    createdAtMs: intOf(row, "created_at_ms"),
  };
}

/** Reads a purse. */
export function purseFrom(row: SqlRow): Purse {
  return {
    model: textOf(row, "model"),
    balanceMicroUsd: intOf(row, "balance_micro_usd"),
    reservedMicroUsd: intOf(row, "reserved_micro_usd"),
  };
}

/** Where these accounts stand, by account. */
export async function readStandings(
  sql: Sql,
  dialect: Dialect,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, Standing>> {
  const ids = JSON.stringify(accountIds);
  const [rows, purseRows] = await Promise.all([
    sql.all(
      `SELECT a.*, ${PLAN_PICKS} FROM accounts a JOIN plans p ON p.id = a.plan_id WHERE a.id IN ${
        dialect.texts(1)
      }`,
      [ids],
    ),
    sql.all(
      `SELECT * FROM purses WHERE account_id IN ${dialect.texts(1)}`,
      [ids],
    ),
  ]);
  const purses = new Map<string, Map<string, Held>>();
  for (const row of purseRows) {
    const accountId = textOf(row, "account_id");
    const own = purses.get(accountId) ?? new Map<string, Held>();
    const { model, ...held } = purseFrom(row);
    purses.set(accountId, own.set(model, held));
  }
  return new Map(rows.map((row) => {
    const account = accountFrom(row);
    const standing: Standing = {
      account,
      plan: planFrom(row, "plan__"),
      purses: purses.get(account.id) ?? new Map(),
      requests: {
        level: intOf(row, "requests_used"),
        atMs: intOf(row, "requests_at_ms"),
      },
      tokens: {
        level: intOf(row, "tokens_used"),
        atMs: intOf(row, "tokens_at_ms"),
      },
      day: intOf(row, "day"),
      daySpentMicroUsd: intOf(row, "day_spent_micro_usd"),
    };
    return [account.id, standing];
  }));
}

const INTO_PURSES = insertion(
  "purses",
  {
    account_id: "TEXT",
    model: "TEXT",
    balance_micro_usd: "BIGINT",
    reserved_micro_usd: "BIGINT",
  },
  "ON CONFLICT (account_id, model) DO UPDATE SET " +
    "balance_micro_usd = excluded.balance_micro_usd, reserved_micro_usd = excluded.reserved_micro_usd",
);

/** Writes where accounts stand now: what moves, not what an operator sets. */
export async function writeStandings(
  sql: Sql,
  dialect: Dialect,
  standings: readonly Standing[],
): Promise<void> {
  const purseRows = standings.flatMap(({ account, purses }) =>
    [...purses].map(([model, held]) => ({
      account_id: account.id,
      model,
      balance_micro_usd: held.balanceMicroUsd,
      reserved_micro_usd: held.reservedMicroUsd,
    }))
  );
  await Promise.all([
    ...standings.map((standing) =>
      sql.all(
        `UPDATE accounts SET balance_micro_usd = $2, reserved_micro_usd = $3, open_requests = $4, ` +
          `requests_used = $5, requests_at_ms = $6, tokens_used = $7, tokens_at_ms = $8, ` +
          `day = $9, day_spent_micro_usd = $10 WHERE id = $1`,
        [
          standing.account.id,
          standing.account.balanceMicroUsd,
          standing.account.reservedMicroUsd,
          standing.account.openRequests,
          standing.requests.level,
          standing.requests.atMs,
          standing.tokens.level,
          standing.tokens.atMs,
          standing.day,
          standing.daySpentMicroUsd,
        ],
      )
    ),
    insertRows(sql, dialect, INTO_PURSES, purseRows),
  ]);
}
