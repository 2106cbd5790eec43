import assert from "node:assert/strict";
import { ApiError } from "../../../translate/model/error.ts";
import { audit } from "../audits/audit.ts";
import { type OpenedAccounts } from "../service.ts";
import { openStore } from "../store/open_store.ts";
import type { Store } from "../store/store.ts";
import { type FaultyStore, faultyStores } from "../testing/faulty_store.ts";
import {
  createTestCaller,
  expectRefusal,
  openTestAccounts,
  settleWhole,
  testCall,
  type TestClock,
  testClock,
} from "../testing/open_test_accounts.ts";

interface Bench extends OpenedAccounts {
  readonly store: FaultyStore;
  readonly under: Store;
  readonly clock: TestClock;
  /** What happened. */
  readonly events: readonly string[];
}

function test(name: string, run: (bench: Bench) => Promise<void>): void {
  Deno.test(name, async () => {
    await using under = await openStore("sqlite::memory:");
    const store = faultyStores(under)();
    const clock = testClock();
    const events: string[] = [];
    // Timers never fire: the test flushes.
    await using opened = await openTestAccounts(store, clock, {
      timer: () => () => {},
      onEvent: ({ type }) => events.push(type),
    });
    await run({ ...opened, store, under, clock, events });
    store.setDown(false);
    clock.ms += 10_000;
    await opened.flush();
    assert.deepEqual(await audit(under), []);
  });
}

function isUnavailable(error: unknown): boolean {
  return error instanceof ApiError && error.status === 503 &&
    (error.details.retryAfterSeconds ?? 0) >= 1;
}

test("a store that is down makes a key unavailable, never invalid", async (bench) => {
  const { text = "" } = await bench.admin.keys.issue({ accountId: "default" });
  bench.store.setDown(true);
  await assert.rejects(bench.accounts.authenticate([text]), isUnavailable);
});

test("a cached key works while the store is down, until the cache expires", async (bench) => {
  const { accounts, store, clock, freshKey = "" } = bench;
  await accounts.authenticate([freshKey]);
  store.setDown(true);
  await accounts.authenticate([freshKey]);
  clock.ms += store.maxStalenessMs + 1;
  await assert.rejects(accounts.authenticate([freshKey]), isUnavailable);
});

test("a malformed key is refused even while the store is down", async ({ accounts, store }) => {
  store.setDown(true);
  await assert.rejects(accounts.authenticate(["sk-x"]), /invalid API key/);
});

test("active calls go on while the store is down, and are written when it is back", async (bench) => {
  const { accounts, admin, store, clock } = bench;
  const { caller, accountId } = await createTestCaller(bench, {
    balanceMicroUsd: 1000,
  });
  const decision = accounts.reserve(caller, testCall());
  await bench.flush();
  const reservation = await decision;
  store.setDown(true);
  settleWhole(reservation, 10, 10);
  await bench.flush();
  assert.ok(isUnavailable(await expectRefusal(accounts, caller)));
  assert.equal(await accounts.ready(), false);
  store.setDown(false);
  clock.ms += 10_000;
  assert.equal(await accounts.ready(), true);
  assert.equal((await admin.accounts.get(accountId)).balanceMicroUsd, 970);
});

test("a call that cannot be refused is granted before it is written", async (bench) => {
  const { accounts, freshKey = "" } = bench;
  const caller = await accounts.authenticate([freshKey]);
  // Nothing is written until flush(): if reserve() waited for the store, it would not return.
  const reservation = await accounts.reserve(caller, testCall());
  let isWritten = false;
  const noted = reservation.durable().then(() => {
    isWritten = true;
  });
  assert.equal(isWritten, false);
  await bench.flush();
  await noted;
  assert.equal(isWritten, true);
});

test("a call granted before its write is refused if the write fails, and leaves nothing", async (bench) => {
  const { accounts, store, under, freshKey = "" } = bench;
  const caller = await accounts.authenticate([freshKey]);
  for (const when of ["before", "after"] as const) {
    store.failNext(when);
    const call = testCall();
    const reservation = await accounts.reserve(caller, call);
    await bench.flush();
    await assert.rejects(reservation.decided, isUnavailable);
    await assert.rejects(reservation.durable(), isUnavailable);
    // The pipeline refuses the call and settles it: nothing was generated.
    reservation.settle({ usage: {}, generatedChars: 0, ended: "failed" });
    bench.clock.ms += 10_000;
    await bench.flush();
    const { data } = await bench.admin.ledger({ requestId: call.requestId });
    assert.deepEqual(data, []);
    assert.deepEqual(await under.read("SELECT * FROM open_calls"), []);
  }
});

test("operators get 503 while the store is down", async ({ admin, store }) => {
  store.setDown(true);
  await assert.rejects(admin.accounts.list(), isUnavailable);
  await assert.rejects(admin.accounts.create({}), isUnavailable);
});

test("openAccountService() reports when the store goes down and comes back", async (bench) => {
  const { accounts, store, clock, events, freshKey = "" } = bench;
  const caller = await accounts.authenticate([freshKey]);
  store.setDown(true);
  const reservation = await accounts.reserve(caller, testCall());
  await bench.flush();
  reservation.settle({ usage: {}, generatedChars: 0, ended: "failed" });
  store.setDown(false);
  clock.ms += 1000;
  await bench.flush();
  assert.deepEqual(events, ["store_down", "store_up"]);
});
