import assert from "node:assert/strict";
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
