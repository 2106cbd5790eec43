/**
 * Tests of the account service that every store must pass: authentication, admission,
 * charges and limits.
 *
 * @module
 */
import assert from "node:assert/strict";
import { ApiError } from "../../../translate/model/error.ts";
import { RefusedCall } from "../accounts.ts";
import { audit } from "../ledger/audit.ts";
import { newKey } from "../key.ts";
import type { OpenedAccounts } from "../service.ts";
import type { Store } from "../store/store.ts";
import {
  createTestCaller,
  expectRefusal,
  MODELS,
  openTestAccounts,
  testCall,
  type TestClock,
  testClock,
} from "./open_test_accounts.ts";
import type { TestStore } from "./stores.ts";

/** The opened accounts, with their store and clock. */
interface Bench extends OpenedAccounts {
  readonly store: Store;
  readonly clock: TestClock;
}

/** Registers the tests for a kind of store. */
export function accountsSpec(kind: TestStore): void {
  const test = (name: string, run: (bench: Bench) => Promise<void>): void => {
    Deno.test(`${kind.name}: ${name}`, async () => {
      await using database = await kind.createDatabase();
      const store = await database.open();
      const clock = testClock();
      await using opened = await openTestAccounts(store, clock);
      await run({ ...opened, store, clock });
      await opened.flush();
      assert.deepEqual(await audit(store), []);
    });
  };

  test("the first start creates a key that may call every model", async ({ accounts, freshKey = "" }) => {
    const caller = await accounts.authenticate(["sk-wrong", freshKey]);
    assert.deepEqual(MODELS.map((model) => caller.allows(model)), [
      true,
      true,
      true,
    ]);
    const { limits, durable: written } = await accounts.reserve(
      caller,
      testCall(),
    );
    await written;
    assert.deepEqual(limits, {});
  });

  Deno.test(`${kind.name}: a first key is shown before it is stored, and not stored if it cannot be shown`, async () => {
    await using database = await kind.createDatabase();
    const keys = async (): Promise<number> => {
      const observer = await database.open();
      try {
        return (await observer.read("SELECT id FROM keys")).length;
      } finally {
        await observer.close();
      }
    };
    const broken = new Error("the output is closed");
    const store = await database.open();
    await assert.rejects(
      openTestAccounts(
        { ...store, close: () => Promise.resolve() },
        testClock(),
        {
          showKey() {
            throw broken;
          },
        },
      ),
      broken,
    );
    await store.close();
    assert.equal(await keys(), 0);

    const seen: string[] = [];
    await using opened = await openTestAccounts(
      await database.open(),
      testClock(),
      {
        showKey: (key) => seen.push(key),
      },
    );
    assert.deepEqual(seen, [opened.freshKey]);
    assert.equal(await keys(), 1);
  });

  test("authenticate() refuses a key that was never issued", async ({ accounts }) => {
    for (const presented of [[], ["sk-x"], [newKey()], [""]]) {
      await assert.rejects(
        accounts.authenticate(presented),
        (error) => error instanceof ApiError && error.kind === "authentication",
      );
    }
  });

  test("authenticate() refuses a key with surrounding blanks or quotes", async ({ accounts, freshKey = "" }) => {
    for (const text of [` ${freshKey}`, `${freshKey}\n`, `"${freshKey}"`]) {
      await assert.rejects(accounts.authenticate([text]), /invalid API key/);
    }
  });

  test("a revoked key is refused at once in this process", async (bench) => {
    const { caller, key } = await createTestCaller(bench);
    await bench.admin.keys.revoke(caller.keyId);
    await assert.rejects(bench.accounts.authenticate([key]));
  });

  test("a key is refused from the millisecond at which it expires", async ({ accounts, admin, clock }) => {
    const { text = "" } = await admin.keys.issue({
      accountId: "default",
      expiresAtMs: clock.ms + 100,
    });
    clock.ms += 99;
    await accounts.authenticate([text]);
    clock.ms += 1;
    await assert.rejects(accounts.authenticate([text]));
  });

  test("rotate() keeps the old key valid for the overlap only", async ({ accounts, admin, clock }) => {
    const old = await admin.keys.issue({ accountId: "default", name: "mine" });
    const young = await admin.keys.rotate(old.record.id, 1000);
    assert.equal(young.record.name, "mine");
    assert.equal(young.record.replaces, old.record.id);
    clock.ms += 999;
    await accounts.authenticate([old.text ?? ""]);
    await accounts.authenticate([young.text ?? ""]);
    clock.ms += 1;
    await assert.rejects(accounts.authenticate([old.text ?? ""]));
    await accounts.authenticate([young.text ?? ""]);
    await assert.rejects(
      admin.keys.rotate(old.record.id, 0),
      /is revoked or expired/,
    );
  });

  test("a key's text is shown once; afterwards only its hint", async ({ admin, store }) => {
    const once = { key: "idem-1", fingerprint: "a" };
    const request = { accountId: "default" };
    const { text = "", record } = await admin.keys.issue(request, once);
    assert.equal(record.hint, `${text.slice(0, 7)}…${text.slice(-4)}`);
    assert.deepEqual(await admin.keys.issue(request, once), { record });
    const kept = JSON.stringify([
      await store.read("SELECT * FROM keys"),
      await store.read("SELECT * FROM answers"),
    ]);
    assert.ok(!kept.includes(text.slice(3, 43)));
  });

  test("a key's time of last use is exact to the minute", async (bench) => {
    const { accounts, admin, clock } = bench;
    const { caller } = await createTestCaller(bench);
    const use = async (): Promise<number | undefined> => {
      await accounts.reserve(caller, testCall());
      return (await admin.keys.get(caller.keyId)).lastUsedAtMs;
    };
    const first = clock.ms;
    assert.equal(await use(), first);
    clock.ms += 59_999;
    assert.equal(await use(), first);
    clock.ms += 1;
    assert.equal(await use(), clock.ms);
  });

  test("reserve() refuses a model outside the plan", async (bench) => {
    const { caller } = await createTestCaller(bench, {
      models: ["small", "large"],
    });
    assert.equal(caller.allows("small"), true);
    assert.equal(caller.allows("other"), false);
    const error = await expectRefusal(
      bench.accounts,
      caller,
      testCall({ model: "other" }),
    );
    assert.equal(error.status, 403);
    assert.equal(error.details.code, "model_not_in_plan");
    assert.equal(error.details.retryable, false);
  });

  test("reserve() refuses a model outside the key's own list", async (bench) => {
    const { caller } = await createTestCaller(bench, {
      models: ["small", "large"],
      keyModels: ["large", "other"],
    });
    assert.deepEqual(MODELS.filter((model) => caller.allows(model)), ["large"]);
    const error = await expectRefusal(bench.accounts, caller);
    assert.equal(error.details.code, "model_not_in_plan");
  });

  test("reserve() refuses calls of a disabled account", async (bench) => {
    const { key, accountId } = await createTestCaller(bench);
    await bench.admin.accounts.update(accountId, { status: "disabled" });
    const caller = await bench.accounts.authenticate([key]);
    const error = await expectRefusal(bench.accounts, caller);
    assert.equal(error.status, 403);
    assert.equal(error.details.code, "account_disabled");
    assert.equal(error.details.retryable, false);
  });

  test("reserve() refuses calls of an account disabled since authentication", async (bench) => {
    const { caller, accountId } = await createTestCaller(bench);
    await bench.admin.accounts.update(accountId, { status: "disabled" });
    const error = await expectRefusal(bench.accounts, caller);
    assert.equal(error.details.code, "account_disabled");
  });

  test("reserve() grants a call that the balance just covers, and refuses one that costs a micro-dollar more", async (bench) => {
    const { accounts, admin } = bench;
    const { caller, accountId } = await createTestCaller(bench, {
      balanceMicroUsd: 49,
    });
    const call = testCall({ inputTokens: 10, maxOutputTokens: 20 });
    const error = await expectRefusal(accounts, caller, call);
    assert.equal(error.status, 403);
    assert.equal(error.details.code, "insufficient_balance");
    assert.equal(error.details.retryable, false);
    await admin.accounts.topUp(accountId, { microUsd: 1 });
    await accounts.reserve(caller, call);
    assert.equal(
      (await expectRefusal(accounts, caller)).details.code,
      "insufficient_balance",
    );
  });

  test("settle() releases what was reserved but not spent", async (bench) => {
    const { accounts, admin } = bench;
    const { caller, accountId } = await createTestCaller(bench, {
      balanceMicroUsd: 50,
    });
    const first = await accounts.reserve(caller, testCall());
    assert.equal((await admin.accounts.get(accountId)).reservedMicroUsd, 50);
    first.settle({
      usage: { input: 8, output: 1 },
      generatedChars: 4,
      ended: "complete",
    });
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
    const reservation = await accounts.reserve(caller, call);
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
    const reservation = await accounts.reserve(caller, testCall());
    for (const output of [1, 2, 3]) {
      reservation.settle({
        usage: { input: 10, output },
        generatedChars: 0,
        ended: "complete",
      });
    }
    await bench.flush();
    assert.equal((await admin.accounts.get(accountId)).balanceMicroUsd, 88);
  });

  test("reserve() refuses a request id that was used before", async (bench) => {
    const { caller } = await createTestCaller(bench);
    const call = testCall();
    await bench.accounts.reserve(caller, call);
    await assert.rejects(
      bench.accounts.reserve(caller, call),
      /used before/,
    );
  });

  test("a model's own balance pays for the calls of that model only", async (bench) => {
    const { accounts, admin } = bench;
    const { key, accountId } = await createTestCaller(bench, {
      balanceMicroUsd: 1000,
    });
    await admin.accounts.topUp(accountId, { microUsd: 60, model: "large" });
    const caller = await accounts.authenticate([key]);
    const large = testCall({ model: "large" });
    const reservation = await accounts.reserve(caller, large);
    const error = await expectRefusal(
      accounts,
      caller,
      testCall({ model: "large" }),
    );
    assert.equal(error.details.code, "insufficient_balance");
    assert.match(error.message, /the balance for large/);
    await accounts.reserve(caller, testCall());
    reservation.settle({
      usage: { input: 10, output: 5 },
      generatedChars: 0,
      ended: "complete",
    });
    await bench.flush();
    const account = await admin.accounts.get(accountId);
    assert.deepEqual(account.purses, [
      { model: "large", balanceMicroUsd: 40, reservedMicroUsd: 0 },
    ]);
    assert.equal(account.balanceMicroUsd, 1000);
    const { data } = await admin.ledger({ requestId: large.requestId });
    assert.equal(data[0]?.purse, "large");
  });

  test("the balance of a postpaid account may be negative", async (bench) => {
    const { accounts, admin, freshKey = "" } = bench;
    const caller = await accounts.authenticate([freshKey]);
    const reservation = await accounts.reserve(caller, testCall());
    await reservation.durable;
    reservation.settle({
      usage: { input: 10, output: 5 },
      generatedChars: 0,
      ended: "complete",
    });
    await bench.flush();
    assert.equal((await admin.accounts.get("default")).balanceMicroUsd, -20);
  });

  test("a model's own balance must cover the call on a postpaid account, too", async (bench) => {
    const { accounts, admin, freshKey = "" } = bench;
    await admin.accounts.topUp("default", { microUsd: 60, model: "large" });
    const caller = await accounts.authenticate([freshKey]);
    await accounts.reserve(caller, testCall({ model: "large" }));
    await assert.rejects(
      accounts.reserve(caller, testCall({ model: "large" })),
      /the balance for large/,
    );
    await accounts.reserve(caller, testCall());
  });

  test("requests per minute: up to the limit at once, then one more per fraction of the minute", async (bench) => {
    const { accounts, clock } = bench;
    const { caller } = await createTestCaller(bench, { requestsPerMinute: 4 });
    for (const remaining of [3, 2, 1, 0]) {
      const { limits } = await accounts.reserve(caller, testCall());
      assert.deepEqual(limits.requests, {
        limit: 4,
        remaining,
        resetAtMs: clock.ms + (4 - remaining) * 15_000,
      });
    }
    const error = await expectRefusal(accounts, caller);
    assert.equal(error.status, 429);
    assert.equal(error.details.code, "requests_per_minute");
    assert.equal(error.details.retryAfterSeconds, 15);
    assert.ok(error instanceof RefusedCall);
    assert.equal(error.limits.requests?.remaining, 0);
    clock.ms += 14_999;
    assert.equal(
      (await expectRefusal(accounts, caller)).details.retryAfterSeconds,
      1,
    );
    clock.ms += 1;
    await accounts.reserve(caller, testCall());
    await expectRefusal(accounts, caller);
  });

  test("refused requests consume no limit", async (bench) => {
    const { accounts, admin, clock } = bench;
    const { caller, accountId } = await createTestCaller(bench, {
      requestsPerMinute: 1,
      tokensPerMinute: 100,
    });
    await accounts.reserve(caller, testCall());
    const before = await admin.accounts.get(accountId);
    for (let i = 0; i < 20; i++) await expectRefusal(accounts, caller);
    assert.deepEqual(await admin.accounts.get(accountId), before);
    clock.ms += 60_000;
    const { limits } = await accounts.reserve(caller, testCall());
    assert.equal(limits.requests?.remaining, 0);
    assert.equal(limits.tokens?.remaining, 90);
  });

  test("tokens per minute: the prompt counts before the call, the output when it is known", async (bench) => {
    const { accounts, clock } = bench;
    const { caller } = await createTestCaller(bench, { tokensPerMinute: 100 });
    const call = testCall({ inputTokens: 60, maxOutputTokens: 5000 });
    const reservation = await accounts.reserve(caller, call);
    assert.equal(reservation.limits.tokens?.remaining, 40);
    const error = await expectRefusal(
      accounts,
      caller,
      testCall({ inputTokens: 41 }),
    );
    assert.equal(error.details.code, "tokens_per_minute");
    assert.equal(error.details.retryAfterSeconds, 1);
    reservation.settle({
      usage: { input: 50, output: 70 },
      generatedChars: 280,
      ended: "complete",
    });
    await bench.flush();
    // 120 were consumed of 100: 60 fit again after 80 have leaked away.
    const again = testCall({ inputTokens: 60 });
    clock.ms += 47_999;
    assert.equal(
      (await expectRefusal(accounts, caller, again)).details.retryAfterSeconds,
      1,
    );
    clock.ms += 1;
    await accounts.reserve(caller, again);
  });

  test("a prompt larger than the whole limit is granted once the bucket is empty", async (bench) => {
    const { accounts, clock } = bench;
    const { caller } = await createTestCaller(bench, { tokensPerMinute: 100 });
    await accounts.reserve(caller, testCall({ inputTokens: 1 }));
    const huge = testCall({ inputTokens: 500 });
    assert.equal((await expectRefusal(accounts, caller, huge)).status, 429);
    clock.ms += 600;
    await accounts.reserve(caller, huge);
    const error = await expectRefusal(accounts, caller);
    // Four minutes are left, but `retry-after` is at most one minute.
    assert.equal(error.details.retryAfterSeconds, 60);
  });

  test("concurrent requests: the limit applies to active calls", async (bench) => {
    const { accounts } = bench;
    const { caller } = await createTestCaller(bench, { concurrentRequests: 2 });
    const first = await accounts.reserve(caller, testCall());
    await accounts.reserve(caller, testCall());
    const error = await expectRefusal(accounts, caller);
    assert.equal(error.status, 429);
    assert.equal(error.details.code, "concurrent_requests");
    assert.equal(error.details.retryAfterSeconds, 1);
    first.settle({ usage: {}, generatedChars: 0, ended: "failed" });
    await accounts.reserve(caller, testCall());
  });

  test("spending per day: spent and reserved amounts count, until midnight", async (bench) => {
    const { accounts, clock } = bench;
    const { caller } = await createTestCaller(bench, {
      spendPerDayMicroUsd: 100,
    });
    const first = await accounts.reserve(caller, testCall());
    const second = await accounts.reserve(caller, testCall());
    const held = await expectRefusal(accounts, caller);
    assert.equal(held.status, 429);
    assert.equal(held.details.code, "spending_per_day");
    // The active calls may cost less than reserved: an early retry is worthwhile.
    assert.equal(held.details.retryAfterSeconds, 1);
    assert.equal(held.details.retryable, true);
    for (const reservation of [first, second]) {
      reservation.settle({
        usage: { input: 10, output: 10 },
        generatedChars: 40,
        ended: "complete",
      });
    }
    const spent = await expectRefusal(accounts, caller);
    assert.equal(spent.details.retryAfterSeconds, 60);
    assert.equal(spent.details.retryable, false);
    clock.ms = Date.UTC(2026, 10, 21, 23, 59, 59, 999);
    const late = await expectRefusal(accounts, caller);
    assert.equal(late.details.retryAfterSeconds, 1);
    assert.equal(late.details.retryable, true);
    clock.ms += 1;
    await accounts.reserve(caller, testCall());
  });

  test("a change of the plan applies to the next call", async (bench) => {
    const { accounts, admin } = bench;
    const { caller, key, planId } = await createTestCaller(bench, {
      requestsPerMinute: 1,
    });
    await accounts.reserve(caller, testCall());
    await expectRefusal(accounts, caller);
    await admin.plans.update(planId, { requestsPerMinute: null });
    await accounts.reserve(await accounts.authenticate([key]), testCall());
  });

  test("usage adds up by day, model, key and user", async (bench) => {
    const { accounts, admin, clock } = bench;
    const { caller, accountId } = await createTestCaller(bench);
    const spend = async (model: string, user: string): Promise<void> => {
      const reservation = await accounts.reserve(
        caller,
        testCall({ model, user }),
      );
      reservation.settle({
        usage: { input: 1, output: 2 },
        generatedChars: 0,
        ended: "complete",
      });
    };
    await spend("small", "ann");
    await spend("large", "ann");
    await spend("large", "bob");
    clock.ms += 24 * 60 * 60 * 1000;
    await spend("small", "bob");
    await bench.flush();
    const by = async (
      ...groups: readonly ("day" | "model" | "key" | "user")[]
    ): Promise<readonly unknown[]> => {
      const { data } = await admin.usage({ accountId, by: groups });
      return data.map((line) => [
        ...[line.day, line.model, line.keyId, line.user].filter((part) =>
          part !== undefined
        ),
        line.requests,
        line.microUsd,
      ]);
    };
    assert.deepEqual(await by("day"), [["2026-11-21", 3, 15], [
      "2026-11-22",
      1,
      5,
    ]]);
    assert.deepEqual(await by("model"), [["large", 2, 10], ["small", 2, 10]]);
    assert.deepEqual(await by("key"), [[caller.keyId, 4, 20]]);
    assert.deepEqual(await by("user"), [["ann", 2, 10], ["bob", 2, 10]]);
    assert.deepEqual(await by(), [[4, 20]]);
    const day = await admin.usage({
      accountId,
      fromDay: "2026-11-22",
      toDay: "2026-11-22",
      by: ["user"],
    });
    assert.deepEqual(day.data.map((line) => line.user), ["bob"]);
  });

  test("the pages of a list contain every item once", async (bench) => {
    const { accounts, admin } = bench;
    const { caller, accountId } = await createTestCaller(bench);
    for (let i = 0; i < 5; i++) {
      const user = `user-${i}`;
      const reservation = await accounts.reserve(caller, testCall({ user }));
      reservation.settle({
        usage: { input: 1, output: 1 },
        generatedChars: 0,
        ended: "complete",
      });
      await admin.keys.issue({ accountId });
    }
    await bench.flush();
    const walk = async <T>(
      page: (
        after: string | undefined,
      ) => Promise<{ readonly data: readonly T[]; readonly next?: string }>,
    ): Promise<number> => {
      const seen = new Set<string>();
      let after: string | undefined;
      for (;;) {
        const { data, next } = await page(after);
        assert.ok(data.length <= 2);
        for (const item of data) seen.add(JSON.stringify(item));
        if (next === undefined) return seen.size;
        after = next;
      }
    };
    const from = (
      after: string | undefined,
    ): { after?: string; limit: number } => ({
      limit: 2,
      ...(after === undefined ? {} : { after }),
    });
    assert.equal(
      await walk((after) => admin.keys.list({ accountId, ...from(after) })),
      6,
    );
    assert.equal(await walk((after) => admin.plans.list(from(after))), 2);
    assert.equal(await walk((after) => admin.accounts.list(from(after))), 2);
    assert.equal(
      await walk((after) => admin.ledger({ accountId, ...from(after) })),
      6,
    );
    assert.equal(
      await walk((after) =>
        admin.usage({ accountId, by: ["day", "user"], ...from(after) })
      ),
      5,
    );
  });

  test("unknown ids, existing ids and invalid fields get different errors", async ({ admin }) => {
    const of = async (work: Promise<unknown>): Promise<unknown> => {
      try {
        return await work;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return [error.status, error.details.code ?? error.details.param];
      }
    };
    const { plans, accounts, keys } = admin;
    assert.deepEqual(await of(plans.get("x")), [404, "plan_not_found"]);
    assert.deepEqual(await of(plans.update("x", {})), [404, "plan_not_found"]);
    assert.deepEqual(await of(plans.create({ id: "unlimited" })), [
      409,
      "plan_exists",
    ]);
    assert.deepEqual(await of(plans.create({ models: ["small", "no"] })), [
      400,
      "models[1]",
    ]);
    assert.deepEqual(await of(accounts.get("x")), [404, "account_not_found"]);
    assert.deepEqual(await of(accounts.create({ id: "default" })), [
      409,
      "account_exists",
    ]);
    assert.deepEqual(await of(accounts.create({ planId: "x" })), [
      404,
      "plan_not_found",
    ]);
    assert.deepEqual(await of(accounts.topUp("x", { microUsd: 1 })), [
      404,
      "account_not_found",
    ]);
    assert.deepEqual(await of(accounts.topUp("default", { microUsd: 0.5 })), [
      400,
      "micro_usd",
    ]);
    assert.deepEqual(await of(keys.revoke("x")), [404, "key_not_found"]);
    assert.deepEqual(await of(keys.issue({ accountId: "x" })), [
      404,
      "account_not_found",
    ]);
    assert.deepEqual(await of(admin.usage({ fromDay: "2026-02-30" })), [
      400,
      "from",
    ]);
    assert.deepEqual(await of(admin.usage({ after: "x" })), [400, "after"]);
    assert.deepEqual(await of(admin.ledger({ after: "x" })), [400, "after"]);
  });

  test("a top-up repeated with its idempotency key is applied once", async ({ admin }) => {
    const once = { key: "k", fingerprint: "500" };
    const first = await admin.accounts.topUp(
      "default",
      { microUsd: 500 },
      once,
    );
    assert.deepEqual(
      await admin.accounts.topUp("default", { microUsd: 500 }, once),
      first,
    );
    assert.equal((await admin.accounts.get("default")).balanceMicroUsd, 500);
    await assert.rejects(
      admin.accounts.topUp("default", { microUsd: 7 }, {
        key: "k",
        fingerprint: "7",
      }),
      (error) => error instanceof ApiError && error.kind === "conflict",
    );
  });

  test("a `user` text that Postgres rejects is cleaned before it is stored", async (bench) => {
    const { caller, accountId } = await createTestCaller(bench);
    const reservation = await bench.accounts.reserve(
      caller,
      testCall({ user: "a\0b\ud800" + "x".repeat(2000) }),
    );
    reservation.settle({ usage: {}, generatedChars: 4, ended: "complete" });
    await bench.flush();
    const { data } = await bench.admin.usage({ accountId, by: ["user"] });
    assert.equal(data[0]?.user, "ab\ufffd" + "x".repeat(509));
  });

  test("ready() resolves to whether the store answers", async ({ accounts }) => {
    assert.equal(await accounts.ready(), true);
  });
}
