/**
 * The limits of a plan: tests that every store must pass.
 */
import assert from "node:assert/strict";
import { RefusedCall } from "../accounts.ts";
import type { AccountsTest } from "./accounts_spec.ts";
import {
  createTestCaller,
  expectRefusal,
  reserve,
  settleWhole,
  testCall,
} from "../testing/open_test_accounts.ts";

/** The limits of calendar windows; the tests begin on Saturday 2026-11-21. */
const WINDOWS = ([
  ["day", "Sunday 2026-11-22"],
  ["week", "Monday 2026-11-23"],
  ["month", "Tuesday 2026-12-01"],
] as const).flatMap(([window, opens]) => {
  const name = `${window.charAt(0).toUpperCase()}${window.slice(1)}`;
  return [
    {
      limit: `spendPer${name}MicroUsd`,
      code: `spending_per_${window}`,
      unit: "microUsd",
      window,
      opens,
    },
    {
      limit: `tokensPer${name}`,
      code: `tokens_per_${window}`,
      unit: "tokens",
      window,
      opens,
    },
  ];
});

export function limitsSpec(test: AccountsTest): void {
  test("requests per minute: up to the limit at once, then one more per fraction of the minute", async (bench) => {
    const { accounts, clock } = bench;
    const { caller } = await createTestCaller(bench, { requestsPerMinute: 4 });
    for (const remaining of [3, 2, 1, 0]) {
      const { limits } = await reserve(accounts, caller, testCall());
      assert.deepEqual(limits.requests, {
        limit: 4,
        remaining,
        resetAtMs: clock.ms + (4 - remaining) * 15_000,
      });
    }
    const error = await expectRefusal(accounts, caller, {
      status: 429,
      code: "requests_per_minute",
      retryAfterSeconds: 15,
    });
    assert.ok(error instanceof RefusedCall);
    assert.equal(error.limits.requests?.remaining, 0);
    clock.ms += 14_999;
    await expectRefusal(accounts, caller, { retryAfterSeconds: 1 });
    clock.ms += 1;
    await reserve(accounts, caller, testCall());
    await expectRefusal(accounts, caller);
  });

  test("refused requests consume no limit", async (bench) => {
    const { accounts, admin, clock } = bench;
    const { caller, accountId } = await createTestCaller(bench, {
      requestsPerMinute: 1,
      tokensPerMinute: 100,
    });
    await reserve(accounts, caller, testCall());
    const before = await admin.accounts.get(accountId);
    for (let i = 0; i < 20; i++) await expectRefusal(accounts, caller);
    assert.deepEqual(await admin.accounts.get(accountId), before);
    clock.ms += 60_000;
    const { limits } = await reserve(accounts, caller, testCall());
    assert.equal(limits.requests?.remaining, 0);
    assert.equal(limits.tokens?.remaining, 70);
  });

  test("tokens per minute: the worst case counts until the call ends, then its tokens", async (bench) => {
    const { accounts, clock } = bench;
    const { caller } = await createTestCaller(bench, { tokensPerMinute: 100 });
    const call = testCall({ inputTokens: 60, maxOutputTokens: 5000 });
    const reservation = await reserve(accounts, caller, call);
    assert.equal(reservation.limits.tokens?.remaining, 0);
    const refusal = { code: "tokens_per_minute", retryAfterSeconds: 1 };
    const small = testCall({ inputTokens: 1 });
    const busy = await expectRefusal(accounts, caller, refusal, small);
    assert.match(busy.message, /while other requests are active/);
    settleWhole(reservation, 50, 70);
    await bench.flush();
    // 120 were consumed of 100: 60 fit again after 80 have leaked away.
    const again = testCall({ inputTokens: 60 });
    clock.ms += 47_999;
    await expectRefusal(accounts, caller, refusal, again);
    clock.ms += 1;
    await reserve(accounts, caller, again);
  });

  test("twenty calls at once pass a limit of tokens per minute by one call at most", async (bench) => {
    const { accounts } = bench;
    const { caller } = await createTestCaller(bench, { tokensPerMinute: 700 });
    const call = () => testCall({ inputTokens: 10, maxOutputTokens: 90 });
    const ended = await Promise.allSettled(
      Array.from({ length: 20 }, () => reserve(accounts, caller, call())),
    );
    const granted = ended.filter(({ status }) => status === "fulfilled");
    assert.equal(granted.length, 7);
    await expectRefusal(accounts, caller, { code: "tokens_per_minute" });
  });

  test("a prompt larger than the limit of tokens per minute is refused for good", async (bench) => {
    const { accounts, clock } = bench;
    const { caller } = await createTestCaller(bench, { tokensPerMinute: 100 });
    const huge = testCall({ inputTokens: 101 });
    for (let minute = 0; minute < 2; minute++) {
      const error = await expectRefusal(accounts, caller, {
        status: 429,
        code: "tokens_per_minute",
      }, huge);
      assert.equal(error.details.retryable, false);
      assert.match(
        error.message,
        /limit of 100 tokens per minute is too small/,
      );
      clock.ms += 60_000;
    }
    await reserve(accounts, caller, testCall({ inputTokens: 100 }));
  });

  test("a wait for tokens of more than a minute has a `retry-after` of one", async (bench) => {
    const { accounts } = bench;
    const { caller } = await createTestCaller(bench, { tokensPerMinute: 100 });
    const first = await reserve(accounts, caller, testCall());
    settleWhole(first, 10, 490);
    await bench.flush();
    await expectRefusal(accounts, caller, { retryAfterSeconds: 60 });
  });

  test("a key whose charges are estimates for more than its plan permits is refused until tomorrow", async (bench) => {
    const { accounts, admin, clock, flush } = bench;
    const { caller, accountId, keyId } = await createTestCaller(bench, {
      estimatedPercent: 20,
      balanceMicroUsd: 10_000_000,
    });
    const { text = "" } = await admin.keys.issue({ accountId });
    const other = await accounts.authenticate([text]);
    settleWhole(await reserve(accounts, caller, testCall()), 500_000, 0);
    const leave = async (generatedChars: number): Promise<void> => {
      const left = await reserve(accounts, caller, testCall());
      left.settle({ usage: {}, generatedChars, ended: "caller_left" });
      await flush();
      clock.ms += 10_000;
    };
    // 10 and 50,000 tokens: 100,010 of 600,010 micro-dollars.
    await leave(200_000);
    await reserve(accounts, caller, testCall());
    assert.deepEqual(await admin.estimatedKeys(20, 5), []);
    await leave(200_000);
    const error = await expectRefusal(accounts, caller, {
      status: 429,
      code: "estimated_share",
    });
    assert.equal(error.details.retryable, false);
    assert.match(error.message, /more than 20 % .* on Sunday 2026-11-22/);
    await reserve(accounts, other, testCall());
    assert.deepEqual(await admin.estimatedKeys(20, 5), [{
      accountId,
      keyId,
      microUsd: 700_020,
      estimatedMicroUsd: 200_020,
    }]);
    clock.ms += 24 * 60 * 60_000;
    await reserve(accounts, caller, testCall());
    await admin.plans.update((await admin.accounts.get(accountId)).planId, {
      estimatedPercent: null,
    });
  });

  test("concurrent requests: the limit applies to active calls", async (bench) => {
    const { accounts } = bench;
    const { caller } = await createTestCaller(bench, { concurrentRequests: 2 });
    const first = await reserve(accounts, caller, testCall());
    await reserve(accounts, caller, testCall());
    await expectRefusal(accounts, caller, {
      status: 429,
      code: "concurrent_requests",
      retryAfterSeconds: 1,
    });
    first.settle({ usage: {}, generatedChars: 0, ended: "failed" });
    await reserve(accounts, caller, testCall());
  });

  test("spending per day: spent and reserved amounts count, until midnight", async (bench) => {
    const { accounts, clock } = bench;
    const { caller } = await createTestCaller(bench, {
      spendPerDayMicroUsd: 100,
    });
    const first = await reserve(accounts, caller, testCall());
    const second = await reserve(accounts, caller, testCall());
    const code = "spending_per_day";
    // The active calls may cost less than reserved: an early retry is worthwhile.
    const soon = { status: 429, code, retryAfterSeconds: 1, retryable: true };
    await expectRefusal(accounts, caller, soon);
    for (const reservation of [first, second]) {
      settleWhole(reservation, 10, 10);
    }
    await expectRefusal(accounts, caller, {
      retryAfterSeconds: 60,
      retryable: false,
    });
    clock.ms = Date.UTC(2026, 10, 21, 23, 59, 59, 999);
    await expectRefusal(accounts, caller, soon);
    clock.ms += 1;
    await reserve(accounts, caller, testCall());
  });

  for (const row of WINDOWS) {
    for (const holder of ["plan", "key"] as const) {
      test(`${row.limit} of a ${holder}: what is used counts until the window ends`, async (bench) => {
        const { accounts, clock } = bench;
        const limits = { [row.limit]: row.unit === "tokens" ? 45 : 75 };
        const { caller } = await createTestCaller(
          bench,
          holder === "plan" ? limits : { keyLimits: limits },
        );
        const [owner, code] = holder === "plan"
          ? ["the account's", row.code]
          : ["this key's", `key_${row.code}`];
        const first = await reserve(accounts, caller, testCall());
        // The first call may use less than the 30 tokens and 50 micro-dollars reserved for it.
        const soon = {
          status: 429,
          code,
          retryAfterSeconds: 1,
          retryable: true,
        };
        const held = await expectRefusal(accounts, caller, soon);
        assert.match(held.message, /while other requests are active/);
        first.settle({
          usage: { input: 5, cacheRead: 5, cacheWrite: 5, output: 15 },
          generatedChars: 60,
          ended: "complete",
        });
        await bench.flush();
        const error = await expectRefusal(accounts, caller, {
          code,
          retryAfterSeconds: 60,
          retryable: false,
        });
        assert.equal(
          error.message,
          `${owner} limit of ${
            row.unit === "tokens" ? "45 tokens" : "$0.000075"
          } a ${row.window} is reached; it opens on ${row.opens} 00:00 UTC (${
            row.unit === "tokens"
              ? "30 tokens used, 0 tokens reserved for active requests, and this request may use up to 30 tokens"
              : "$0.000041 spent, $0.00 reserved for active requests, and this request may cost up to $0.00005"
          })`,
        );
        clock.ms = Date.parse(`${row.opens.split(" ")[1]}T00:00:00Z`) - 1;
        await expectRefusal(accounts, caller, soon);
        clock.ms += 1;
        await reserve(accounts, caller, testCall());
      });
    }
  }

  test("a request larger than a whole window is refused with advice", async (bench) => {
    const { accounts } = bench;
    const { caller } = await createTestCaller(bench, { tokensPerDay: 20 });
    const error = await expectRefusal(accounts, caller, { retryable: false });
    assert.match(
      error.message,
      /limit of 20 tokens a day is too small for this request .*lower max_tokens$/,
    );
    await reserve(accounts, caller, testCall({ maxOutputTokens: 10 }));
  });

  test("a change of the plan applies to the next call", async (bench) => {
    const { accounts, admin } = bench;
    const { caller, key, planId } = await createTestCaller(bench, {
      requestsPerMinute: 1,
    });
    await reserve(accounts, caller, testCall());
    await expectRefusal(accounts, caller);
    await admin.plans.update(planId, { requestsPerMinute: null });
    await reserve(accounts, await accounts.authenticate([key]), testCall());
  });
}
