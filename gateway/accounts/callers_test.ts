import assert from "node:assert/strict";
import { newKey } from "./key.ts";
import { openStore } from "./open_store.ts";
import type { Store } from "./store.ts";
import { open, testClock } from "./testing/opened.ts";

/** A store that counts how often it is read. */
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

Deno.test("authenticate() reads nothing for a key that it remembers", async () => {
  const { store, reads } = await counted();
  await using opened = await open(store, testClock());
  const { accounts, freshKey = "" } = opened;
  await accounts.authenticate([freshKey]);
  const before = reads();
  for (let i = 0; i < 100; i++) await accounts.authenticate([freshKey]);
  assert.equal(reads(), before);
});

Deno.test("authenticate() reads nothing for a text that no key can be", async () => {
  const { store, reads } = await counted();
  await using opened = await open(store, testClock());
  const before = reads();
  await assert.rejects(opened.accounts.authenticate(["sk-guess", "", "x"]));
  assert.equal(reads(), before);
});

Deno.test("authenticate() looks once for many callers when its trust has run out", async () => {
  const { store, reads } = await counted();
  const clock = testClock();
  await using opened = await open(store, clock);
  const { accounts, freshKey = "" } = opened;
  await accounts.authenticate([freshKey]);
  clock.ms += store.trustMs + 1;
  const before = reads();
  await Promise.all(
    Array.from({ length: 50 }, () => accounts.authenticate([freshKey])),
  );
  assert.equal(reads(), before + 1);
});

Deno.test("a change by another process is seen when the trust has run out, at the latest", async () => {
  const { store } = await counted();
  const clock = testClock();
  await using one = await open(store, clock);
  const two = await open({ ...store, close: () => Promise.resolve() }, clock);
  const { text = "", record } = await one.admin.keys.issue({
    accountId: "default",
  });
  await two.accounts.authenticate([text]);
  await one.admin.keys.revoke(record.id);
  clock.ms += store.trustMs + 1;
  await assert.rejects(two.accounts.authenticate([text]));
  await two.accounts.close();
});

Deno.test("the configured key works for the default account and is kept nowhere", async () => {
  const { store } = await counted();
  const configuredKey = "sk-my-own";
  await using opened = await open(store, testClock(), { configuredKey });
  const caller = await opened.accounts.authenticate([configuredKey]);
  assert.equal(caller.accountId, "default");
  assert.equal(caller.allows("small"), true);
  assert.equal(opened.freshKey, undefined);
  assert.deepEqual(await store.read("SELECT id FROM keys"), []);
  await assert.rejects(opened.accounts.authenticate(["sk-my-owN"]));
});

Deno.test("the configured key obeys the default account", async () => {
  const { store } = await counted();
  const configuredKey = "sk-my-own";
  await using opened = await open(store, testClock(), { configuredKey });
  await opened.admin.plans.update("unlimited", { models: ["large"] });
  const caller = await opened.accounts.authenticate([configuredKey]);
  assert.equal(caller.allows("small"), false);
  assert.equal(caller.allows("large"), true);
});

Deno.test("only the first start makes a key", async () => {
  const { store } = await counted();
  const kept = { ...store, close: () => Promise.resolve() };
  const first = await open(kept, testClock());
  assert.ok(first.freshKey !== undefined);
  const second = await open(kept, testClock());
  assert.equal(second.freshKey, undefined);
  await second.accounts.authenticate([first.freshKey]);
  await first.accounts.close();
  await second.accounts.close();
  await store.close();
});

Deno.test("of several presented keys the first valid one counts", async () => {
  const { store } = await counted();
  await using opened = await open(store, testClock());
  const { accounts, admin, freshKey = "" } = opened;
  const { text = "", record } = await admin.keys.issue({
    accountId: "default",
  });
  const caller = await accounts.authenticate([newKey(), text, freshKey]);
  assert.equal(caller.keyId, record.id);
});
