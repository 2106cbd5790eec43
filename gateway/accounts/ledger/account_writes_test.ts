/** The last use of keys on Postgres: a process writes it once a minute. */
import assert from "node:assert/strict";
import {
  callWhole,
  createTestCaller,
  openTestAccounts,
  testClock,
} from "../testing/open_test_accounts.ts";
import { postgresAt } from "../testing/stores.ts";
import type { Sql, Store } from "../store/store.ts";

const serverUrl = Deno.env.get("TEST_POSTGRES_URL");

/** The store, with the updates of keys that its writes make. */
function watched(store: Store): { store: Store; updates: string[] } {
  const { parallel } = store;
  assert.ok(parallel !== undefined);
  const updates: string[] = [];
  const watch = (sql: Sql): Sql => ({
    ...sql,
    all(text, values) {
      if (text.startsWith("UPDATE keys")) updates.push(text);
      return sql.all(text, values);
    },
  });
  return {
    updates,
    store: {
      ...store,
      parallel: {
        ...parallel,
        commit: (ids, work) =>
          parallel.commit(ids, async (sql, locked) => {
            const { value, write } = await work(sql, locked);
            return { value, write: (sql) => write(watch(sql)) };
          }),
      },
    },
  };
}

Deno.test({
  name:
    "a busy key is written once a minute, and other writes leave keys alone",
  ignore: serverUrl === undefined,
  async fn() {
    await using database = await postgresAt(serverUrl ?? "").createDatabase();
    const clock = testClock();
    const { store, updates } = watched(await database.open());
    await using accounts = await openTestAccounts(store, clock);
    const { caller, keyId } = await createTestCaller(accounts);
    const call = () => callWhole(accounts.accounts, caller, [1, 1]);
    for (let minute = 1; minute <= 2; minute++) {
      for (let at = 0; at < 5; at++) await call();
      assert.equal(updates.length, minute);
      assert.equal(
        (await accounts.admin.keys.get(keyId)).lastUsedAtMs,
        clock.ms,
      );
      clock.ms += 60_000;
    }
  },
});
