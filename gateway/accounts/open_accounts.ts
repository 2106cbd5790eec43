/**
 * The accounts at work: puts together who is calling, what may be called, the books and what runs beside the requests.
 *
 * @module
 */
import { ApiError } from "../../translate/error.ts";
import { type Accounts, type Caller, RefusedCall } from "./accounts.ts";
import { type Admin, adminOf } from "./admin.ts";
import { notInPlan } from "./admission.ts";
import { enter, type Verdict } from "./books.ts";
import { BooksMemory } from "./books_memory.ts";
import { type Identity, openCallers } from "./callers.ts";
import { chargeFor, wholeTokens } from "./charge.ts";
import { furnish } from "./first_start.ts";
import { openJournal } from "./journal.ts";
import { beginLife } from "./life.ts";
import { type ModelPrice, worstCostMicroUsd } from "./money.ts";
import type { OpenCall } from "./records.ts";
import { newId } from "./register.ts";
import type { Store } from "./store.ts";
import { startTimer, type Timer } from "./timer.ts";

/** What the accounts work with. */
export interface AccountsOptions {
  /** From {@linkcode openStore}. It is closed with the accounts. */
  readonly store: Store;
  /** The price of a model that is offered; undefined for what is no model. A model for nothing has a price of zeros. */
  readonly price: (model: string) => ModelPrice | undefined;
  /** A key that always works for the default account. */
  readonly configuredKey?: string;
  /** The clock; absent: `Date.now`. */
  readonly now?: () => number;
  /** How to wait; absent: the platform's own. */
  readonly timer?: Timer;
  /** How often signs of life are given and looked for, in milliseconds. */
  readonly beatMs?: number;
  /** Told what an operator should know: the store is down or up again, calls of a dead process were settled. */
  readonly onEvent?: (event: AccountsEvent) => void;
}

/** What an operator should know. */
export type AccountsEvent =
  | { readonly type: "store_down"; readonly error: unknown }
  | { readonly type: "store_up" }
  | { readonly type: "recovered"; readonly calls: number }
  | { readonly type: "recovery_failed"; readonly error: unknown };

/** The accounts, opened. */
export interface OpenedAccounts {
  /** What the pipeline asks. */
  readonly accounts: Accounts;
  /** What operators do. */
  readonly admin: Admin;
  /** Writes now what is settled and not written yet. Nobody has to: it is written soon, and at the latest by `close`. */
  readonly flush: () => Promise<void>;
  /** The first key, where it was made just now: it cannot be shown again. */
  readonly freshKey?: string;
}

const BEAT_MS = 2500;
const CLOSE_MS = 5000;
const MAX_USER_CHARS = 512;

/**
 * Opens the accounts: makes what a first start needs, settles what dead processes left open, and gives signs of life from then
 * on.
 *
 * @example
 * ```ts ignore
 * import { openAccounts } from "./open_accounts.ts";
 * import { openStore } from "./open_store.ts";
 *
 * const { accounts, freshKey } = await openAccounts({
 *   store: await openStore("sqlite::memory:"),
 *   price: () => ({ input: 3_000_000, cacheRead: 300_000, cacheWrite: 3_750_000, output: 15_000_000 }),
 * });
 * const caller = await accounts.authenticate([freshKey ?? ""]);
 * const reservation = await accounts.reserve(caller, {
 *   requestId: "req_1",
 *   model: "vendora-sonnet-4-6",
 *   inputTokens: 10,
 *   maxOutputTokens: 100,
 * });
 * reservation.settle({ usage: { input: 9, output: 12 }, generatedChars: 50, ended: "complete" });
 * await accounts.close();
 * ```
 * @throws {Error} when the store does not answer
 */
export async function openAccounts(
  options: AccountsOptions,
): Promise<OpenedAccounts> {
  const { store, price, onEvent } = options;
  const now = options.now ?? Date.now;
  const timer = options.timer ?? startTimer;
  const ownerId = newId("owner", now());

  const freshKey = await furnish(
    store,
    now(),
    options.configuredKey !== undefined,
  );
  const callers = openCallers({
    store,
    now,
    ...(options.configuredKey === undefined
      ? {}
      : { configuredKey: options.configuredKey }),
  });
  const memory = new BooksMemory();
  const journal = openJournal({
    async enter(events) {
      const { value, durable } = await store.commit((sql, isSequel) => {
        if (!isSequel) memory.forget();
        return enter(sql, store.dialect, events, memory);
      }, memory);
      return { verdicts: value, durable };
    },
    now,
    timer,
    onState: (up, error) =>
      onEvent?.(up ? { type: "store_up" } : { type: "store_down", error }),
  });
  const life = await beginLife({
    store,
    ownerId,
    now,
    timer,
    beatMs: options.beatMs ?? BEAT_MS,
    onRecovered: (calls) => onEvent?.({ type: "recovered", calls }),
    onFailed: (error) => onEvent?.({ type: "recovery_failed", error }),
  });

  const accounts: Accounts = {
    authenticate: callers.authenticate,
    async reserve(caller, intended) {
      const identity = callers.identity(caller);
      refuseAtOnce(caller, intended.model);
      const modelPrice = price(intended.model);
      if (modelPrice === undefined) {
        throw new ApiError(
          "not_found",
          `the model ${intended.model} does not exist`,
          { code: "model_not_found", param: "model", retryable: false },
        );
      }
      const user = intended.user === undefined
        ? undefined
        : storable(intended.user);
      const inputTokens = wholeTokens(intended.inputTokens);
      const maxOutputTokens = wholeTokens(intended.maxOutputTokens);
      const call: OpenCall = {
        requestId: intended.requestId,
        accountId: caller.accountId,
        keyId: caller.keyId,
        model: intended.model,
        ...(user === undefined ? {} : { user }),
        inputTokens,
        maxOutputTokens,
        price: modelPrice,
        reservedMicroUsd: worstCostMicroUsd(
          modelPrice,
          inputTokens,
          maxOutputTokens,
        ),
        atMs: now(),
      };
      journal.refuseIfDown();
      const answer = journal.reserve({ type: "reserve", call, ownerId });
      const overlaps = cannotBeRefused(identity);
      const limits = overlaps ? {} : limitsIn((await answer).verdict, call);
      const written = answer.then(({ verdict, durable }) => {
        limitsIn(verdict, call);
        return durable;
      });
      // Who does not look at it must not bring the process down.
      written.catch(() => {});
      let isSettled = false;
      return {
        limits,
        written,
        settle(outcome) {
          if (isSettled) return;
          isSettled = true;
          journal.owe({
            type: "settle",
            call,
            charge: chargeFor(call, outcome),
            atMs: now(),
          });
        },
      };
    },
    async ready() {
      try {
        journal.refuseIfDown();
        await store.read("SELECT 1 AS one");
        return journal.isUp() || await journal.probe();
      } catch {
        return false;
      }
    },
    backlog: journal.backlog,
    async close() {
      await journal.close(CLOSE_MS);
      await life.end();
      await store.close();
    },
  };
  return {
    accounts,
    admin: adminOf({
      store,
      now,
      changed: callers.changed,
      knowsModel: (model) => price(model) !== undefined,
    }),
    flush: journal.flush,
    ...(freshKey === undefined ? {} : { freshKey }),
  };
}

/** What the memory of callers is enough to refuse: the books need not be asked. */
function refuseAtOnce(caller: Caller, model: string): void {
  const refuse = (code: string, message: string): RefusedCall =>
    new RefusedCall("permission", message, { code, retryable: false }, {});
  if (!caller.isActive) {
    throw refuse("account_disabled", "the account is disabled");
  }
  if (!caller.allows(model)) {
    throw refuse("model_not_in_plan", notInPlan(model));
  }
}

/** Whether the books have no reason to refuse a call of this caller: nothing is limited, nothing must be covered. */
function cannotBeRefused({ account, plan, hasPurses }: Identity): boolean {
  return account.billing === "postpaid" && !hasPurses &&
    plan.requestsPerMinute === undefined &&
    plan.tokensPerMinute === undefined &&
    plan.concurrentRequests === undefined &&
    plan.spendPerDayMicroUsd === undefined;
}

function limitsIn(
  verdict: Verdict,
  call: OpenCall,
): (Verdict & { readonly type: "granted" })["limits"] {
  switch (verdict.type) {
    case "granted":
      return verdict.limits;
    case "refused": {
      const { kind, message, limits, code, retryable, retryAfterSeconds } =
        verdict.refusal;
      throw new RefusedCall(kind, message, {
        code,
        retryable,
        ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      }, limits);
    }
    case "entered":
    case "again":
      throw new Error(`the request id was used before: ${call.requestId}`);
    case "no_account":
      throw new Error(`there is no account ${call.accountId}`);
  }
}

/** A caller's text as every store can keep it: Postgres has no NUL and no half of a surrogate pair. */
function storable(text: string): string {
  return text.replaceAll("\0", "").slice(0, MAX_USER_CHARS).toWellFormed();
}
