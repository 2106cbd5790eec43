import assert from "node:assert/strict";
import { newKey } from "./key.ts";
import { deriveSeal } from "./seal.ts";
import { openStore } from "./store/open_store.ts";
import type { Store } from "./store/store.ts";
import { openTestAccounts, testClock } from "./testing/open_test_accounts.ts";

/** A store that counts its reads. */
async function counted(): Promise<{ store: Store; reads: () => number }> {
  const store = await openStore("sqlite::memory:");
  let reads = 0;
  return {
    reads: () => reads,
    store: {
      ...store,
      read(text, values) {
        reads++;
        return store.read(text, values);
      },
    },
  };
}

Deno.test("authenticate() does not read the store for a cached key", async () => {
  const { store, reads } = await counted();
  await using opened = await openTestAccounts(store, testClock());
  const { accounts, freshKey = "" } = opened;
  await accounts.authenticate([freshKey]);
  const before = reads();
  for (let i = 0; i < 100; i++) await accounts.authenticate([freshKey]);
  assert.equal(reads(), before);
});

Deno.test("authenticate() does not read the store for a malformed key", async () => {
  const { store, reads } = await counted();
  await using opened = await openTestAccounts(store, testClock());
  const before = reads();
  await assert.rejects(opened.accounts.authenticate(["sk-guess", "", "x"]));
  assert.equal(reads(), before);
});

Deno.test("authenticate() reads the revision once for many callers when the cache has expired", async () => {
  const { store, reads } = await counted();
  const clock = testClock();
  await using opened = await openTestAccounts(store, clock);
  const { accounts, freshKey = "" } = opened;
  await accounts.authenticate([freshKey]);
  clock.ms += store.maxStalenessMs + 1;
  const before = reads();
  await Promise.all(
    Array.from({ length: 50 }, () => accounts.authenticate([freshKey])),
  );
  assert.equal(reads(), before + 1);
});

Deno.test("a change by another process is seen once the cache has expired", async () => {
  const { store } = await counted();
  const clock = testClock();
  await using one = await openTestAccounts(store, clock);
  const two = await openTestAccounts({
    ...store,
    close: () => Promise.resolve(),
  }, clock);
  const { text = "", record } = await one.admin.keys.issue({
    accountId: "default",
  });
  await two.accounts.authenticate([text]);
  await one.admin.keys.revoke(record.id);
  clock.ms += store.maxStalenessMs + 1;
  await assert.rejects(two.accounts.authenticate([text]));
  await two.accounts.close();
});

Deno.test("the configured key works for the default account and is not stored", async () => {
  const { store } = await counted();
  const configuredKey = "sk-my-own";
  await using opened = await openTestAccounts(store, testClock(), {
    configuredKey: () => configuredKey,
  });
  const caller = await opened.accounts.authenticate([configuredKey]);
  assert.equal(caller.accountId, "default");
  assert.equal(caller.allows("small"), true);
  assert.equal(opened.freshKey, undefined);
  assert.deepEqual(await store.read("SELECT id FROM keys"), []);
  await assert.rejects(opened.accounts.authenticate(["sk-my-owN"]));
});

Deno.test("the configured key has the limits of the default account's plan", async () => {
  const { store } = await counted();
  const configuredKey = "sk-my-own";
  await using opened = await openTestAccounts(store, testClock(), {
    configuredKey: () => configuredKey,
  });
  await opened.admin.plans.update("unlimited", { models: ["large"] });
  const caller = await opened.accounts.authenticate([configuredKey]);
  assert.equal(caller.allows("small"), false);
  assert.equal(caller.allows("large"), true);
});

Deno.test("only the first start creates a key", async () => {
  const { store } = await counted();
  const kept = { ...store, close: () => Promise.resolve() };
  const first = await openTestAccounts(kept, testClock());
  assert.ok(first.freshKey !== undefined);
  const second = await openTestAccounts(kept, testClock());
  assert.equal(second.freshKey, undefined);
  await second.accounts.authenticate([first.freshKey]);
  await first.accounts.close();
  await second.accounts.close();
  await store.close();
});

Deno.test("of several presented keys the first valid one is used", async () => {
  const { store } = await counted();
  await using opened = await openTestAccounts(store, testClock());
  const { accounts, admin, freshKey = "" } = opened;
  const { text = "", record } = await admin.keys.issue({
    accountId: "default",
  });
  const caller = await accounts.authenticate([newKey(), text, freshKey]);
  assert.equal(caller.keyId, record.id);
});

Deno.test("authenticate() returns the seal of the key that is valid, not of another one presented", async () => {
  const { store } = await counted();
  await using opened = await openTestAccounts(store, testClock());
  const { accounts, freshKey = "" } = opened;
  for (const presented of [[freshKey], ["sk-another", freshKey]]) {
    const { seal } = await accounts.authenticate(presented);
    assert.equal(
      seal.addressOf("reply", "resp_1"),
      deriveSeal(freshKey).addressOf("reply", "resp_1"),
    );
  }
});
