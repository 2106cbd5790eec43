/**
 * The limits of keys: tests that every store must pass. Those that a plan can have as well
 * are in `limits_spec.ts`.
 */
import assert from "node:assert/strict";
import { ApiError } from "../../../translate/model/error.ts";
import type { AccountsTest } from "./accounts_spec.ts";
import {
  callWhole,
  createTestCaller,
  expectRefusal,
  openTestAccounts,
  reserve,
  settleWhole,
  staysOpen,
  testCall,
} from "../testing/open_test_accounts.ts";

export function keyLimitsSpec(test: AccountsTest): void {
  test("limits of a key: of its own calls only, beside the plan's", async (bench) => {
    const { accounts, admin } = bench;
    const { caller, accountId } = await createTestCaller(bench, {
      requestsPerMinute: 3,
      keyLimits: { requestsPerMinute: 1, concurrentRequests: 5 },
    });
    const { text: otherKey = "" } = await admin.keys.issue({ accountId });
    const other = await accounts.authenticate([otherKey]);
    const granted = await reserve(accounts, caller);
    // The limit with less left.
    assert.equal(granted.limits.requests?.limit, 1);
    assert.equal(granted.limits.requests?.remaining, 0);
    const error = await expectRefusal(accounts, caller, {
      code: "key_requests_per_minute",
    });
    assert.equal(
      error.message,
      "this key's limit of 1 requests per minute is reached; it has room for this request in 60 s",
    );
    const { limits } = await reserve(accounts, other, testCall());
    assert.equal(limits.requests?.limit, 3);
    await reserve(accounts, other, testCall());
    await expectRefusal(accounts, other, { code: "requests_per_minute" });
    // Both are reached; the key's takes longer to open.
    await expectRefusal(accounts, caller, {
      code: "key_requests_per_minute",
      retryAfterSeconds: 60,
    });
  });

  test("tokens per minute and concurrent requests of a key", async (bench) => {
    const { accounts, clock } = bench;
    const { caller } = await createTestCaller(bench, {
      keyLimits: { tokensPerMinute: 100, concurrentRequests: 1 },
    });
    const call = () => testCall({ inputTokens: 60 });
    const first = await reserve(accounts, caller, call());
    assert.equal(first.limits.tokens?.remaining, 20);
    await expectRefusal(accounts, caller, {
      code: "key_concurrent_requests",
      retryAfterSeconds: 1,
    });
    settleWhole(first, 50, 70);
    await bench.flush();
    const full = { code: "key_tokens_per_minute" };
    await expectRefusal(accounts, caller, full, call());
    clock.ms += 48_000;
    await reserve(accounts, caller, call());
  });

  test("the fullest limits are those of all accounts, keys and kinds, fullest first", async (bench) => {
    const { accounts, admin, clock } = bench;
    // A call costs 30 micro-dollars for 20 tokens.
    const first = await createTestCaller(bench, {
      tokensPerDay: 200,
      keyLimits: { spendPerMonthMicroUsd: 150, concurrentRequests: 10 },
    });
    const second = await createTestCaller(bench, {
      requestsPerMinute: 3,
      spendPerWeekMicroUsd: 60,
    });
    const gone = await createTestCaller(bench, {
      keyLimits: { tokensPerDay: 40 },
    });
    for (const { caller } of [first, second, gone]) {
      await callWhole(accounts, caller, [10, 10]);
    }
    await bench.flush();
    await admin.keys.revoke(gone.keyId);
    const shares = async (count: number): Promise<readonly unknown[]> =>
      (await admin.fullestLimits(count)).map(({ accountId, key, level }) => [
        key?.id ?? accountId,
        level.code,
        level.share,
      ]);
    const week = [second.accountId, "spending_per_week", 0.5];
    const month = [first.keyId, "key_spending_per_month", 0.2];
    const day = [first.accountId, "tokens_per_day", 0.1];
    const minute = [second.accountId, "requests_per_minute", 1 / 3];
    assert.deepEqual(await shares(10), [week, minute, month, day]);
    assert.deepEqual(await shares(2), [week, minute]);
    await reserve(accounts, first.caller, testCall());
    assert.deepEqual((await shares(10))[0], [
      first.keyId,
      "key_spending_per_month",
      (30 + 50) / 150,
    ]);
    // The minute has passed and the day, not the month; the week ends later.
    clock.ms = Date.UTC(2026, 10, 22, 0, 5);
    assert.deepEqual((await shares(10))[1], week);
    clock.ms = Date.UTC(2026, 10, 23);
    assert.equal((await admin.fullestLimits(1))[0]?.key?.id, first.keyId);
    clock.ms = Date.UTC(2026, 11, 1);
    assert.ok(!String(await shares(10)).includes(second.accountId));
  });

  test("a limit set later counts what the key has used and has reserved", async (bench) => {
    const { accounts, admin, clock, store } = bench;
    const { caller, keyId } = await createTestCaller(bench);
    const settle = async (): Promise<void> => {
      await callWhole(accounts, caller, [10, 10]);
      await bench.flush();
    };
    await settle();
    clock.ms = Date.UTC(2026, 10, 23, 12);
    await settle();
    const open = await reserve(accounts, caller, testCall());
    assert.deepEqual(await store.read("SELECT * FROM key_states"), []);
    await admin.keys.update(keyId, { spendPerMonthMicroUsd: 60 + 50 });
    const short = () => testCall({ maxOutputTokens: 0 });
    const held = { code: "key_spending_per_month" };
    await expectRefusal(accounts, caller, held, short());
    await admin.keys.update(keyId, {
      spendPerMonthMicroUsd: null,
      spendPerWeekMicroUsd: 30 + 50 + 10,
      concurrentRequests: 2,
    });
    const last = await reserve(accounts, caller, short());
    const full = await expectRefusal(accounts, caller, {}, short());
    assert.match(String(full.details.code), /^key_/);
    for (const call of [open, last]) {
      call.settle({ usage: {}, generatedChars: 0, ended: "failed" });
    }
    await bench.flush();
    await reserve(accounts, caller, testCall());
    await admin.keys.update(keyId, {
      spendPerWeekMicroUsd: null,
      concurrentRequests: null,
    });
    assert.deepEqual(await store.read("SELECT * FROM key_states"), []);
    await reserve(accounts, caller, testCall());
  });

  test("a key's successor has its limits, and what is used of them", async (bench) => {
    const { accounts, admin } = bench;
    const { caller, keyId } = await createTestCaller(bench, {
      keyLimits: { spendPerWeekMicroUsd: 100, concurrentRequests: 1 },
    });
    await callWhole(accounts, caller, [10, 20]);
    await bench.flush();
    await reserve(accounts, caller, testCall());
    const { text = "", record } = await admin.keys.rotate(keyId, 60_000);
    assert.equal(record.spendPerWeekMicroUsd, 100);
    const successor = await accounts.authenticate([text]);
    await reserve(accounts, successor, testCall());
    const error = await expectRefusal(accounts, successor);
    assert.match(String(error.details.code), /^key_/);
  });

  test("a restart keeps what is used of a key's limits", async (bench) => {
    const { accounts, store, clock } = bench;
    const { caller, key } = await createTestCaller(bench, {
      keyLimits: { tokensPerWeek: 60 },
    });
    await callWhole(accounts, caller, [20, 20]);
    await bench.flush();
    await using again = await openTestAccounts(staysOpen(store), clock);
    const known = await again.accounts.authenticate([key]);
    await expectRefusal(again.accounts, known, { code: "key_tokens_per_week" });
    await reserve(accounts, caller, testCall({ maxOutputTokens: 10 }));
  });

  test("a limit of a key above the plan's is refused by name", async ({ admin, ...bench }) => {
    const { keyId, accountId } = await createTestCaller({ admin, ...bench }, {
      spendPerDayMicroUsd: 20_000_000,
      requestsPerMinute: 5,
    });
    const isRefusal = (param: string, text: RegExp) => (error: unknown) =>
      error instanceof ApiError && error.details.param === param &&
      text.test(error.message);
    await assert.rejects(
      admin.keys.update(keyId, { spendPerDayMicroUsd: 20_000_001 }),
      isRefusal(
        "spend_per_day_micro_usd",
        /at most the plan's limit of \$20\.00/,
      ),
    );
    await assert.rejects(
      admin.keys.issue({ accountId, requestsPerMinute: 6 }),
      isRefusal("requests_per_minute", /at most the plan's limit of 5/),
    );
    const changed = await admin.keys.update(keyId, {
      name: "ci",
      requestsPerMinute: 5,
      tokensPerDay: 7,
    });
    assert.deepEqual(
      [changed.name, changed.requestsPerMinute, changed.tokensPerDay],
      ["ci", 5, 7],
    );
  });
}
