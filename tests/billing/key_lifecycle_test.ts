/** Accounts and keys over HTTP, as an operator and a key's holder use them. */
import assert from "node:assert/strict";
import type { LedgerEntry } from "../../gateway/accounts/mod.ts";
import { isObject, type JsonObject } from "../../translate/bytes/json.ts";
import {
  billedUsage,
  FORMAT_PAIRS,
  ledgerEntryOf,
  requestBody,
  requestIdOf,
} from "../support/tables/billing.ts";
import { startTestGateway, type TestGateway } from "../support/test_gateway.ts";
import { bearer } from "../support/clients/bearer.ts";

const TOKEN = "an-admin-token-of-some-length";
const MODEL = "vendorb-5";

function test(
  name: string,
  run: (gateway: TestGateway) => Promise<void>,
): void {
  Deno.test(name, async () => {
    await using gateway = await startTestGateway({
      env: { GATEWAY_ADMIN_TOKEN: TOKEN },
    });
    await run(gateway);
    assert.deepEqual(await gateway.accounts.admin.audit(), []);
  });
}

async function admin(
  { url }: TestGateway,
  method: "GET" | "POST",
  path: string,
  body?: JsonObject,
): Promise<JsonObject> {
  const response = await fetch(`${url}/admin/v1/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      "content-type": "application/json",
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  assert.equal(response.status, 200, JSON.stringify(answer));
  assert.ok(isObject(answer));
  return answer;
}

interface Issued {
  readonly id: string;
  readonly key: string;
}

function issued(answer: JsonObject): Issued {
  const { id, key } = answer;
  assert.ok(typeof id === "string" && typeof key === "string");
  return { id, key };
}

/** Creates an account with a balance and returns its first key. */
async function customer(gateway: TestGateway, id: string): Promise<Issued> {
  await admin(gateway, "POST", "accounts", { id });
  await admin(gateway, "POST", `accounts/${id}/top-ups`, {
    micro_usd: 1_000_000,
  });
  return issued(await admin(gateway, "POST", "keys", { account: id }));
}

/** Statuses that a key gets on both generation endpoints, on the model list and on usage. */
async function statuses(
  gateway: TestGateway,
  key: string,
): Promise<readonly number[]> {
  const found: number[] = [];
  for (const path of ["/v1/messages", "/v1/chat/completions"] as const) {
    const response = await gateway.post(
      path,
      requestBody({ path, model: MODEL }, "[[fx:text]]", false),
      { "x-api-key": key },
    );
    await response.text();
    found.push(response.status);
  }
  for (const path of ["/v1/models", "/v1/usage"]) {
    const response = await fetch(gateway.url + path, bearer(key));
    await response.body?.cancel();
    found.push(response.status);
  }
  return found;
}

const SERVED = [200, 200, 200, 200];
const UNKNOWN = [401, 401, 401, 401];

test("a rotated key works beside its successor for the requested overlap", async (gateway) => {
  const old = await customer(gateway, "acme");
  assert.deepEqual(await statuses(gateway, old.key), SERVED);
  const young = issued(
    await admin(gateway, "POST", `keys/${old.id}/rotate`, {
      overlap_seconds: 3600,
    }),
  );
  assert.notEqual(young.key, old.key);
  assert.deepEqual(await statuses(gateway, old.key), SERVED);
  assert.deepEqual(await statuses(gateway, young.key), SERVED);
});

test("a key rotated without overlap is refused at once", async (gateway) => {
  const old = await customer(gateway, "acme");
  assert.deepEqual(await statuses(gateway, old.key), SERVED);
  const young = issued(
    await admin(gateway, "POST", `keys/${old.id}/rotate`, {}),
  );
  assert.deepEqual(await statuses(gateway, old.key), UNKNOWN);
  assert.deepEqual(await statuses(gateway, young.key), SERVED);
});

test("a revoked key is refused at once, and its running calls are finished and billed", async (gateway) => {
  const { id, key } = await customer(gateway, "acme");
  const pair = { path: "/v1/messages", model: MODEL } as const;
  const running = await gateway.post(
    pair.path,
    requestBody(pair, "[[fx:text?gate=running]]", true),
    { "x-api-key": key },
  );
  const callsBefore = gateway.replay.requestLog.entries.length;
  const revoked = await admin(gateway, "POST", `keys/${id}/revoke`);
  assert.notEqual(revoked["revoked_at"], null);
  assert.deepEqual(await statuses(gateway, key), UNKNOWN);
  assert.equal(gateway.replay.requestLog.entries.length, callsBefore);
  gateway.replay.openGate("running");
  assert.match(await running.text(), /message_stop/);
  const entry = await ledgerEntryOf(gateway, requestIdOf(running));
  assert.equal(entry.outputTokens, 12);
  assert.equal(entry.keyId, id);
});

test("an account disabled over HTTP is refused at the next call", async (gateway) => {
  const { key } = await customer(gateway, "acme");
  assert.deepEqual(await statuses(gateway, key), SERVED);
  await admin(gateway, "POST", "accounts/acme", { status: "disabled" });
  assert.deepEqual((await statuses(gateway, key)).slice(0, 2), [403, 403]);
});

test("a change of a plan's models takes effect at the next call", async (gateway) => {
  await admin(gateway, "POST", "plans", { id: "small", models: [MODEL] });
  await admin(gateway, "POST", "accounts", { id: "acme", plan: "small" });
  await admin(gateway, "POST", "accounts/acme/top-ups", {
    micro_usd: 1_000_000,
  });
  const { key } = issued(
    await admin(gateway, "POST", "keys", { account: "acme" }),
  );
  assert.deepEqual(await statuses(gateway, key), SERVED);
  await admin(gateway, "POST", "plans/small", { models: ["vendorc-3-pro"] });
  assert.deepEqual((await statuses(gateway, key)).slice(0, 2), [403, 403]);
});

test("GET /v1/usage reports the cost of the key that asks, and nothing of other keys", async (gateway) => {
  const mine = await customer(gateway, "acme");
  const other = issued(
    await admin(gateway, "POST", "keys", { account: "acme" }),
  );
  const bills: LedgerEntry[] = [];
  for (const pair of FORMAT_PAIRS) {
    for (const { key } of [mine, other]) {
      const user = pair.path === "/v1/messages"
        ? { metadata: { user_id: "ann" } }
        : { user: "ann" };
      const response = await gateway.post(
        pair.path,
        { ...requestBody(pair, "[[fx:cache-usage]]", true), ...user },
        { "x-api-key": key },
      );
      await response.text();
      const entry = await ledgerEntryOf(gateway, requestIdOf(response));
      assert.equal(entry.user, "ann");
      if (key === mine.key) bills.push(entry);
    }
  }
  const usage = async (query: string): Promise<readonly JsonObject[]> => {
    const response = await fetch(`${gateway.url}/v1/usage${query}`, {
      headers: { "x-api-key": mine.key },
    });
    const body: unknown = await response.json();
    assert.equal(response.status, 200, JSON.stringify(body));
    assert.ok(isObject(body) && Array.isArray(body["data"]));
    return body["data"].filter(isObject);
  };
  const sum = (field: (entry: LedgerEntry) => number): number =>
    bills.reduce((total, entry) => total + field(entry), 0);
  const expected = {
    requests: bills.length,
    estimated_requests: 0,
    input_tokens: sum((entry) => billedUsage(entry).input),
    cache_read_tokens: sum((entry) => billedUsage(entry).cacheRead),
    cache_write_tokens: sum((entry) => billedUsage(entry).cacheWrite),
    output_tokens: sum((entry) => billedUsage(entry).output),
    reasoning_tokens: 0,
    micro_usd: sum((entry) => -entry.microUsd),
  };
  assert.deepEqual(await usage("?by=user"), [{
    user: "ann",
    ...expected,
    estimated_micro_usd: null,
  }]);
  assert.deepEqual(await usage(`?by=key&key=${mine.id}`), [{
    key: mine.id,
    ...expected,
    estimated_micro_usd: 0,
  }]);
  const models = await usage("?by=model");
  assert.deepEqual(
    models.map((line) => line["model"]),
    [...new Set(FORMAT_PAIRS.map(({ model }) => model))].toSorted(),
  );
  assert.equal(
    models.reduce((total, line) => total + Number(line["micro_usd"]), 0),
    expected.micro_usd,
  );
  const refused = await fetch(`${gateway.url}/v1/usage?key=${other.id}`, {
    headers: { "x-api-key": mine.key },
  });
  assert.equal(refused.status, 400);
  assert.match(await refused.text(), /"param":"key"/);
});
