/**
 * Warnings by webhook: tests that every store must pass.
 */
import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import type { AccountsTest, TestAccounts } from "./accounts_spec.ts";
import {
  callWhole,
  createTestCaller,
  expectRefusal,
  openTestAccounts,
  staysOpen,
  type TestCaller,
} from "../testing/open_test_accounts.ts";
import { isObject, type JsonObject } from "../../../translate/bytes/json.ts";

/** A message as it arrived. */
interface Received {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A server for webhooks; answers with the next of `statuses`, then 204. */
function receiver(
  statuses: readonly number[] = [],
): AsyncDisposable & { readonly url: string; readonly received: Received[] } {
  const received: Received[] = [];
  const pending = [...statuses];
  const at = { port: 0, hostname: "127.0.0.1", onListen() {} };
  const server = Deno.serve(at, async (request) => {
    received.push({
      headers: Object.fromEntries(request.headers),
      body: await request.text(),
    });
    return new Response(null, {
      status: pending.shift() ?? 204,
      headers: { location: "/elsewhere" },
    });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/hook`,
    received,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function dataOf({ body }: Received): JsonObject {
  const message: unknown = JSON.parse(body);
  assert.ok(isObject(message) && isObject(message["data"]));
  return { type: message["type"], ...message["data"] };
}

/** Makes a call of 10 tokens in and `output` out, at 1 and 2 micro-dollars each. */
async function use(
  bench: TestAccounts,
  { caller }: Pick<TestCaller, "caller">,
  output: number,
): Promise<void> {
  const call = { maxOutputTokens: output };
  await callWhole(bench.accounts, caller, [10, output], call);
  await bench.flush();
}

export function webhooksSpec(test: AccountsTest): void {
  test("limits warn at 80 % and at 100 %, once in each window, with a valid signature", async (bench) => {
    await using server = receiver();
    // The library accepts messages of the last five minutes.
    bench.clock.ms = Date.now();
    const key = await createTestCaller(bench, {
      spendPerWeekMicroUsd: 1000,
      keyLimits: { tokensPerDay: 100 },
    });
    const { secret = "" } = await bench.admin.webhooks.set(
      key.accountId,
      server.url,
    );
    await use(bench, key, 69);
    await bench.deliverWebhooks();
    assert.equal(server.received.length, 0);
    await use(bench, key, 0);
    await bench.deliverWebhooks();
    await use(bench, key, 0);
    await expectRefusal(bench.accounts, key.caller);
    await expectRefusal(bench.accounts, key.caller);
    await bench.deliverWebhooks();
    assert.deepEqual(
      server.received.map((one) => {
        const data = dataOf(one);
        return [data["percent"], data["used_tokens"], data["limit"]];
      }),
      [[80, 89, "tokens_per_day"], [100, 99, "tokens_per_day"]],
    );
    const [first] = server.received;
    assert.ok(first !== undefined);
    assert.deepEqual(
      new Webhook(secret).verify(first.body, first.headers),
      JSON.parse(first.body),
    );
    assert.throws(() =>
      new Webhook(secret).verify(`${first.body} `, first.headers)
    );
    const day = new Date(bench.clock.ms).toISOString().slice(0, 10);
    assert.deepEqual(dataOf(first), {
      type: "limit.warning",
      account: key.accountId,
      key: key.keyId,
      of: "key",
      limit: "tokens_per_day",
      percent: 80,
      used_tokens: 89,
      limit_tokens: 100,
      window: "day",
      window_ends_at: new Date(Date.parse(day) + 86_400_000).toISOString(),
    });
    bench.clock.ms += 86_400_000;
    await use(bench, key, 75);
    await bench.deliverWebhooks();
    assert.equal(server.received.length, 3);
  });

  test("a limit of the plan warns the account, and again after it was changed", async (bench) => {
    await using server = receiver();
    const key = await createTestCaller(bench, { spendPerMonthMicroUsd: 100 });
    await bench.admin.webhooks.set(key.accountId, server.url);
    await use(bench, key, 45);
    await bench.deliverWebhooks();
    assert.deepEqual(
      server.received.map(dataOf).map((data) => [
        data["of"],
        data["key"],
        data["percent"],
        data["used_micro_usd"],
        data["limit_micro_usd"],
        data["window_ends_at"],
      ]).toSorted(),
      [80, 100].map((percent) => [
        "account",
        null,
        percent,
        100,
        100,
        "2026-12-01T00:00:00.000Z",
      ]).toSorted(),
    );
    await bench.admin.plans.update(key.planId, { spendPerMonthMicroUsd: 130 });
    await use(bench, key, 1);
    await bench.deliverWebhooks();
    assert.deepEqual(
      server.received.slice(2).map((one) => dataOf(one)["percent"]),
      [80],
    );
  });

  test("a message is retried with its id until it is accepted, and no redirect is followed", async (bench) => {
    await using server = receiver([500, 302, 429]);
    const { accountId } = await createTestCaller(bench);
    await bench.admin.webhooks.set(accountId, server.url);
    await bench.admin.webhooks.test(accountId);
    const deliver = async (pauseMs: number): Promise<number> => {
      bench.clock.ms += pauseMs;
      await bench.deliverWebhooks();
      return server.received.length;
    };
    assert.deepEqual([
      await deliver(0),
      await deliver(29_999),
      await deliver(1),
      await deliver(119_999),
      await deliver(1),
      await deliver(600_000),
      await deliver(3_600_000),
    ], [1, 1, 2, 2, 3, 4, 4]);
    const ids = server.received.map(({ headers }) => headers["webhook-id"]);
    assert.equal(new Set(ids).size, 1);
    const webhook = await bench.admin.webhooks.get(accountId);
    assert.equal(webhook.pending, 0);
  });

  test("two processes send a message once, also when one was restarted", async (bench) => {
    await using server = receiver();
    const key = await createTestCaller(bench, { tokensPerMonth: 50 });
    await bench.admin.webhooks.set(key.accountId, server.url);
    await use(bench, key, 30);
    await using other = await openTestAccounts(
      staysOpen(bench.store),
      bench.clock,
    );
    await Promise.all([bench.deliverWebhooks(), other.deliverWebhooks()]);
    assert.equal(server.received.length, 1);
    await use({ ...bench, ...other }, {
      caller: await other.accounts.authenticate([key.key]),
    }, 0);
    await Promise.all([bench.deliverWebhooks(), other.deliverWebhooks()]);
    assert.deepEqual(
      server.received.map((one) => dataOf(one)["percent"]),
      [80, 100],
    );
  });

  test("a low balance warns once, and again after it was high", async (bench) => {
    await using server = receiver();
    const key = await createTestCaller(bench, { balanceMicroUsd: 200 });
    const { accountId } = key;
    await bench.admin.accounts.update(accountId, { warnBelowMicroUsd: 100 });
    await bench.admin.webhooks.set(accountId, server.url);
    const messages = async (): Promise<number> => {
      await bench.deliverWebhooks();
      return server.received.length;
    };
    await use(bench, key, 45);
    assert.equal(await messages(), 0);
    await use(bench, key, 0);
    await use(bench, key, 0);
    assert.equal(await messages(), 1);
    await bench.admin.accounts.topUp(accountId, { microUsd: 30 });
    await use(bench, key, 5);
    assert.equal(await messages(), 2);
    assert.deepEqual(
      server.received.map(dataOf),
      [90, 90].map((left) => ({
        type: "balance.low",
        account: accountId,
        key: null,
        balance_micro_usd: left,
        warn_below_micro_usd: 100,
      })),
    );
  });

  test("an account without a webhook gets no messages, and a removed one loses them", async (bench) => {
    const key = await createTestCaller(bench, { tokensPerDay: 50 });
    await use(bench, key, 40);
    const { accountId } = key;
    const none = { accountId, pending: 0, deliveries: [] };
    assert.deepEqual(await bench.admin.webhooks.get(accountId), none);
    const set = await bench.admin.webhooks.set(accountId, "https://a.example");
    assert.match(set.secret ?? "", /^whsec_[\w+/]{43}=$/);
    assert.equal("secret" in await bench.admin.webhooks.get(accountId), false);
    await bench.admin.webhooks.test(accountId);
    assert.equal((await bench.admin.webhooks.get(accountId)).pending, 1);
    await bench.admin.webhooks.set(accountId, undefined);
    assert.deepEqual(await bench.admin.webhooks.get(accountId), none);
    await assert.rejects(
      bench.admin.webhooks.test(accountId),
      /there is no webhook/,
    );
  });
}
