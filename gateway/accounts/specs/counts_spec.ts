/**
 * Counts of tokens, which are free but limited as calls are: tests that every store must pass.
 */
import assert from "node:assert/strict";
import type { Caller } from "../accounts.ts";
import { RefusedCall } from "../accounts.ts";
import type { AccountsTest, TestAccounts } from "./accounts_spec.ts";
import {
  createTestCaller,
  expectRefusal,
  openTestAccounts,
  reserve,
  settleWhole,
  testCall,
  testClock,
} from "../testing/open_test_accounts.ts";
import { audit } from "../audits/audit.ts";
import type { TestStore } from "../testing/stores.ts";

let counts = 0;

async function begin(
  { accounts }: Pick<TestAccounts, "accounts">,
  caller: Caller,
  model = "small",
): Promise<() => void> {
  return await accounts.beginCount(caller, {
    requestId: `req_counted_${++counts}`,
    model,
  });
}

async function refused(
  bench: Pick<TestAccounts, "accounts">,
  caller: Caller,
  code: string,
  model?: string,
): Promise<void> {
  await assert.rejects(begin(bench, caller, model), (error) => {
    assert.ok(error instanceof RefusedCall);
    assert.equal(error.details.code, code);
    return true;
  });
}

export function countsSpec(test: AccountsTest, kind: TestStore): void {
  for (
    const [holder, fields, code] of [
      ["plan", { requestsPerMinute: 3 }, "requests_per_minute"],
      [
        "key",
        { keyLimits: { requestsPerMinute: 3 } },
        "key_requests_per_minute",
      ],
    ] as const
  ) {
    test(`counts and calls share the requests per minute of a ${holder}; refused ones take none`, async (bench) => {
      const { accounts, clock } = bench;
      const { caller } = await createTestCaller(bench, fields);
      (await begin(bench, caller))();
      settleWhole(await reserve(accounts, caller, testCall()), 1, 1);
      (await begin(bench, caller))();
      for (let i = 0; i < 3; i++) await refused(bench, caller, code);
      await expectRefusal(accounts, caller, { code });
      clock.ms += 20_000;
      (await begin(bench, caller))();
      await refused(bench, caller, code);
    });
  }

  test("a count takes one of the concurrent requests until it ends", async (bench) => {
    const { accounts } = bench;
    const { caller } = await createTestCaller(bench, { concurrentRequests: 1 });
    const end = await begin(bench, caller);
    await refused(bench, caller, "concurrent_requests");
    await expectRefusal(accounts, caller, { code: "concurrent_requests" });
    end();
    const reservation = await reserve(accounts, caller, testCall());
    await refused(bench, caller, "concurrent_requests");
    settleWhole(reservation, 1, 1);
    (await begin(bench, caller))();
  });

  test("a count needs a balance, or a free model, and takes nothing of it", async (bench) => {
    const { admin, flush } = bench;
    const { caller, accountId } = await createTestCaller(bench, {
      balanceMicroUsd: 0,
    });
    await refused(bench, caller, "insufficient_balance");
    await admin.accounts.topUp(accountId, { microUsd: 1 });
    (await begin(bench, caller))();
    await flush();
    const account = await admin.accounts.get(accountId);
    assert.equal(account.balanceMicroUsd, 1);
    assert.equal(account.reservedMicroUsd, 0);
    const { data } = await admin.ledger({ accountId });
    assert.deepEqual(data.map(({ kind }) => kind), ["top_up"]);
  });

  test("a count of a disabled account or beside the plan's models is refused", async (bench) => {
    const { admin, accounts } = bench;
    const { caller, key, accountId } = await createTestCaller(bench, {
      models: ["large"],
    });
    await refused(bench, caller, "model_not_in_plan");
    await admin.accounts.update(accountId, { status: "disabled" });
    await refused(
      bench,
      await accounts.authenticate([key]),
      "account_disabled",
    );
  });

  test("without limits of a minute a granted count holds for ten seconds, so that few are written", async (bench) => {
    const { admin, clock } = bench;
    const { caller, accountId } = await createTestCaller(bench, {
      balanceMicroUsd: 100,
    });
    (await begin(bench, caller))();
    await admin.accounts.topUp(accountId, { microUsd: -100 });
    clock.ms += 10_000;
    (await begin(bench, caller))();
    await refused(bench, caller, "insufficient_balance", "large");
    clock.ms += 1;
    await refused(bench, caller, "insufficient_balance");
  });

  Deno.test(`${kind.name}: counts of two processes share the limits`, async () => {
    await using database = await kind.createDatabase();
    const clock = testClock();
    const store = await database.open();
    await using first = await openTestAccounts(store, clock);
    await using second = await openTestAccounts(await database.open(), clock);
    const { caller, key } = await createTestCaller(first, {
      requestsPerMinute: 4,
    });
    const other = await second.accounts.authenticate([key]);
    for (let i = 0; i < 2; i++) {
      (await begin(first, caller))();
      (await begin(second, other))();
    }
    await refused(first, caller, "requests_per_minute");
    await refused(second, other, "requests_per_minute");
    await first.flush();
    await second.flush();
    assert.deepEqual(await audit(store), []);
  });
}
