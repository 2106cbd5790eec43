import assert from "node:assert/strict";
import { openStore } from "./open_store.ts";
import { playedStores } from "./testing/faulty_store.ts";
import { callOf, newCaller, open, testClock } from "./testing/opened.ts";

Deno.test("the next start settles what a dead process left open, by what is usual for the model", async () => {
  const under = await openStore("sqlite::memory:");
  const view = playedStores(under);
  const clock = testClock();
  const dying = view();
  const first = await open(dying, clock);
  const { caller, accountId } = await newCaller(first);
  for (const output of [30, 51]) {
    const told = await first.accounts.reserve(
      caller,
      callOf({ maxOutputTokens: 100 }),
    );
    told.settle({
      usage: { input: 10, output },
      generatedChars: 0,
      ended: "complete",
    });
  }
  await first.flush();
  const lost = callOf({ inputTokens: 100, maxOutputTokens: 1000 });
  const short = callOf({ inputTokens: 100, maxOutputTokens: 7 });
  const other = callOf({
    inputTokens: 100,
    maxOutputTokens: 1000,
    model: "large",
  });
  for (const call of [lost, short, other]) {
    await first.accounts.reserve(caller, call);
  }
  dying.die();
  await first.accounts.close();
  const recovered: number[] = [];
  const second = await open(view(), clock, {
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
  // The mean of 30 and 51, what was allowed, and what is usual where nothing is known.
  assert.deepEqual(outputs, [41, 7, 256]);
  const account = await second.admin.accounts.get(accountId);
  assert.equal(account.reservedMicroUsd, 0);
  assert.equal(account.openRequests, 0);
  await second.accounts.close();
  await under.close();
});

Deno.test("a start leaves alone what a living process has open", async () => {
  const under = await openStore("sqlite::memory:");
  const view = playedStores(under);
  const clock = testClock();
  const first = await open(view(), clock);
  const { caller, accountId } = await newCaller(first);
  const reservation = await first.accounts.reserve(caller, callOf());
  const second = await open(view(), clock);
  assert.equal((await second.admin.accounts.get(accountId)).openRequests, 1);
  reservation.settle({
    usage: { input: 1, output: 1 },
    generatedChars: 4,
    ended: "complete",
  });
  await first.accounts.close();
  assert.equal((await second.admin.accounts.get(accountId)).openRequests, 0);
  await second.accounts.close();
  await under.close();
});

Deno.test("a call that was forgotten gives its place back after two hours", async () => {
  const under = await openStore("sqlite::memory:");
  const view = playedStores(under);
  const clock = testClock();
  const first = await open(view(), clock);
  const { caller, accountId } = await newCaller(first, {
    concurrentRequests: 1,
  });
  await first.accounts.reserve(caller, callOf());
  clock.ms += 2 * 60 * 60 * 1000;
  const second = await open(view(), clock);
  assert.equal((await second.admin.accounts.get(accountId)).openRequests, 1);
  clock.ms += 1;
  const third = await open(view(), clock);
  assert.equal((await third.admin.accounts.get(accountId)).openRequests, 0);
  for (const opened of [first, second, third]) await opened.accounts.close();
  await under.close();
});
