/**
 * Reports, lists, errors and repeated requests of the administration: tests that every store must pass.
 *
 * @module
 */
import assert from "node:assert/strict";
import { ApiError } from "../../../translate/model/error.ts";
import type { AccountsTest } from "./accounts_spec.ts";
import { createTestCaller, testCall } from "./open_test_accounts.ts";

/** Registers the tests. */
export function administrationSpec(test: AccountsTest): void {
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
