/**
 * The accounts: who pays, and the money put in.
 *
 * @module
 */
import { ApiError, invalidField } from "../../translate/error.ts";
import { enter } from "./books.ts";
import { entryFrom } from "./ledger_rows.ts";
import type { Account, Billing, LedgerEntry } from "./records.ts";
import {
  change,
  look,
  newId,
  notFound,
  type Once,
  type Page,
  pageLimit,
  pageOf,
  type PageRequest,
  type RegisterContext,
  taken,
} from "./register.ts";
import { accountFrom, purseFrom } from "./standing_rows.ts";
import type { Sql, SqlValue } from "./store.ts";

/** What of an account can be set. Absent is "as it was". */
export interface AccountSettings {
  /** For people. */
  readonly name?: string;
  /** A disabled one is refused every call. */
  readonly status?: Account["status"];
  /** The plan that says what it may do. */
  readonly planId?: string;
  /** Whether calls need a balance that covers them. */
  readonly billing?: Billing;
}

/** Money to put in (or to take out, below zero). */
export interface TopUpRequest {
  /** The amount: whole micro-dollars, not 0. */
  readonly microUsd: number;
  /** Puts it into the balance of this model alone. From then on its calls are paid from there. */
  readonly model?: string;
  /** What it is for. */
  readonly note?: string;
}

/** The accounts. */
export interface AccountRegister {
  /**
   * Makes an account: active, prepaid and on the plan without limits, where not told otherwise.
   *
   * @throws {ApiError} `conflict` when the id is taken, `not_found` when the plan is not there
   */
  create(
    settings: AccountSettings & { readonly id?: string },
    once?: Once,
  ): Promise<Account>;
  /**
   * Changes what is told.
   *
   * @throws {ApiError} `not_found` for the account or its plan
   */
  update(id: string, settings: AccountSettings, once?: Once): Promise<Account>;
  /**
   * Finds an account.
   *
   * @throws {ApiError} `not_found`
   */
  get(id: string): Promise<Account>;
  /** The accounts, oldest first. */
  list(page?: PageRequest): Promise<Page<Account>>;
  /**
   * Puts money in.
   *
   * @throws {ApiError} `not_found`; `invalid_request` for an unknown model or no amount
   */
  topUp(id: string, topUp: TopUpRequest, once?: Once): Promise<LedgerEntry>;
}

/** The plan of accounts that name none. */
export const DEFAULT_PLAN = "unlimited";

/** Opens the register. */
export function accountRegister(context: RegisterContext): AccountRegister {
  return {
    create: (settings, once) =>
      change(context, async (sql) => {
        const nowMs = context.now();
        const id = settings.id ?? newId("acct", nowMs);
        if (await find(sql, id) !== undefined) throw taken("account", id);
        const planId = settings.planId ?? DEFAULT_PLAN;
        await checkPlan(sql, planId);
        await sql.all(
          "INSERT INTO accounts (id, name, status, billing, plan_id, created_at_ms) VALUES ($1, $2, 'active', 'prepaid', $3, $4)",
          [id, settings.name ?? id, planId, nowMs],
        );
        return await set(sql, id, settings);
      }, once),
    update: (id, settings, once) =>
      change(context, async (sql) => {
        if (settings.planId !== undefined) {
          await checkPlan(sql, settings.planId);
        }
        return await set(sql, id, settings);
      }, once),
    async get(id) {
      const account = await find({ all: bound(context) }, id);
      if (account === undefined) throw notFound("account", id);
      return account;
    },
    async list(page = {}) {
      const limit = pageLimit(page);
      const rows = await look(
        context,
        "SELECT * FROM accounts WHERE id > $1 ORDER BY id LIMIT $2",
        [page.after ?? "", limit + 1],
      );
      const accounts = rows.map(accountFrom);
      const purses = await look(
        context,
        `SELECT * FROM purses WHERE account_id IN ${
          context.store.dialect.texts(1)
        } ORDER BY model`,
        [JSON.stringify(accounts.map((account) => account.id))],
      );
      return pageOf(
        accounts.map((account) => ({
          ...account,
          purses: purses.filter((row) => row["account_id"] === account.id)
            .map(purseFrom),
        })),
        limit,
        (account) => account.id,
      );
    },
    async topUp(id, topUp, once) {
      if (!Number.isSafeInteger(topUp.microUsd) || topUp.microUsd === 0) {
        throw invalidField("micro_usd", "expected a whole number, not 0");
      }
      if (topUp.model !== undefined && !context.knowsModel(topUp.model)) {
        throw invalidField("model", `there is no model ${topUp.model}`);
      }
      return await change(context, async (sql) => {
        const nowMs = context.now();
        const entryId = newId("topup", nowMs);
        const [verdict] = await enter(sql, context.store.dialect, [{
          type: "top_up",
          id: entryId,
          accountId: id,
          purse: topUp.model ?? "",
          microUsd: topUp.microUsd,
          ...(topUp.note === undefined ? {} : { note: topUp.note }),
          atMs: nowMs,
        }]);
        if (verdict?.type === "no_account") throw notFound("account", id);
        const [row] = await sql.all(
          "SELECT * FROM ledger WHERE request_id = $1",
          [entryId],
        );
        if (row === undefined) throw new Error("the top-up was not entered");
        return entryFrom(row);
      }, once);
    },
  };
}

function bound(context: RegisterContext): Sql["all"] {
  return (text, values) => look(context, text, values);
}

async function find(sql: Sql, id: string): Promise<Account | undefined> {
  const [row] = await sql.all("SELECT * FROM accounts WHERE id = $1", [id]);
  if (row === undefined) return undefined;
  const purses = await sql.all(
    "SELECT * FROM purses WHERE account_id = $1 ORDER BY model",
    [id],
  );
  return { ...accountFrom(row), purses: purses.map(purseFrom) };
}

async function checkPlan(sql: Sql, planId: string): Promise<void> {
  const rows = await sql.all("SELECT id FROM plans WHERE id = $1", [planId]);
  if (rows.length === 0) {
    throw new ApiError("not_found", `there is no plan ${planId}`, {
      code: "plan_not_found",
      param: "plan",
      retryable: false,
    });
  }
}

async function set(
  sql: Sql,
  id: string,
  settings: AccountSettings,
): Promise<Account> {
  const fields: Readonly<Record<string, SqlValue | undefined>> = {
    name: settings.name,
    status: settings.status,
    billing: settings.billing,
    plan_id: settings.planId,
  };
  for (const [column, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    await sql.all(`UPDATE accounts SET ${column} = $2 WHERE id = $1`, [
      id,
      value,
    ]);
  }
  const account = await find(sql, id);
  if (account === undefined) throw notFound("account", id);
  return account;
}
