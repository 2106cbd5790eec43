/**
 * Reserving and charging calls: permissions, balances, charges: tests that every store must pass.
 */
import assert from "node:assert/strict";
import { RefusedCall } from "../accounts.ts";
import type { CallOutcome } from "../call_outcome.ts";
import type { LedgerEvent } from "../ledger/events.ts";
import { applyEvents } from "../ledger/transaction.ts";
import type { ReservedCall } from "../records.ts";
import type { AccountsTest } from "./accounts_spec.ts";
import {
  callWhole,
  createTestCaller,
  expectRefusal,
  MODELS,
  PRICE,
  reserve,
  settleWhole,
  testCall,
} from "../testing/open_test_accounts.ts";

export function callsSpec(test: AccountsTest): void {
  test("reserve() refuses a model outside the plan", async (bench) => {
    const { caller } = await createTestCaller(bench, {
      models: ["small", "large"],
    });
    assert.equal(caller.allows("small"), true);
    assert.equal(caller.allows("other"), false);
    const refusal = {
      status: 403,
      code: "model_not_in_plan",
      retryable: false,
    };
    const call = testCall({ model: "other" });
    await expectRefusal(bench.accounts, caller, refusal, call);
  });

  test("reserve() refuses a model outside the key's own list", async (bench) => {
    const { caller } = await createTestCaller(bench, {
      models: ["small", "large"],
      keyModels: ["large", "other"],
    });
    assert.deepEqual(MODELS.filter((model) => caller.allows(model)), ["large"]);
    await expectRefusal(bench.accounts, caller, { code: "model_not_in_plan" });
  });

  test("reserve() refuses calls of a disabled account, also if it was active at authentication", async (bench) => {
    const { caller, key, accountId } = await createTestCaller(bench);
    await bench.admin.accounts.update(accountId, { status: "disabled" });
    for (const one of [caller, await bench.accounts.authenticate([key])]) {
      await expectRefusal(bench.accounts, one, {
        status: 403,
        code: "account_disabled",
        retryable: false,
      });
    }
  });

  test("reserve() grants a call that the balance just covers, and refuses one that costs a micro-dollar more", async (bench) => {
    const { accounts, admin } = bench;
    const { caller, accountId } = await createTestCaller(bench, {
      balanceMicroUsd: 49,
    });
    const call = testCall({ inputTokens: 10, maxOutputTokens: 20 });
    const refusal = {
      status: 403,
      code: "insufficient_balance",
      retryable: false,
    };
    await expectRefusal(accounts, caller, refusal, call);
    await admin.accounts.topUp(accountId, { microUsd: 1 });
    await reserve(accounts, caller, call);
    await expectRefusal(accounts, caller, refusal);
  });

  test("settle() releases what was reserved but not spent", async (bench) => {
    const { accounts, admin } = bench;
    const { caller, accountId } = await createTestCaller(bench, {
      balanceMicroUsd: 50,
    });
    const first = await reserve(accounts, caller, testCall());
    assert.equal((await admin.accounts.get(accountId)).reservedMicroUsd, 50);
    settleWhole(first, 8, 1);
    await bench.flush();
    const account = await admin.accounts.get(accountId);
    assert.equal(account.reservedMicroUsd, 0);
    assert.equal(account.openRequests, 0);
    assert.equal(account.balanceMicroUsd, 40);
  });

  test("settle() enters the reported usage", async (bench) => {
    const { accounts, admin, clock } = bench;
    const { caller, accountId } = await createTestCaller(bench);
    const call = testCall({ user: "someone" });
    const reservation = await reserve(accounts, caller, call);
    clock.ms += 500;
    reservation.settle({
      usage: {
        input: 100,
        cacheRead: 205,
        cacheWrite: 30,
        output: 40,
        reasoning: 25,
      },
      generatedChars: 7,
      ended: "complete",
    });
    await bench.flush();
    const { data } = await admin.ledger({
      accountId,
      requestId: call.requestId,
    });
    assert.deepEqual(data.map(({ seq: _, ...rest }) => rest), [{
      kind: "charge",
      requestId: call.requestId,
      accountId,
      keyId: caller.keyId,
      model: "small",
      user: "someone",
      inputTokens: 100,
      cacheReadTokens: 205,
      cacheWriteTokens: 30,
      outputTokens: 40,
      reasoningTokens: 25,
      price: "1000000/100000/1000000/2000000",
      estimated: false,
      ended: "complete",
      // 100 + 20.5 + 30 + 80, rounded up.
      microUsd: -231,
      atMs: clock.ms,
    }]);
  });

  test("settle() charges once, however often it is called", async (bench) => {
    const { accounts, admin } = bench;
    const { caller, accountId } = await createTestCaller(bench, {
      balanceMicroUsd: 100,
    });
    const reservation = await reserve(accounts, caller, testCall());
    for (const output of [1, 2, 3]) {
      settleWhole(reservation, 10, output);
    }
    await bench.flush();
    assert.equal((await admin.accounts.get(accountId)).balanceMicroUsd, 88);
  });

  test("reserve() refuses a request id that was used before", async (bench) => {
    const { caller } = await createTestCaller(bench);
    const call = testCall();
    await reserve(bench.accounts, caller, call);
    await assert.rejects(reserve(bench.accounts, caller, call), /used before/);
  });

  test("a model's own balance pays for the calls of that model only", async (bench) => {
    const { accounts, admin } = bench;
    const { key, accountId } = await createTestCaller(bench, {
      balanceMicroUsd: 1000,
    });
    await admin.accounts.topUp(accountId, { microUsd: 60, model: "large" });
    const caller = await accounts.authenticate([key]);
    const large = testCall({ model: "large" });
    const reservation = await reserve(accounts, caller, large);
    const error = await expectRefusal(
      accounts,
      caller,
      { code: "insufficient_balance" },
      testCall({ model: "large" }),
    );
    assert.match(error.message, /the balance for large/);
    await reserve(accounts, caller, testCall());
    settleWhole(reservation, 10, 5);
    await bench.flush();
    const account = await admin.accounts.get(accountId);
    assert.deepEqual(account.modelBalances, [
      { model: "large", balanceMicroUsd: 40, reservedMicroUsd: 0 },
    ]);
    assert.equal(account.balanceMicroUsd, 1000);
    const { data } = await admin.ledger({ requestId: large.requestId });
    assert.equal(data[0]?.balanceModel, "large");
  });

  test("the balance of a postpaid account may be negative", async (bench) => {
    const { accounts, admin, freshKey = "" } = bench;
    const caller = await accounts.authenticate([freshKey]);
    await callWhole(accounts, caller, [10, 5]);
    await bench.flush();
    assert.equal((await admin.accounts.get("default")).balanceMicroUsd, -20);
  });

  test("a model's own balance must cover the call on a postpaid account, too", async (bench) => {
    const { accounts, admin, freshKey = "" } = bench;
    await admin.accounts.topUp("default", { microUsd: 60, model: "large" });
    const caller = await accounts.authenticate([freshKey]);
    await reserve(accounts, caller, testCall({ model: "large" }));
    await assert.rejects(
      reserve(accounts, caller, testCall({ model: "large" })),
      /the balance for large/,
    );
    await reserve(accounts, caller, testCall());
  });

  for (
    const [name, leaves] of [
      [
        "a call that went ahead is refused if another process spent the balance, and is not entered",
        false,
      ],
      [
        "a call that went ahead and whose client left before its refusal is not entered",
        true,
      ],
    ] as const
  ) {
    test(name, async (bench) => {
      const { accounts, admin, store } = bench;
      const { caller, accountId, keyId } = await createTestCaller(bench, {
        balanceMicroUsd: 10_000,
      });
      const known = await reserve(accounts, caller);
      const others: ReservedCall = {
        ...testCall(),
        accountId,
        keyId,
        price: PRICE,
        reservedMicroUsd: 9_940,
        reservedTokens: 30,
        atMs: bench.clock.ms,
      };
      const apply = (event: LedgerEvent): Promise<unknown> =>
        store.write((sql) => applyEvents(sql, store.dialect, [event]));
      await apply({ type: "reserve", call: others, leaseId: "other" });

      const call = testCall();
      // Not refused here: the known state has room for it.
      const reservation = await accounts.reserve(caller, call);
      if (leaves) reservation.settle(NOTHING_SENT);
      for (const refused of [reservation.decided, reservation.durable()]) {
        await assert.rejects(
          refused,
          (error) =>
            error instanceof RefusedCall &&
            error.details.code === "insufficient_balance",
        );
      }
      reservation.settle(NOTHING_SENT);
      await bench.flush();
      const { data } = await admin.ledger({ requestId: call.requestId });
      assert.deepEqual(data, []);
      assert.equal(
        (await admin.accounts.get(accountId)).reservedMicroUsd,
        9_990,
      );
      known.settle(NOTHING_SENT);
      await apply({ type: "void", call: others, atMs: bench.clock.ms });
    });
  }

  test("a call that went ahead and whose client left before the decision is entered once it is granted", async (bench) => {
    const { accounts, admin } = bench;
    const { caller, accountId } = await createTestCaller(bench);
    (await reserve(accounts, caller)).settle(NOTHING_SENT);
    const call = testCall();
    const reservation = await accounts.reserve(caller, call);
    reservation.settle(NOTHING_SENT);
    await reservation.decided;
    await bench.flush();
    const { data } = await admin.ledger({ requestId: call.requestId });
    assert.deepEqual(data.map(({ microUsd, ended }) => [microUsd, ended]), [
      [0, "caller_left"],
    ]);
    assert.equal((await admin.accounts.get(accountId)).reservedMicroUsd, 0);
  });
}

const NOTHING_SENT: CallOutcome = {
  usage: {},
  generatedChars: 0,
  ended: "caller_left",
};
