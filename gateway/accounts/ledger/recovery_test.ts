import assert from "node:assert/strict";
import type { AccountsEvent } from "../service.ts";
import { startTimer } from "../timer.ts";
import { openStore } from "../store/open_store.ts";
import { faultyStores } from "../testing/faulty_store.ts";
import {
  callWhole,
  createTestCaller,
  openTestAccounts,
  reserve,
  settleWhole,
  testCall,
  testClock,
} from "../testing/open_test_accounts.ts";

/** Also after a failure: it is shorter than the pause then. */
const HEARTBEAT_MS = 777;

Deno.test("the next start settles the calls of a dead process with the model's average output", async () => {
  await using under = await openStore("sqlite::memory:");
  const view = faultyStores(under);
  const clock = testClock();
  const dying = view();
  const first = await openTestAccounts(dying, clock);
  const { caller, accountId } = await createTestCaller(first);
  for (const output of [30, 51]) {
    const call = { maxOutputTokens: 100 };
    await callWhole(first.accounts, caller, [10, output], call);
  }
  await first.flush();
  const lost = [
    { maxOutputTokens: 1000 },
    { maxOutputTokens: 7 },
    { maxOutputTokens: 1000, model: "large" },
  ].map((call) => testCall({ inputTokens: 100, ...call }));
  for (const call of lost) await reserve(first.accounts, caller, call);
  dying.die();
  await first.accounts.close();
  const recovered: number[] = [];
  await using second = await openTestAccounts(view(), clock, {
    onEvent: (event) =>
      event.type === "recovered" && recovered.push(event.calls),
  });
  assert.deepEqual(recovered, [3]);
  const outputs = [];
  for (const { requestId } of lost) {
    const { data: [entry] } = await second.admin.ledger({ requestId });
    assert.equal(entry?.ended, "lost");
    assert.equal(entry.estimated, true);
    assert.equal(entry.inputTokens, 100);
    outputs.push(entry.outputTokens);
  }
  // The mean of 30 and 51; the call's maximum; the default for a model without replies.
  assert.deepEqual(outputs, [41, 7, 256]);
  const account = await second.admin.accounts.get(accountId);
  assert.equal(account.reservedMicroUsd, 0);
  assert.equal(account.openRequests, 0);
});

Deno.test("counts of a dead process are ended, without an entry", async () => {
  await using under = await openStore("sqlite::memory:");
  const view = faultyStores(under);
  const clock = testClock();
  const dying = view();
  const first = await openTestAccounts(dying, clock);
  const { caller, accountId } = await createTestCaller(first, {
    requestsPerMinute: 1,
  });
  const count = { requestId: "req_counted", model: "small" };
  await first.accounts.beginCount(caller, count);
  dying.die();
  await first.accounts.close();
  await using second = await openTestAccounts(view(), clock);
  const account = await second.admin.accounts.get(accountId);
  assert.equal(account.openRequests, 0);
  assert.equal(account.reservedMicroUsd, 0);
  const { data } = await second.admin.ledger({ accountId });
  assert.deepEqual(data.map(({ kind }) => kind), ["top_up"]);
  await assert.rejects(
    second.accounts.beginCount(caller, { ...count, requestId: "req_other" }),
  );
});

Deno.test("a lease is renewed while the calls of a dead process are settled", async () => {
  await using under = await openStore("sqlite::memory:");
  const view = faultyStores(under);
  const clock = testClock();
  const dying = view();
  const first = await openTestAccounts(dying, clock);
  const { caller } = await createTestCaller(first);
  await reserve(first.accounts, caller);
  dying.die();
  await first.accounts.close();
  const store = view();
  const renewed = Promise.withResolvers<void>();
  let renewals = 0;
  const renew = (id: string): Promise<void> => {
    if (++renewals === 2) renewed.resolve();
    return store.leases.renew(id);
  };
  const recovered: number[] = [];
  await using _second = await openTestAccounts(
    {
      ...store,
      leases: { ...store.leases, renew },
      async write(work, alone) {
        // The first renewal is that of the start.
        if (renewals > 0) await renewed.promise;
        return await store.write(work, alone);
      },
    },
    clock,
    {
      timer: (_, run) => startTimer(0, () => renewals === 1 && run()),
      onEvent: (event) =>
        event.type === "recovered" && recovered.push(event.calls),
    },
  );
  assert.deepEqual(recovered, [1]);
});

Deno.test("a start does not settle the calls of a living process", async () => {
  await using under = await openStore("sqlite::memory:");
  const view = faultyStores(under);
  const clock = testClock();
  const first = await openTestAccounts(view(), clock);
  const { caller, accountId } = await createTestCaller(first);
  const reservation = await reserve(first.accounts, caller, testCall());
  await using second = await openTestAccounts(view(), clock);
  assert.equal((await second.admin.accounts.get(accountId)).openRequests, 1);
  settleWhole(reservation, 1, 1);
  await first.accounts.close();
  assert.equal((await second.admin.accounts.get(accountId)).openRequests, 0);
});

for (
  const [name, hasLease, keptMs] of [
    ["that was never settled is settled after two hours", true, 7_200_000],
    // Found dead, back, and dead again before its next heartbeat.
    ["of a process without a lease is settled after a minute", false, 60_000],
  ] as const
) {
  Deno.test(`a call ${name}`, async () => {
    await using under = await openStore("sqlite::memory:");
    const view = faultyStores(under);
    const clock = testClock();
    await using first = await openTestAccounts(view(), clock);
    const { caller, accountId } = await createTestCaller(first);
    if (!hasLease) await under.write((sql) => sql.all("DELETE FROM owners"));
    await reserve(first.accounts, caller);
    clock.ms += keptMs;
    for (const open of [1, 0]) {
      await using other = await openTestAccounts(view(), clock);
      const account = await other.admin.accounts.get(accountId);
      assert.equal(account.openRequests, open);
      clock.ms += 1;
    }
  });
}

for (
  const [name, breaks] of [
    ["whose removal of the lease fails", "remove"],
    ["whose second account fails", "second"],
    ["whose commit is not confirmed", "after"],
    ["whose commit fails at first", "before"],
  ] as const
) {
  Deno.test(`a recovery ${name} reports its calls once`, async () => {
    await using under = await openStore("sqlite::memory:");
    const view = faultyStores(under);
    const clock = testClock();
    const dying = view();
    const first = await openTestAccounts(dying, clock);
    const callers = [
      await createTestCaller(first),
      await createTestCaller(first),
    ];
    const store = view();
    const { leases } = store;
    let isDead = false;
    let hasFailed = false;
    const events: AccountsEvent[] = [];
    let beat = (): void => {};
    await using _second = await openTestAccounts(
      {
        ...store,
        async write(work, alone) {
          const result = await store.write(work, alone);
          if (breaks === "second" && isDead && !hasFailed) {
            hasFailed = true;
            store.failNext("before");
          }
          return result;
        },
        leases: {
          ...leases,
          async remove(leaseId) {
            if (breaks === "remove" && !hasFailed) {
              hasFailed = true;
              throw new Error("connection lost");
            }
            await leases.remove(leaseId);
          },
        },
      },
      clock,
      {
        heartbeatMs: HEARTBEAT_MS,
        timer: (ms, run) => {
          if (ms === HEARTBEAT_MS) beat = run;
          return () => {};
        },
        onEvent: (event) => events.push(event),
      },
    );
    for (const { caller } of [...callers, ...callers]) {
      await reserve(first.accounts, caller);
    }
    dying.die();
    await first.accounts.close();
    isDead = true;
    if (breaks === "before" || breaks === "after") store.failNext(breaks);
    const heartbeat = async (): Promise<void> => {
      const before = beat;
      before();
      // The end of a heartbeat schedules the next one.
      while (beat === before) await new Promise((go) => setTimeout(go));
    };
    for (let at = 0; at < 3; at++) await heartbeat();
    assert.equal(
      events.reduce(
        (sum, event) => event.type === "recovered" ? sum + event.calls : sum,
        0,
      ),
      4,
    );
    assert.equal(
      events.filter(({ type }) => type === "recovery_failed").length,
      1,
    );
  });
}
