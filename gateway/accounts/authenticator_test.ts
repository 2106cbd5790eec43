import assert from "node:assert/strict";
import { newKey } from "./key.ts";
import { deriveSeal } from "./seal.ts";
import { openStore } from "./store/open_store.ts";
import {
  openTestAccounts,
  staysOpen,
  testClock,
} from "./testing/open_test_accounts.ts";

/** Accounts on a store that counts its reads. */
async function open(configuredKey?: string) {
  const store = await openStore("sqlite::memory:");
  let reads = 0;
  const clock = testClock();
  const opened = await openTestAccounts(
    {
      ...store,
      read(text, values) {
        reads++;
        return store.read(text, values);
      },
    },
    clock,
    { configuredKey: () => configuredKey },
  );
  return { ...opened, store, clock, reads: () => reads };
}

Deno.test("authenticate() does not read the store for a cached key", async () => {
  await using opened = await open();
  const { accounts, reads, freshKey = "" } = opened;
  await accounts.authenticate([freshKey]);
  const before = reads();
  for (let i = 0; i < 100; i++) await accounts.authenticate([freshKey]);
  assert.equal(reads(), before);
});

Deno.test("authenticate() does not read the store for a malformed key", async () => {
  await using opened = await open();
  const before = opened.reads();
  await assert.rejects(opened.accounts.authenticate(["sk-guess", "", "x"]));
  assert.equal(opened.reads(), before);
});

Deno.test("authenticate() reads the revision once for many callers when the cache has expired", async () => {
  await using opened = await open();
  const { accounts, reads, store, freshKey = "" } = opened;
  await accounts.authenticate([freshKey]);
  opened.clock.ms += store.maxStalenessMs + 1;
  const before = reads();
  await Promise.all(
    Array.from({ length: 50 }, () => accounts.authenticate([freshKey])),
  );
  assert.equal(reads(), before + 1);
});

Deno.test("a change by another process is seen once the cache has expired", async () => {
  await using one = await open();
  const { store, clock } = one;
  await using two = await openTestAccounts(staysOpen(store), clock);
  const { text = "", record } = await one.admin.keys.issue({
    accountId: "default",
  });
  await two.accounts.authenticate([text]);
  await one.admin.keys.revoke(record.id);
  clock.ms += store.maxStalenessMs + 1;
  await assert.rejects(two.accounts.authenticate([text]));
});

Deno.test("the configured key works for the default account and is not stored", async () => {
  const configuredKey = "sk-my-own";
  await using opened = await open(configuredKey);
  const caller = await opened.accounts.authenticate([configuredKey]);
  assert.equal(caller.accountId, "default");
  assert.equal(caller.allows("small"), true);
  assert.equal(opened.freshKey, undefined);
  assert.deepEqual(await opened.store.read("SELECT id FROM keys"), []);
  await assert.rejects(opened.accounts.authenticate(["sk-my-owN"]));
});

Deno.test("the configured key has the limits of the default account's plan", async () => {
  const configuredKey = "sk-my-own";
  await using opened = await open(configuredKey);
  await opened.admin.plans.update("unlimited", { models: ["large"] });
  const caller = await opened.accounts.authenticate([configuredKey]);
  assert.equal(caller.allows("small"), false);
  assert.equal(caller.allows("large"), true);
});

Deno.test("only the first start creates a key", async () => {
  await using first = await open();
  assert.ok(first.freshKey !== undefined);
  const kept = staysOpen(first.store);
  await using second = await openTestAccounts(kept, testClock());
  assert.equal(second.freshKey, undefined);
  await second.accounts.authenticate([first.freshKey]);
});

Deno.test("of several presented keys the first valid one is used", async () => {
  await using opened = await open();
  const { accounts, admin, freshKey = "" } = opened;
  const { text = "", record } = await admin.keys.issue({
    accountId: "default",
  });
  const caller = await accounts.authenticate([newKey(), text, freshKey]);
  assert.equal(caller.keyId, record.id);
});

Deno.test("authenticate() returns the seal of the key that is valid, not of another one presented", async () => {
  await using opened = await open();
  const { accounts, freshKey = "" } = opened;
  for (const presented of [[freshKey], ["sk-another", freshKey]]) {
    const { seal } = await accounts.authenticate(presented);
    assert.equal(
      seal.addressOf("reply", "resp_1"),
      deriveSeal(freshKey).addressOf("reply", "resp_1"),
    );
  }
});
