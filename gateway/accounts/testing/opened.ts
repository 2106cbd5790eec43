/**
 * Opened accounts for tests: a clock that is set, prices that are round, and short ways to an account with a key.
 *
 * @module
 */
import type { Accounts, Caller, IntendedCall } from "../accounts.ts";
import { ApiError } from "../../../translate/error.ts";
import type { ModelPrice } from "../money.ts";
import {
  type AccountsOptions,
  openAccounts,
  type OpenedAccounts,
} from "../open_accounts.ts";
import type { PlanSettings } from "../plan_register.ts";
import type { Store } from "../store.ts";

/** A clock that stands still until it is moved. Begins at a minute past midnight (UTC). */
export interface TestClock {
  /** What it shows; to be set. */
  ms: number;
  /** Reads it. */
  readonly now: () => number;
}

/** Makes a clock. */
export function testClock(
  ms: number = Date.UTC(2026, 10, 21, 0, 1),
): TestClock {
  const clock: TestClock = { ms, now: () => clock.ms };
  return clock;
}

/** A dollar per million tokens in, two out: a micro-dollar a token, and two. */
export const PRICE: ModelPrice = {
  input: 1_000_000,
  cacheRead: 100_000,
  cacheWrite: 1_000_000,
  output: 2_000_000,
};

/** The models that there are in tests. */
export const MODELS: readonly string[] = ["small", "large", "other"];

/** Opens accounts on a store. They end with the `using` that holds them. */
export async function open(
  store: Store,
  clock: TestClock,
  options: Partial<AccountsOptions> = {},
): Promise<OpenedAccounts & AsyncDisposable> {
  const opened = await openAccounts({
    store,
    price: (model) => MODELS.includes(model) ? PRICE : undefined,
    now: clock.now,
    ...options,
  });
  return {
    ...opened,
    [Symbol.asyncDispose]: () => opened.accounts.close(),
  };
}

/** An account of its own plan, with money and a key. */
export async function newCaller(
  { accounts, admin }: OpenedAccounts,
  settings: PlanSettings & {
    readonly balanceMicroUsd?: number;
    readonly keyModels?: readonly string[];
  } = {},
): Promise<{ caller: Caller; key: string; accountId: string; planId: string }> {
  const { balanceMicroUsd = 1_000_000, keyModels, ...plan } = settings;
  const { id: planId } = await admin.plans.create(plan);
  const { id: accountId } = await admin.accounts.create({ planId });
  if (balanceMicroUsd !== 0) {
    await admin.accounts.topUp(accountId, { microUsd: balanceMicroUsd });
  }
  const { text: key = "" } = await admin.keys.issue({
    accountId,
    ...(keyModels === undefined ? {} : { models: keyModels }),
  });
  return {
    caller: await accounts.authenticate([key]),
    key,
    accountId,
    planId,
  };
}

let calls = 0;

/** A call that costs at most `inputTokens + 2 * maxOutputTokens` micro-dollars. */
export function callOf(fields: Partial<IntendedCall> = {}): IntendedCall {
  return {
    requestId: `req_${++calls}`,
    model: "small",
    inputTokens: 10,
    maxOutputTokens: 20,
    ...fields,
  };
}

/** What a refused call is told. Fails where it is granted. */
export async function refusal(
  accounts: Accounts,
  caller: Caller,
  call: IntendedCall = callOf(),
): Promise<ApiError> {
  try {
    const reservation = await accounts.reserve(caller, call);
    await reservation.written;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error("the call was granted");
}
