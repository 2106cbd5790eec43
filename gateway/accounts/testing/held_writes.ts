/**
 * Writes of accounts that do not end by themselves, on a store with some accounts.
 */
import assert from "node:assert/strict";
import { writeAccounts } from "../ledger/account_writes.ts";
import type { LedgerEvent } from "../ledger/events.ts";
import type { Admin } from "../repositories/admin.ts";
import type { ParallelWrites, Store } from "../store/store.ts";
import { PRICE, testClock } from "./open_test_accounts.ts";
import { readingAdmin } from "./reading_admin.ts";

/** Ids of what {@linkcode createAccounts} creates. */
export const ACCOUNTS = ["a", "b", "c", "d"];

/** The administration of the accounts, and their keys. */
export interface HeldAccounts {
  readonly admin: Admin;
  readonly keyIds: ReadonlyMap<string, string>;
}

/** Creates accounts that have a webhook, and a key with limits. */
export async function createAccounts(store: Store): Promise<HeldAccounts> {
  const admin = readingAdmin(store, testClock().now);
  await admin.plans.create({ id: "p", spendPerDayMicroUsd: 1e9 });
  const keyIds = new Map<string, string>();
  for (const id of ACCOUNTS) {
    await admin.accounts.create({ id, planId: "p" });
    await admin.accounts.topUp(id, { microUsd: 1_000_000 });
    await admin.webhooks.set(id, "http://127.0.0.1:9/");
    const { record } = await admin.keys.issue({
      accountId: id,
      tokensPerDay: 1_000_000,
    });
    keyIds.set(id, record.id);
  }
  return { admin, keyIds };
}

let calls = 0;

/** A call of an account, reserved and settled. */
export function callOf(
  accountId: string,
  { keyIds }: Pick<HeldAccounts, "keyIds">,
): readonly LedgerEvent[] {
  const { now } = testClock();
  const call = {
    requestId: `req_${++calls}`,
    accountId,
    keyId: keyIds.get(accountId) ?? "",
    model: "small",
    user: "somebody",
    inputTokens: 10,
    maxOutputTokens: 20,
    price: PRICE,
    reservedMicroUsd: 50,
    reservedTokens: 30,
    atMs: now(),
  };
  return [
    { type: "reserve", call, leaseId: "owner" },
    {
      type: "settle",
      call,
      charge: {
        tokens: { input: 10, cacheRead: 0, cacheWrite: 0, output: 5 },
        reasoningTokens: 0,
        estimated: false,
        ended: "complete",
        costMicroUsd: 20,
      },
      atMs: now(),
    },
  ];
}

export function writesOf({ parallel }: Store): ParallelWrites {
  return parallel ?? assert.fail("its writes do not run beside each other");
}

/** Applies events as one write. Returns what became of each; undefined: its account was locked. */
export async function apply(
  store: Store,
  events: readonly LedgerEvent[],
): Promise<readonly (string | undefined)[]> {
  const { results } = await writeAccounts(
    writesOf(store),
    store.dialect,
    events,
  );
  return results.map((result) => result?.type);
}

/** A write that has done all but its commit. */
interface Held {
  /** Commits it. */
  end(): Promise<readonly (string | undefined)[]>;
}

/** Applies events as a write that does not end by itself. */
export async function hold(
  store: Store,
  events: readonly LedgerEvent[],
): Promise<Held> {
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const writes = writesOf(store);
  const written = writeAccounts(
    {
      ...writes,
      commit: (ids, work) =>
        writes.commit(ids, async (sql, locked) => {
          const { value, write } = await work(sql, locked);
          await write(sql);
          reached.resolve();
          await gate.promise;
          return { value, write: () => Promise.resolve() };
        }),
    },
    store.dialect,
    events,
  );
  await Promise.race([reached.promise, written]);
  return {
    async end() {
      gate.resolve();
      return (await written).results.map((result) => result?.type);
    },
  };
}

/** What becomes of a call. */
export const WRITTEN = ["granted", "entered"];
