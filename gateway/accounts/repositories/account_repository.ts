/**
 * Administration of accounts, and of the money put into them.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import { ApiError, invalidField } from "../../../translate/model/error.ts";
import { applyEvents } from "../ledger/transaction.ts";
import { type Action, type Change } from "../changes/change.ts";
import { type SettingsOf } from "../field.ts";
import {
  ACCOUNT,
  type Account,
  ACCOUNT_ROW,
  LEDGER_ENTRY,
  type LedgerEntry,
  MODEL_BALANCE,
} from "../records.ts";
import { type ListPage, type PageRequest } from "./list_page.ts";
import {
  alreadyExists,
  type IdempotencyKey,
  listById,
  newId,
  notFound,
  readerOf,
  readRows,
  recordChange,
  type RepositoryContext,
  writeOnce,
} from "./repository.ts";
import {
  insertRow,
  recordFrom,
  rowOf,
  updateRow,
} from "../rows/record_rows.ts";
import { type Sql, textOf } from "../store/store.ts";

type NewAccount = SettingsOf<typeof ACCOUNT>;

/** Changes of an account. An absent setting stays unchanged. */
type AccountSettings = Omit<NewAccount, "id">;

/** A top-up; a negative amount is taken out. */
interface TopUpRequest {
  /** Whole micro-dollars, not 0. */
  readonly microUsd: number;
  /**
   * Puts the amount into this model's own balance. From then on the model's calls are paid
   * from it alone.
   */
  readonly model?: string;
  /** A note for the ledger. */
  readonly note?: string;
}

export interface AccountRepository {
  /**
   * Creates an account. Defaults: active, prepaid, on the plan without limits.
   *
   * @throws {ApiError} `conflict` if the id exists, `not_found` if the plan does not exist
   */
  create(
    settings: NewAccount,
    idempotencyKey?: IdempotencyKey,
  ): Promise<Account>;
  /**
   * Changes the given settings.
   *
   * @throws {ApiError} `not_found` for the account or its plan
   */
  update(
    id: string,
    settings: AccountSettings,
    idempotencyKey?: IdempotencyKey,
  ): Promise<Account>;
  /**
   * Reads one account.
   *
   * @throws {ApiError} `not_found`
   */
  get(id: string): Promise<Account>;
  /** Names of accounts by their id; unknown ids are absent. */
  names(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Lists the accounts by id. */
  list(page?: PageRequest): Promise<ListPage<Account>>;
  /**
   * Adds an amount to the account's balance, or to a model's own.
   *
   * @throws {ApiError} `not_found`; `invalid_request` for an unknown model, or an amount
   * that is 0 or not whole
   */
  topUp(
    id: string,
    topUp: TopUpRequest,
    idempotencyKey?: IdempotencyKey,
  ): Promise<LedgerEntry>;
}

/** Id of the plan of accounts created without one. */
export const DEFAULT_PLAN = "unlimited";

export function accountRepository(
  context: RepositoryContext,
): AccountRepository {
  return {
    create: (settings, idempotencyKey) =>
      writeOnce(context, async (sql) => {
        const nowMs = context.now();
        const id = settings.id ?? newId("acct", nowMs);
        if (await find(sql, id) !== undefined) {
          throw alreadyExists("account", id);
        }
        const planId = settings.planId ?? DEFAULT_PLAN;
        await checkPlan(sql, planId);
        const account = {
          name: id,
          status: "active",
          billing: "prepaid",
          ...settings,
          id,
          planId,
          createdAtMs: nowMs,
        };
        await insertRow(sql, "accounts", rowOf(ACCOUNT, account));
        const made = await written(sql, id);
        const change = accountChange("account.create", undefined, made);
        return { reply: made, changes: [change] };
      }, idempotencyKey),
    update: (id, settings, idempotencyKey) =>
      writeOnce(context, async (sql) => {
        await sql.lockAccounts?.([id]);
        const before = await written(sql, id);
        if (settings.planId !== undefined) {
          await checkPlan(sql, settings.planId);
        }
        await updateRow(sql, "accounts", id, {
          ...rowOf(ACCOUNT, settings),
          // Warnings are due again at the new limits.
          ...(settings.planId === undefined ? {} : { warned: 0 }),
        });
        const after = await written(sql, id);
        const change = accountChange("account.update", before, after);
        return { reply: after, changes: [change] };
      }, idempotencyKey),
    get: (id) => written(readerOf(context), id),
    async names(ids) {
      if (ids.length === 0) return new Map();
      const rows = await readRows(
        context,
        `SELECT id, name FROM accounts WHERE id IN ${
          context.store.dialect.texts(1)
        }`,
        [JSON.stringify(ids)],
      );
      return new Map(
        rows.map((row) => [textOf(row, "id"), textOf(row, "name")]),
      );
    },
    async list(page = {}) {
      const { data, ...cursor } = await listById(
        context,
        "accounts",
        page,
        (row) => recordFrom(ACCOUNT_ROW, row),
      );
      const modelBalances = await readRows(
        context,
        `SELECT * FROM purses WHERE account_id IN ${
          context.store.dialect.texts(1)
        } ORDER BY model`,
        [JSON.stringify(data.map(({ id }) => id))],
      );
      const accounts = data.map((account) => ({
        ...account,
        modelBalances: modelBalances
          .filter((row) => row["account_id"] === account.id)
          .map((row) => recordFrom(MODEL_BALANCE, row)),
      }));
      return { data: accounts, ...cursor };
    },
    async topUp(id, topUp, idempotencyKey) {
      if (!Number.isSafeInteger(topUp.microUsd) || topUp.microUsd === 0) {
        throw invalidField(
          "micro_usd",
          "expected a whole number of micro-dollars other than 0",
        );
      }
      if (topUp.model !== undefined && !context.knowsModel(topUp.model)) {
        throw invalidField("model", `there is no model ${topUp.model}`);
      }
      return await writeOnce(context, async (sql) => {
        const nowMs = context.now();
        const entryId = newId("topup", nowMs);
        await sql.lockAccounts?.([id]);
        const before = await written(sql, id);
        const [result] = await applyEvents(sql, context.store.dialect, [{
          type: "top_up",
          id: entryId,
          accountId: id,
          balanceModel: topUp.model ?? "",
          microUsd: topUp.microUsd,
          ...compact({ note: topUp.note }),
          atMs: nowMs,
        }]);
        if (result?.type === "no_account") throw notFound("account", id);
        const [row] = await sql.all(
          "SELECT * FROM ledger WHERE request_id = $1",
          [entryId],
        );
        if (row === undefined) throw new Error("the top-up was not entered");
        const entry = recordFrom(LEDGER_ENTRY, row);
        return {
          reply: entry,
          changes: [topUpChange(before, await written(sql, id), entry)],
        };
      }, idempotencyKey);
    },
  };
}

function accountChange(
  action: Action,
  before: Account | undefined,
  after: Account,
): Change {
  const change = recordChange(ACCOUNT, action, before, after);
  return { ...change, accountId: after.id };
}

function topUpChange(
  before: Account,
  after: Account,
  { seq, requestId, microUsd, balanceModel, note }: LedgerEntry,
): Change {
  const change = accountChange("account.top_up", before, after);
  return {
    ...change,
    after: {
      ...change.after,
      micro_usd: microUsd,
      ...compact({ model: balanceModel, note }),
      ledger_entry: requestId,
      ledger_seq: seq,
    },
  };
}

async function find(sql: Sql, id: string): Promise<Account | undefined> {
  const [row] = await sql.all("SELECT * FROM accounts WHERE id = $1", [id]);
  if (row === undefined) return undefined;
  const modelBalances = await sql.all(
    "SELECT * FROM purses WHERE account_id = $1 ORDER BY model",
    [id],
  );
  return {
    ...recordFrom(ACCOUNT_ROW, row),
    modelBalances: modelBalances.map((balance) =>
      recordFrom(MODEL_BALANCE, balance)
    ),
  };
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

async function written(sql: Sql, id: string): Promise<Account> {
  const account = await find(sql, id);
  if (account === undefined) throw notFound("account", id);
  return account;
}
