/**
 * Account service for tests: a manual clock, round prices, and helpers to create an account
 * with a key.
 */
import assert from "node:assert/strict";
import { compact } from "../../../translate/bytes/compact.ts";
import type {
  Accounts,
  Caller,
  IntendedCall,
  Limits,
  Reservation,
} from "../accounts.ts";
import { ApiError, type ErrorDetails } from "../../../translate/model/error.ts";
import type { ModelPrice } from "../charges/money.ts";
import type { RateCard } from "../charges/rate_card.ts";
import {
  type AccountsOptions,
  openAccountService,
  type OpenedAccounts,
} from "../service.ts";
import type { KeySettings } from "../repositories/key_repository.ts";
import type { PlanSettings } from "../repositories/plan_repository.ts";
import type { Store } from "../store/store.ts";

/** A manual clock. Starts one minute after midnight (UTC). */
export interface TestClock {
  /** Current time; may be set. */
  ms: number;
  /** Returns the current time. */
  readonly now: () => number;
}

export function testClock(
  ms: number = Date.UTC(2026, 10, 21, 0, 1),
): TestClock {
  const clock: TestClock = { ms, now: () => clock.ms };
  return clock;
}

/** One micro-dollar per prompt token, two per output token. */
export const PRICE: ModelPrice = {
  input: 1_000_000,
  cacheRead: 100_000,
  cacheWrite: 1_000_000,
  output: 2_000_000,
};

/** The card of the model `carded`: more than four rates. */
export const CARD: RateCard = {
  ...PRICE,
  meters: { cache_write_1h: 2_000_000 },
  uses: { web_search: 10_000 },
  when: [{ speed: "fast", factor: 6 }],
  version: "2026-11-01",
};

/** The models of the tests that have the price {@linkcode PRICE}. */
export const MODELS: readonly string[] = ["small", "large", "other"];

/** Opens the account service on a store. Disposing of it closes both. */
export async function openTestAccounts(
  store: Store,
  clock: TestClock,
  options: Partial<AccountsOptions> = {},
): Promise<OpenedAccounts & AsyncDisposable> {
  const opened = await openAccountService({
    store,
    price: (model) =>
      model === "carded" ? CARD : MODELS.includes(model) ? PRICE : undefined,
    now: clock.now,
    ...options,
  });
  return {
    ...opened,
    [Symbol.asyncDispose]: () => opened.accounts.close(),
  };
}

/** A store that stays open when the accounts on it are closed, as others use it. */
export function staysOpen(store: Store): Store {
  return { ...store, close: () => Promise.resolve() };
}

/** A caller, with its text of a key and its ids. */
export interface TestCaller {
  readonly caller: Caller;
  readonly key: string;
  readonly keyId: string;
  readonly accountId: string;
  readonly planId: string;
}

/** Creates an account with its own plan, a balance and a key. */
export async function createTestCaller(
  { accounts, admin }: OpenedAccounts,
  settings: PlanSettings & {
    readonly balanceMicroUsd?: number;
    readonly keyModels?: readonly string[];
    readonly keyLimits?: KeySettings;
  } = {},
): Promise<TestCaller> {
  const { balanceMicroUsd = 1_000_000, keyModels, keyLimits, ...plan } =
    settings;
  const { id: planId } = await admin.plans.create(plan);
  const { id: accountId } = await admin.accounts.create({ planId });
  if (balanceMicroUsd !== 0) {
    await admin.accounts.topUp(accountId, { microUsd: balanceMicroUsd });
  }
  const { text: key = "", record } = await admin.keys.issue({
    accountId,
    ...keyLimits,
    ...compact({ models: keyModels }),
  });
  return {
    caller: await accounts.authenticate([key]),
    key,
    keyId: record.id,
    accountId,
    planId,
  };
}

let calls = 0;

/** A call with a worst-case cost of `inputTokens + 2 * maxOutputTokens` micro-dollars. */
export function testCall(fields: Partial<IntendedCall> = {}): IntendedCall {
  return {
    requestId: `req_${++calls}`,
    model: "small",
    inputTokens: 10,
    maxOutputTokens: 20,
    ...fields,
  };
}

/** A granted call, and the limits after it. */
interface GrantedCall extends Reservation {
  readonly limits: Limits;
}

/** Reserves a call and waits until its reservation is durable. */
export async function reserve(
  accounts: Accounts,
  caller: Caller,
  call: IntendedCall = testCall(),
): Promise<GrantedCall> {
  const reservation = await accounts.reserve(caller, call);
  return { ...reservation, limits: await reservation.durable() };
}

/** Settles a call whose reply is complete and reports its usage. */
export function settleWhole(
  call: Pick<Reservation, "settle">,
  input: number,
  output: number,
): void {
  call.settle({
    usage: { input, output },
    generatedChars: 4 * output,
    ended: "complete",
  });
}

/** Makes a call whose reply is complete and reports its usage. */
export async function callWhole(
  accounts: Accounts,
  caller: Caller,
  [input, output]: readonly [input: number, output: number],
  fields: Partial<IntendedCall> = {},
): Promise<void> {
  settleWhole(await reserve(accounts, caller, testCall(fields)), input, output);
}

/** The error of a call that must be refused, with some of its details. Fails if it is granted. */
export async function expectRefusal(
  accounts: Accounts,
  caller: Caller,
  { status, ...details }: ErrorDetails & { readonly status?: number } = {},
  call: IntendedCall = testCall(),
): Promise<ApiError> {
  try {
    await reserve(accounts, caller, call);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    assert.equal(error.status, status ?? error.status);
    assert.deepEqual({ ...error.details, ...details }, error.details);
    return error;
  }
  throw new Error("the call was granted");
}
