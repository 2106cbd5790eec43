/** `GET /v1/account`: balance, use of the limits, and the limit that stops calls first. */
import assert from "node:assert/strict";
import {
  DAY_MS,
  dayAfter,
  dayOf,
  WINDOWS,
} from "../../gateway/accounts/limits/calendar_window.ts";
import type { PlanSettings } from "../../gateway/accounts/repositories/plan_repository.ts";
import { isObject, type JsonObject } from "../../translate/bytes/json.ts";
import {
  ledgerEntryOf,
  requestBody,
  requestIdOf,
} from "../support/tables/billing.ts";
import { startTestGateway, type TestGateway } from "../support/test_gateway.ts";
import { visit } from "../support/console/visitor.ts";
import { bearer } from "../support/clients/bearer.ts";

const PATH = "/v1/messages";
const MODEL = "vendora-opus-4-8";
const ENDS_MS = Date.now() + 3_600_000;

interface World {
  readonly gateway: TestGateway;
}

function test(name: string, run: (world: World) => Promise<void>): void {
  Deno.test(name, async () => {
    await using gateway = await startTestGateway();
    await run({ gateway });
  });
}

interface Customer {
  readonly account: string;
  readonly plan: string;
  readonly key: string;
  readonly keyId: string;
  readonly token: string;
  readonly tokenId: string;
}

async function customer(
  { gateway: { accounts: { admin } } }: World,
  plan: PlanSettings,
  keyLimits: Omit<PlanSettings, "models"> = {},
): Promise<Customer> {
  const { id: planId } = await admin.plans.create(plan);
  const { id: account } = await admin.accounts.create({ planId });
  await admin.accounts.topUp(account, { microUsd: 50_000_000 });
  const key = await admin.keys.issue({ accountId: account, ...keyLimits });
  const token = await admin.tokens.issue({
    accountId: account,
    scope: "read",
    expiresAtMs: ENDS_MS,
  });
  return {
    account,
    plan: planId,
    key: key.text ?? "",
    keyId: key.record.id,
    token: token.text ?? "",
    tokenId: token.record.id,
  };
}

/** Makes a call and returns its cost in micro-dollars and its tokens. */
async function call(
  { gateway }: World,
  key: string,
): Promise<{ readonly microUsd: number; readonly tokens: number }> {
  const reply = await gateway.post(
    PATH,
    requestBody({ path: PATH, model: MODEL }, "[[fx:cache-usage]]", false),
    { "x-api-key": key },
  );
  await reply.text();
  assert.equal(reply.status, 200);
  const entry = await ledgerEntryOf(gateway, requestIdOf(reply));
  return {
    microUsd: -entry.microUsd,
    tokens: entry.inputTokens + entry.cacheReadTokens +
      entry.cacheWriteTokens + entry.outputTokens,
  };
}

async function summary(
  { gateway: { url } }: World,
  credential: string,
  query: string = "",
): Promise<JsonObject> {
  const reply = await fetch(`${url}/v1/account${query}`, bearer(credential));
  const body: unknown = await reply.json();
  assert.ok(isObject(body));
  assert.equal(reply.status, query === "" ? 200 : 400, JSON.stringify(body));
  return body;
}

test("GET /v1/account has the balance and the use of every limit", async (world) => {
  const one = await customer(world, {
    requestsPerMinute: 60,
    tokensPerMinute: 100_000,
    concurrentRequests: 8,
    spendPerDayMicroUsd: 20_000_000,
    tokensPerWeek: 5_000_000,
  }, { spendPerMonthMicroUsd: 30_000_000 });
  const { microUsd, tokens } = await call(world, one.key);
  assert.ok(microUsd > 0 && tokens > 0);
  const today = dayOf(Date.now());
  const use = (
    limits: Readonly<Record<string, number>>,
  ): JsonObject =>
    Object.fromEntries(
      WINDOWS.map((window) => [window, {
        spent_micro_usd: microUsd,
        limit_micro_usd: limits[`${window}_micro_usd`] ?? null,
        used_tokens: tokens,
        limit_tokens: limits[`${window}_tokens`] ?? null,
        resets_at: new Date(dayAfter(window, today) * DAY_MS).toISOString(),
      }]),
    );
  const expected = {
    object: "account",
    id: one.account,
    plan: one.plan,
    billing: "prepaid",
    status: "active",
    credential: { kind: "key", id: one.keyId, expires_at: null },
    balance_micro_usd: 50_000_000 - microUsd,
    reserved_micro_usd: 0,
    ...use({ day_micro_usd: 20_000_000, week_tokens: 5_000_000 }),
    concurrent: { limit: 8, open: 0 },
    key: {
      ...use({ month_micro_usd: 30_000_000 }),
      minute: { requests: null, tokens: null },
      concurrent: { limit: null, open: 0 },
    },
    first_limit: null,
    first_limit_at: null,
  };
  // What was used of a minute leaks away all the time.
  const { minute, ...ofKey } = await summary(world, one.key);
  assert.deepEqual(ofKey, expected);
  assert.ok(isObject(minute));
  for (
    const [unit, limit, used] of [["requests", 60, 1], [
      "tokens",
      100_000,
      tokens,
    ]] as const
  ) {
    const state: unknown = minute[unit];
    assert.ok(isObject(state) && typeof state["remaining"] === "number");
    assert.equal(state["limit"], limit);
    assert.ok(state["remaining"] >= limit - used);
    assert.ok(state["remaining"] <= limit);
  }
  const { minute: _, ...ofToken } = await summary(world, one.token);
  assert.deepEqual(ofToken, {
    ...expected,
    key: null,
    credential: {
      kind: "read",
      id: one.tokenId,
      expires_at: new Date(ENDS_MS).toISOString(),
    },
  });
});

test("an empty balance is the first limit, in the reply and on the page", async (world) => {
  const { admin } = world.gateway.accounts;
  const empty = await admin.accounts.create({});
  const { text: key = "" } = await admin.keys.issue({ accountId: empty.id });
  const { first_limit, first_limit_at } = await summary(world, key);
  assert.equal(first_limit, "balance");
  assert.ok(Date.parse(String(first_limit_at)) <= Date.now());
  const visitor = await visit(world.gateway.url, "key", key);
  const page = await visitor.read("/console/");
  assert.match(page, /Stops you now: the balance: calls are/);
});

test("GET /v1/account refuses a field that does not exist, by name", async (world) => {
  const { key } = await customer(world, {});
  const { error } = await summary(world, key, "?days=3");
  assert.ok(isObject(error));
  assert.match(String(error["message"]), /days/);
});
