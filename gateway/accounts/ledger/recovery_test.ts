import assert from "node:assert/strict";
import { openStore } from "../store/open_store.ts";
import { faultyStores } from "../testing/faulty_store.ts";
import {
  createTestCaller,
  openTestAccounts,
  reserve,
  settleWhole,
  testCall,
  testClock,
} from "../testing/open_test_accounts.ts";

Deno.test("the next start settles the calls of a dead process with the model's average output", async () => {
  const under = await openStore("sqlite::memory:");
  const view = faultyStores(under);
  const clock = testClock();
  const dying = view();
  const first = await openTestAccounts(dying, clock);
  const { caller, accountId } = await createTestCaller(first);
  for (const output of [30, 51]) {
    const reported = await reserve(
      first.accounts,
      caller,
      testCall({ maxOutputTokens: 100 }),
    );
    reported.settle({
      usage: { input: 10, output },
      generatedChars: 0,
      ended: "complete",
    });
  }
  await first.flush();
  const lost = testCall({ inputTokens: 100, maxOutputTokens: 1000 });
  const short = testCall({ inputTokens: 100, maxOutputTokens: 7 });
  const other = testCall({
    inputTokens: 100,
    maxOutputTokens: 1000,
    model: "large",
  });
  for (const call of [lost, short, other]) {
    await reserve(first.accounts, caller, call);
  }
  dying.die();
  await first.accounts.close();
  const recovered: number[] = [];
  const second = await openTestAccounts(view(), clock, {
    onEvent: (event) =>
      event.type === "recovered" && recovered.push(event.calls),
  });
  assert.deepEqual(recovered, [3]);
  const outputs = [];
  for (const { requestId } of [lost, short, other]) {
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
  await second.accounts.close();
  await under.close();
});

Deno.test("a start does not settle the calls of a living process", async () => {
  const under = await openStore("sqlite::memory:");
  const view = faultyStores(under);
  const clock = testClock();
  const first = await openTestAccounts(view(), clock);
  const { caller, accountId } = await createTestCaller(first);
  const reservation = await reserve(first.accounts, caller, testCall());
  const second = await openTestAccounts(view(), clock);
  assert.equal((await second.admin.accounts.get(accountId)).openRequests, 1);
  settleWhole(reservation, 1, 1);
  await first.accounts.close();
  assert.equal((await second.admin.accounts.get(accountId)).openRequests, 0);
  await second.accounts.close();
  await under.close();
});

Deno.test("a call that was never settled is settled after two hours", async () => {
  const under = await openStore("sqlite::memory:");
  const view = faultyStores(under);
  const clock = testClock();
  const first = await openTestAccounts(view(), clock);
  const { caller, accountId } = await createTestCaller(first, {
    concurrentRequests: 1,
  });
  await reserve(first.accounts, caller, testCall());
  clock.ms += 2 * 60 * 60 * 1000;
  const second = await openTestAccounts(view(), clock);
  assert.equal((await second.admin.accounts.get(accountId)).openRequests, 1);
  clock.ms += 1;
  const third = await openTestAccounts(view(), clock);
  assert.equal((await third.admin.accounts.get(accountId)).openRequests, 0);
  for (const opened of [first, second, third]) await opened.accounts.close();
  await under.close();
});

Deno.test("a call of a process without a lease is settled after a minute", async () => {
  const under = await openStore("sqlite::memory:");
  const view = faultyStores(under);
  const clock = testClock();
  const first = await openTestAccounts(view(), clock);
  const { caller, accountId } = await createTestCaller(first);
  // Found dead, back, and dead again before its next heartbeat.
  await under.write((sql) => sql.all("DELETE FROM owners"));
  await reserve(first.accounts, caller, testCall());
  clock.ms += 60_000;
  const second = await openTestAccounts(view(), clock);
  assert.equal((await second.admin.accounts.get(accountId)).openRequests, 1);
  clock.ms += 1;
  const third = await openTestAccounts(view(), clock);
  assert.equal((await third.admin.accounts.get(accountId)).openRequests, 0);
  for (const opened of [first, second, third]) await opened.accounts.close();
  await under.close();
});
