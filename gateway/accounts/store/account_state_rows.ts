/**
 * Reads and writes account states: rows of the tables accounts, plans and purses.
 *
 * @module
 */
import type { Account, ModelBalance, Plan } from "../records.ts";
import type { AccountState, Balance } from "../ledger/account_state.ts";
import {
  insertRows,
  insertStatement,
  intOf,
  intOrUndefined,
  type Sql,
  type SqlDialect,
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

/** The columns of a plan, renamed to `plan__…` for rows that also hold an account. */
export const PLAN_PICKS: string = PLAN_COLUMNS.map((name) =>
  `p.${name} AS plan__${name}`
).join(", ");

/** Reads a plan; `prefix` is `plan__` for rows selected with {@linkcode PLAN_PICKS}. */
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

/** A list of models stored as JSON text; undefined if the column is NULL. */
export function modelsFrom(
  row: SqlRow,
  column: string,
): readonly string[] | undefined {
  const text = textOrUndefined(row, column);
  if (text === undefined) return undefined;
  const list: unknown = JSON.parse(text);
  if (!Array.isArray(list)) {
    throw new Error(`could not read column ${column}: it does not hold a list`);
  }
  return list.filter((model) => typeof model === "string");
}

/** Reads an account without its model balances. */
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

/** Reads a row of the table purses: the balance of one model. */
export function modelBalanceFrom(row: SqlRow): ModelBalance {
  return {
    model: textOf(row, "model"),
    balanceMicroUsd: intOf(row, "balance_micro_usd"),
    reservedMicroUsd: intOf(row, "reserved_micro_usd"),
  };
}

/** Reads the states of these accounts, by account id. */
export async function readAccountStates(
  sql: Sql,
  dialect: SqlDialect,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, AccountState>> {
  const ids = JSON.stringify(accountIds);
  const [rows, balanceRows] = await Promise.all([
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
  const modelBalances = new Map<string, Map<string, Balance>>();
  for (const row of balanceRows) {
    const accountId = textOf(row, "account_id");
    const ofAccount = modelBalances.get(accountId) ??
      new Map<string, Balance>();
    const { model, ...balance } = modelBalanceFrom(row);
    modelBalances.set(accountId, ofAccount.set(model, balance));
  }
  return new Map(rows.map((row) => {
    const account = accountFrom(row);
    const state: AccountState = {
      account,
      plan: planFrom(row, "plan__"),
      modelBalances: modelBalances.get(account.id) ?? new Map(),
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
    return [account.id, state];
  }));
}

const INTO_PURSES = insertStatement(
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

/** Writes the account fields that calls and top-ups change, not those that an operator sets. */
export async function writeAccountStates(
  sql: Sql,
  dialect: SqlDialect,
  states: readonly AccountState[],
): Promise<void> {
  const balanceRows = states.flatMap(({ account, modelBalances }) =>
    [...modelBalances].map(([model, balance]) => ({
      account_id: account.id,
      model,
      balance_micro_usd: balance.balanceMicroUsd,
      reserved_micro_usd: balance.reservedMicroUsd,
    }))
  );
  await Promise.all([
    ...states.map((state) =>
      sql.all(
        `UPDATE accounts SET balance_micro_usd = $2, reserved_micro_usd = $3, open_requests = $4, ` +
          `requests_used = $5, requests_at_ms = $6, tokens_used = $7, tokens_at_ms = $8, ` +
          `day = $9, day_spent_micro_usd = $10 WHERE id = $1`,
        [
          state.account.id,
          state.account.balanceMicroUsd,
          state.account.reservedMicroUsd,
          state.account.openRequests,
          state.requests.level,
          state.requests.atMs,
          state.tokens.level,
          state.tokens.atMs,
          state.day,
          state.daySpentMicroUsd,
        ],
      )
    ),
    insertRows(sql, dialect, INTO_PURSES, balanceRows),
  ]);
}
