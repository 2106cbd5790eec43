/**
 * Reads and writes account states: rows of the tables `accounts`, `plans` and
 * `purses`, which has the balances of single models.
 */
import { ACCOUNT_ROW, MODEL_BALANCE, PLAN } from "../records.ts";
import { columnsOf, picks, recordFrom, rowOf } from "./record_rows.ts";
import { useAssignments, useFrom, useValues } from "./limit_use_rows.ts";
import type { AccountState, Balance } from "../ledger/account_state.ts";
import {
  insertRows,
  insertStatement,
  type Sql,
  type SqlDialect,
  textOf,
} from "../store/store.ts";

/** The columns of a plan, renamed to `plan__…` for rows that also hold an account. */
export const PLAN_PICKS: string = picks(PLAN, "p", "plan__");

/** The columns of an account, renamed to `account__…`. */
export const ACCOUNT_PICKS: string = picks(ACCOUNT_ROW, "a", "account__");

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
    const { model, ...balance } = recordFrom(MODEL_BALANCE, row);
    modelBalances.set(accountId, ofAccount.set(model, balance));
  }
  return new Map(rows.map((row) => {
    const { openRequests: _, ...account } = recordFrom(ACCOUNT_ROW, row);
    const ofModels = modelBalances.get(account.id) ?? NO_BALANCES;
    let reservedMicroUsd = account.reservedMicroUsd;
    for (const balance of ofModels.values()) {
      reservedMicroUsd += balance.reservedMicroUsd;
    }
    const state: AccountState = {
      account,
      plan: recordFrom(PLAN, row, "plan__"),
      modelBalances: ofModels,
      use: useFrom(row, reservedMicroUsd),
    };
    return [account.id, state];
  }));
}

const NO_BALANCES: ReadonlyMap<string, Balance> = new Map();

const UPDATE =
  `UPDATE accounts SET balance_micro_usd = $2, reserved_micro_usd = $3, ${
    useAssignments(4)
  } WHERE id = $1`;

const INTO_PURSES = insertStatement(
  "purses",
  { account_id: "TEXT", ...columnsOf(MODEL_BALANCE) },
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
      ...rowOf(MODEL_BALANCE, { model, ...balance }),
    }))
  );
  await Promise.all([
    ...states.map((state) =>
      sql.all(UPDATE, [
        state.account.id,
        state.account.balanceMicroUsd,
        state.account.reservedMicroUsd,
        ...useValues(state.use),
      ])
    ),
    insertRows(sql, dialect, INTO_PURSES, balanceRows),
  ]);
}
