/**
 * Reports, lists, errors and repeated requests of the administration: tests that every store must
 * pass.
 */
import assert from "node:assert/strict";
import { compact } from "../../../translate/bytes/compact.ts";
import { ApiError } from "../../../translate/model/error.ts";
import { ACCOUNT_ORDERS } from "../reports/account_list.ts";
import { KEY_ORDERS } from "../reports/key_list.ts";
import type { AccountsTest } from "./accounts_spec.ts";
import {
  callWhole,
  createTestCaller,
  reserve,
  testCall,
} from "../testing/open_test_accounts.ts";

export function administrationSpec(test: AccountsTest): void {
  test("accounts are found by any part, listed in every order, and lose all keys at once", async (bench) => {
    const { admin, clock } = bench;
    await admin.plans.create({ id: "p" });
    for (const id of ["acme", "beta"]) {
      await admin.accounts.create({ id, name: `The 100% ${id}`, planId: "p" });
    }
    await admin.accounts.topUp("beta", { microUsd: 7 });
    const { record } = await admin.keys.issue({
      accountId: "acme",
      name: "Laptop of Kim",
    });
    const list = async (
      order: (typeof ACCOUNT_ORDERS)[number],
      isDescending = false,
      part = "100%",
    ): Promise<readonly string[]> =>
      (await admin.listAccounts({
        part,
        planId: "p",
        status: "active",
        fromDay: "2026-11-01",
        order,
        isDescending,
        offset: 0,
        limit: 10,
      })).data.map(({ id }) => id);
    for (const order of ACCOUNT_ORDERS) {
      assert.equal((await list(order)).length, 2, order);
      assert.equal((await list(order, true)).length, 2, order);
    }
    assert.deepEqual(await list("balance", true), ["beta", "acme"]);
    assert.deepEqual(await list("id", true, "ACM"), ["acme"]);
    for (const order of KEY_ORDERS) {
      for (const isDescending of [false, true]) {
        const { data, hasMore } = await admin.listKeys({
          accountId: "acme",
          part: "lapTOP",
          order,
          isDescending,
          offset: 0,
          limit: 1,
        });
        assert.deepEqual([data[0]?.id, hasMore], [record.id, false], order);
      }
    }
    const found = await admin.find("LapTop");
    assert.deepEqual(found.keys.map(({ id }) => id), [record.id]);
    assert.deepEqual((await admin.find("% AC")).accounts, [
      { id: "acme", name: "The 100% acme" },
    ]);
    for (const scope of [{ accountId: "beta" }, { keyId: "key_x" }]) {
      assert.deepEqual((await admin.find("laptop", scope)).keys, []);
    }
    assert.deepEqual((await admin.find("_")).users, []);
    assert.deepEqual(
      await admin.accounts.names(["acme", "none"]),
      new Map([["acme", "The 100% acme"]]),
    );
    assert.deepEqual(await admin.keys.revokeAll("acme"), { revoked: 1 });
    assert.equal(
      (await admin.keys.get(record.id)).revokedAtMs,
      clock.ms,
    );
  });

  test("usage adds up by day, model, key and user", async (bench) => {
    const { accounts, admin, clock } = bench;
    const { caller, accountId } = await createTestCaller(bench);
    const spend = (model: string, user: string): Promise<void> =>
      callWhole(accounts, caller, [1, 2], { model, user });
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
    assert.deepEqual(await by("day"), [
      ["2026-11-21", 3, 15],
      ["2026-11-22", 1, 5],
    ]);
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

  test("totals cover the whole query, whatever its page, and hours add up to their day", async (bench) => {
    const { accounts, admin, clock } = bench;
    const { caller, accountId } = await createTestCaller(bench);
    const { text = "", record } = await admin.keys.issue({ accountId });
    const other = await accounts.authenticate([text]);
    for (let i = 0; i < 12; i++) {
      const reservation = await reserve(
        accounts,
        i % 3 === 0 ? other : caller,
        testCall({ model: i % 2 === 0 ? "small" : "large" }),
      );
      reservation.settle({
        // Without usage the charge is an estimate.
        usage: i === 0 ? {} : { input: i, output: 1 },
        generatedChars: 4,
        ended: "complete",
      });
      await bench.flush();
      clock.ms += 40 * 60 * 1000;
    }
    const seen: unknown[] = [];
    let after: string | undefined;
    for (;;) {
      const page = await admin.usage({
        accountId,
        by: ["hour", "model"],
        limit: 2,
        ...compact({ after }),
      });
      assert.equal(page.totals.requests, 12);
      assert.equal(page.totals.estimatedRequests, 1);
      seen.push(...page.data.map((line) => [line.hour, line.model]));
      after = page.next;
      if (after === undefined) break;
    }
    assert.equal(new Set(seen.map((line) => JSON.stringify(line))).size, 12);
    assert.deepEqual(seen[0], ["2026-11-21T00:00:00Z", "large"]);
    const entries = (await admin.ledger({ accountId, kind: "charge" })).data;
    const cost = (of: typeof entries): number =>
      of.reduce((sum, { microUsd }) => sum - microUsd, 0);
    const whole = (await admin.usage({ accountId })).totals;
    assert.equal(whole.microUsd, cost(entries));
    assert.equal(
      whole.estimatedMicroUsd,
      cost(entries.filter(({ estimated }) => estimated)),
    );
    const ofKey = await admin.usage({ keyId: record.id, by: ["key", "day"] });
    assert.deepEqual(
      ofKey.data.map((line) => [line.keyId, line.day, line.requests]),
      [[record.id, "2026-11-21", 4]],
    );
    assert.equal(
      ofKey.totals.microUsd,
      cost(entries.filter(({ keyId }) => keyId === record.id)),
    );
    const all = await admin.usage({ by: ["account", "model"] });
    assert.deepEqual(
      all.data.map((line) => [line.accountId, line.model, line.requests]),
      [[accountId, "large", 6], [accountId, "small", 6]],
    );
    const users = await admin.usage({ by: ["user"], keyId: record.id });
    assert.deepEqual(users.data.map((line) => line.requests), [4]);
    assert.equal(users.totals.estimatedMicroUsd, undefined);
    const own = await admin.ledger({ keyId: record.id, newestFirst: true });
    assert.deepEqual(
      own.data.map(({ requestId }) => requestId),
      entries.filter(({ keyId }) => keyId === record.id)
        .map(({ requestId }) => requestId).toReversed(),
    );
    await assert.rejects(
      admin.usage({ by: ["hour", "user"] }),
      (error) => error instanceof ApiError && error.details.param === "by",
    );
  });

  test("the pages of a list contain every item once", async (bench) => {
    const { accounts, admin } = bench;
    const { caller, accountId } = await createTestCaller(bench);
    for (let i = 0; i < 5; i++) {
      await callWhole(accounts, caller, [1, 1], { user: `user-${i}` });
      await admin.keys.issue({ accountId });
    }
    await bench.flush();
    type Page = { readonly after?: string; readonly limit: number };
    const walk = async (
      page: (
        from: Page,
      ) => Promise<{ data: readonly unknown[]; next?: string }>,
    ): Promise<number> => {
      const seen = new Set<string>();
      let after: string | undefined;
      for (;;) {
        const { data, next } = await page({ limit: 2, ...compact({ after }) });
        assert.ok(data.length <= 2);
        for (const item of data) seen.add(JSON.stringify(item));
        if (next === undefined) return seen.size;
        after = next;
      }
    };
    const by = ["day", "user"] as const;
    for (
      const [count, page] of [
        [6, (from: Page) => admin.keys.list({ accountId, ...from })],
        [2, admin.plans.list],
        [2, admin.accounts.list],
        [6, (from: Page) => admin.ledger({ accountId, ...from })],
        [5, (from: Page) => admin.usage({ accountId, by, ...from })],
      ] as const
    ) assert.equal(await walk(page), count);
  });

  test("unknown ids, existing ids and invalid fields get different errors", async ({ admin }) => {
    const { plans, accounts, keys } = admin;
    const cases: readonly (readonly [
      status: number,
      what: string,
      work: () => Promise<unknown>,
    ])[] = [
      [404, "plan_not_found", () => plans.get("x")],
      [404, "plan_not_found", () => plans.update("x", {})],
      [409, "plan_exists", () => plans.create({ id: "unlimited" })],
      [400, "models[1]", () => plans.create({ models: ["small", "no"] })],
      [404, "account_not_found", () => accounts.get("x")],
      [409, "account_exists", () => accounts.create({ id: "default" })],
      [404, "plan_not_found", () => accounts.create({ planId: "x" })],
      [404, "account_not_found", () => accounts.topUp("x", { microUsd: 1 })],
      [400, "micro_usd", () => accounts.topUp("default", { microUsd: 0.5 })],
      [404, "key_not_found", () => keys.revoke("x")],
      [404, "account_not_found", () => keys.issue({ accountId: "x" })],
      [400, "from", () => admin.usage({ fromDay: "2026-02-30" })],
      [400, "after", () => admin.usage({ after: "x" })],
      [400, "after", () => admin.ledger({ after: "x" })],
    ];
    for (const [status, what, work] of cases) {
      await assert.rejects(work, (error) => {
        assert.ok(error instanceof ApiError);
        const { code, param } = error.details;
        assert.deepEqual([error.status, code ?? param], [status, what]);
        return true;
      });
    }
  });

  test("a top-up repeated with its idempotency key is applied once", async ({ admin }) => {
    const once = { key: "k", fingerprint: "500" };
    const topUp = (microUsd: number, idempotencyKey = once) =>
      admin.accounts.topUp("default", { microUsd }, idempotencyKey);
    assert.deepEqual(await topUp(500), await topUp(500));
    assert.equal((await admin.accounts.get("default")).balanceMicroUsd, 500);
    await assert.rejects(
      topUp(7, { key: "k", fingerprint: "7" }),
      (error) => error instanceof ApiError && error.kind === "conflict",
    );
  });

  test("a `user` text that Postgres rejects is cleaned before it is stored", async (bench) => {
    const { caller, accountId } = await createTestCaller(bench);
    const reservation = await reserve(
      bench.accounts,
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
