/**
 * Writes of accounts on Postgres: they run beside each other, wait for no more than the lock of
 * their own account, and are read in an order that no late commit changes.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { compact } from "../../../../translate/bytes/compact.ts";
import { writeAccounts } from "../../ledger/account_writes.ts";
import { recovery } from "../../ledger/recovery.ts";
import { audit } from "../../audits/audit.ts";
import type { LedgerEvent } from "../../ledger/events.ts";
import {
  ACCOUNTS,
  apply,
  callOf,
  createAccounts,
  type HeldAccounts,
  hold,
  writesOf,
  WRITTEN,
} from "../../testing/held_writes.ts";
import { testClock } from "../../testing/open_test_accounts.ts";
import { postgresAt } from "../../testing/stores.ts";
import { openPostgresStore } from "./postgres.ts";
import type { Sql, Store } from "../store.ts";

const serverUrl = Deno.env.get("TEST_POSTGRES_URL");

/** Two processes on a store. */
interface Shared extends HeldAccounts {
  readonly one: Store;
  readonly two: Store;
  readonly url: string;
}

function test(name: string, run: (shared: Shared) => Promise<void>): void {
  Deno.test({
    name,
    ignore: serverUrl === undefined,
    async fn() {
      await using database = await postgresAt(serverUrl ?? "")
        .createDatabase();
      await using stack = new AsyncDisposableStack();
      await (await database.open()).close();
      // A write that the test holds may be held for long where the machine is busy.
      const open = (): Store => {
        return stack.use(
          openPostgresStore(database.url, { deadlineMs: 60_000 }),
        );
      };
      const one = open();
      const accounts = await createAccounts(one);
      const two = open();
      await run({ one, two, ...accounts, url: database.url });
    },
  });
}

test("a write waits for no write of another account, whatever it changes", async (shared) => {
  const { one, two } = shared;
  const held = await hold(one, callOf("a", shared));
  assert.deepEqual(await apply(two, callOf("b", shared)), WRITTEN);
  // Nor for one of the same process.
  assert.deepEqual(await apply(one, callOf("c", shared)), WRITTEN);
  assert.deepEqual(await held.end(), WRITTEN);
  assert.deepEqual(await audit(one), []);
});

test("a write of one account waits for its lock; one of several leaves the account out", async (shared) => {
  const { one, two } = shared;
  const held = await hold(one, callOf("a", shared));
  const waiting = apply(two, callOf("a", shared));
  assert.deepEqual(
    await apply(two, [...callOf("a", shared), ...callOf("b", shared)]),
    [undefined, undefined, ...WRITTEN],
  );
  const first = await Promise.race([
    waiting.then(() => "the second"),
    held.end().then(() => "the first"),
  ]);
  assert.equal(first, "the first");
  assert.deepEqual(await waiting, WRITTEN);
  assert.deepEqual(await audit(one), []);
});

test("a change of tables, and a version without locks of accounts, run beside no write", async (shared) => {
  const { one, two } = shared;
  const held = await hold(one, callOf("a", shared));
  let isChanged = false;
  const changed = two.write(() => {
    isChanged = true;
    return Promise.resolve();
  }, "alone");
  await two.read("SELECT 1 AS one");
  assert.equal(isChanged, false);
  await held.end();
  await changed;
  // A version without locks of accounts begins each write with this lock.
  const entered = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const older = one.write(async (sql) => {
    await sql.all("SELECT pg_advisory_xact_lock(7190317442)");
    entered.resolve();
    await gate.promise;
  });
  await entered.promise;
  let isWritten = false;
  const written = apply(two, callOf("a", shared)).then((types) => {
    isWritten = true;
    return types;
  });
  await two.read("SELECT 1 AS one");
  assert.equal(isWritten, false);
  gate.resolve();
  await older;
  assert.deepEqual(await written, WRITTEN);
});

test("an account that does not exist has a result, alone and among others", async (shared) => {
  const { one } = shared;
  const unknown = callOf("nobody", shared);
  assert.deepEqual(await apply(one, unknown), ["no_account", "no_account"]);
  assert.deepEqual(
    await apply(one, [...unknown, ...callOf("a", shared)]),
    ["no_account", "no_account", ...WRITTEN],
  );
});

test("a change of an account, its key, its plan or its webhook waits for the account's write", async (shared) => {
  const { one, admin, keyIds } = shared;
  const keyId = keyIds.get("a") ?? "";
  for (
    const change of [
      () => admin.accounts.topUp("a", { microUsd: 5 }),
      () => admin.accounts.update("a", { planId: "p" }),
      () => admin.keys.update(keyId, { tokensPerDay: 999_999 }),
      () => admin.webhooks.set("a", undefined),
    ]
  ) {
    const held = await hold(one, callOf("a", shared));
    const order: string[] = [];
    const changed = change().then(() => void order.push("change"));
    // Another account's write and a read of this process go on meanwhile.
    await apply(one, callOf("b", shared));
    await admin.accounts.get("a");
    assert.equal(order.length, 0);
    await held.end();
    await changed;
    assert.equal(order.length, 1);
  }
  assert.deepEqual(await audit(one), []);
});

test("a process that stops within a write holds its accounts for a limited time, and no others", async (shared) => {
  const { two, url } = shared;
  await using stopped = openPostgresStore(url, { deadlineMs: 2000 });
  await apply(stopped, callOf("c", shared));
  const held = await hold(stopped, callOf("a", shared));
  assert.deepEqual(await apply(two, callOf("b", shared)), WRITTEN);
  // The server ends the session of the first write.
  assert.deepEqual(await apply(two, callOf("a", shared)), WRITTEN);
  await assert.rejects(held.end());
  assert.deepEqual(await audit(two), []);
});

test("a recovery leaves out an account that stays locked, and settles the calls of the others", async (shared) => {
  const { one, two, url } = shared;
  await using store = openPostgresStore(url, { deadlineMs: 2000 });
  const removed: string[] = [];
  const settled: number[] = [];
  const locked: string[] = [];
  const recover = recovery({
    store: {
      ...store,
      leases: {
        ...store.leases,
        expired: () => Promise.resolve(["owner"]),
        remove: (id) => Promise.resolve(void removed.push(id)),
      },
    },
    leaseId: "another",
    onSettled: (calls) => settled.push(calls),
    onLocked: (error) => locked.push(String(error)),
  });
  const reserved = ["a", "b", "c"].flatMap((id) =>
    callOf(id, shared).slice(0, 1)
  );
  await apply(two, reserved);
  const held = await hold(one, callOf("a", shared));
  const { now } = testClock();
  await recover(now());
  assert.match(locked.join(), /lock timeout/);
  assert.deepEqual([settled, removed], [[2], []]);
  await held.end();
  await recover(now());
  assert.deepEqual([settled, removed, locked.length], [[2, 1], ["owner"], 1]);
  assert.deepEqual(await audit(one), []);
});

test("a wait for the lock that takes too long concerns the account only", async (shared) => {
  const { one, url } = shared;
  await using impatient = openPostgresStore(url, { deadlineMs: 4000 });
  await apply(impatient, callOf("c", shared));
  const held = await hold(one, callOf("a", shared));
  const error = await apply(impatient, callOf("a", shared)).catch((error) =>
    error
  );
  assert.equal(writesOf(impatient).isOfAccount(error), true, String(error));
  assert.equal(writesOf(impatient).isOfAccount(new Error("no")), false);
  await held.end();
});

test("lists and audits of all accounts wait for a write with a lower number", async (shared) => {
  const { one, two, admin } = shared;
  const before = (await admin.ledger({ newestFirst: true })).data[0]?.seq ?? 0;
  const early = callOf("a", shared);
  const late = callOf("b", shared);
  const held = await hold(one, early);
  await apply(two, late);
  const ids = async (accountId?: string): Promise<readonly string[]> => {
    const { data } = await admin.ledger({
      after: String(before),
      ...compact({ accountId }),
    });
    return data.map(({ requestId }) => requestId);
  };
  // The entries of one account are in order by its lock.
  assert.deepEqual(await ids("a"), []);
  const idOf = ([event]: readonly LedgerEvent[]): string =>
    event?.type === "reserve" ? event.call.requestId : "";
  assert.deepEqual(await ids("b"), [idOf(late)]);
  const listed = ids();
  await ids("b");
  await held.end();
  assert.deepEqual(await listed, [idOf(early), idOf(late)]);
});

test("no order of locks makes writes wait for each other for ever", async (shared) => {
  const { one, two } = shared;
  const stores = [one, two];
  const some = fc.uniqueArray(fc.constantFrom(...ACCOUNTS), { minLength: 1 });
  const step = fc.record({
    store: fc.nat(1),
    accounts: some,
    how: fc.constantFrom("calls", "administration", "recovery", "records"),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 2, maxLength: 12 }),
      async (steps) => {
        await Promise.all(steps.map(async ({ store: at, accounts, how }) => {
          const store = stores[at] ?? one;
          const rename = (sql: Sql, id: string) =>
            sql.all("UPDATE accounts SET name = id WHERE id = $1", [id]);
          const recount = (sql: Sql) =>
            sql.all("UPDATE call_count SET rows_kept = rows_kept");
          const inTurn = async (sql: Sql): Promise<void> => {
            for (const id of accounts) {
              await sql.lockAccounts?.([id]);
              await rename(sql, id);
            }
          };
          if (how === "administration") await store.write(inTurn);
          else if (how === "records") {
            await writesOf(store).write("calls", recount);
          } else if (how === "recovery") {
            await writesOf(store).write("recovery", async (sql) => {
              await sql.lockAccounts?.(accounts.slice(0, 1));
              await sql.lockNamed?.("calls");
              await recount(sql);
            });
          } else {
            await writesOf(store).commit(accounts, async (_, locked) => {
              const ids = [...await locked];
              return {
                value: undefined,
                async write(sql) {
                  for (const id of ids) await rename(sql, id);
                  await sql.lockNamed?.("calls");
                  await recount(sql);
                },
              };
            });
          }
        }));
      },
    ),
    { numRuns: 25 },
  );
});

test("a write of accounts names only tables whose rows belong to accounts", async (shared) => {
  const { one } = shared;
  const writes = writesOf(one);
  const texts: string[] = [];
  const seen = (sql: Sql): Sql => ({
    ...sql,
    all(text, values) {
      texts.push(text);
      return sql.all(text, values);
    },
  });
  await writeAccounts(
    {
      ...writes,
      commit: (ids, work) =>
        writes.commit(ids, async (sql, locked) => {
          const { value, write } = await work(seen(sql), locked);
          return { value, write: (sql) => write(seen(sql)) };
        }),
    },
    one.dialect,
    [...callOf("a", shared), ...callOf("b", shared)],
  );
  const tables = new Set(
    texts.flatMap((text) =>
      [...text.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE)\s+([a-z_]+)/g)]
        .map(([, table]) => table)
        .filter((table) => !table?.startsWith("jsonb_"))
    ),
  );
  assert.deepEqual(
    [...tables].toSorted(),
    [
      "account_days",
      "accounts",
      "key_states",
      "keys",
      "ledger",
      // Read, and written by operators only.
      "open_calls",
      "plans",
      "purses",
      "usage_daily",
      "usage_days",
      "usage_hours",
    ],
  );
});
