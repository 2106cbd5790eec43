/**
 * Every call of a model has a record, refused ones too: found by its request id, with its reason,
 * its attempts and its cost.
 */
import assert from "node:assert/strict";
import { isObject, type JsonObject } from "../../translate/bytes/json.ts";
import type { PlanSettings } from "../../gateway/accounts/repositories/plan_repository.ts";
import {
  ledgerEntryOf,
  requestBody,
  requestIdOf,
} from "../support/tables/billing.ts";
import { fakeClock } from "../support/fake_clock.ts";
import {
  startTestGateway,
  TEST_KEY,
  type TestGateway,
  type TestGatewayOptions,
} from "../support/test_gateway.ts";
import { withPassed } from "../support/passed_upstream.ts";
import {
  MODEL as CANDIDATE,
  withCandidates,
} from "../support/with_candidates.ts";
import { bearer } from "../support/clients/bearer.ts";

const MODEL = "vendorb-5";
const PATH = "/v1/messages";
const TOKEN = "an-admin-token-of-some-length";

function test(
  name: string,
  run: (gateway: TestGateway) => Promise<void>,
  options: TestGatewayOptions = {},
): void {
  Deno.test(name, async () => {
    await using gateway = await startTestGateway({
      ...options,
      env: { GATEWAY_ADMIN_TOKEN: TOKEN, ...options.env },
    });
    await run(gateway);
  });
}

interface Holder {
  readonly account: string;
  readonly id: string;
  readonly key: string;
}

async function holder(
  { accounts: { admin } }: TestGateway,
  plan: PlanSettings = {},
  microUsd: number = 1_000_000,
): Promise<Holder> {
  const { id: planId } = await admin.plans.create(plan);
  const { id: account } = await admin.accounts.create({ planId });
  if (microUsd > 0) await admin.accounts.topUp(account, { microUsd });
  const { text: key = "", record: { id } } = await admin.keys.issue({
    accountId: account,
  });
  return { account, id, key };
}

function ask(
  { post }: TestGateway,
  key: string,
  text: string = "[[fx:text]]",
  stream: boolean = false,
  model: string = MODEL,
): Promise<Response> {
  return post(PATH, requestBody({ path: PATH, model }, text, stream), {
    "x-api-key": key,
  });
}

async function get(
  url: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<JsonObject> {
  const response = await fetch(`${url}${path}`, { headers });
  const body: unknown = await response.json();
  assert.ok(isObject(body));
  assert.equal(response.status, 200, JSON.stringify(body));
  return body;
}

/** The record of a call, as the holder of its key sees it, and as an operator does. */
async function recordOf(
  { url }: Pick<TestGateway, "url">,
  key: string | undefined,
  response: Response,
): Promise<{ readonly own: JsonObject; readonly operator: JsonObject }> {
  const path = `/calls/${requestIdOf(response)}`;
  const operator = await get(url, `/admin/v1${path}`, {
    authorization: `Bearer ${TOKEN}`,
  });
  if (key === undefined) return { own: {}, operator };
  return { own: await get(url, `/v1${path}`, { "x-api-key": key }), operator };
}

async function refusedWith(
  gateway: TestGateway,
  response: Response,
  key: string | undefined,
  expected: {
    readonly status: number;
    readonly code: string;
    readonly why?: JsonObject;
  },
): Promise<void> {
  assert.equal(response.status, expected.status, await response.text());
  const { own, operator } = await recordOf(gateway, key, response);
  for (const call of key === undefined ? [operator] : [own, operator]) {
    assert.equal(call["ended"], "refused");
    assert.equal(call["status"], expected.status);
    assert.equal(call["code"], expected.code);
    assert.deepEqual(call["attempts"], []);
    assert.equal(call["tokens"], null);
    assert.equal(call["micro_usd"], 0);
    assert.equal(call["charge"], null);
    if (expected.why !== undefined) {
      assert.deepEqual(call["why"], expected.why);
    }
  }
  const entry = gateway.logged.find((one) =>
    one.request_id === requestIdOf(response)
  );
  assert.equal(entry?.code, expected.code);
  assert.equal(entry?.account_id, operator["account"]);
  assert.equal(entry?.key_id, operator["key"]);
}

test("a call with a revoked or expired key is found with the key and the reason", async (gateway) => {
  const { admin } = gateway.accounts;
  const revoked = await holder(gateway);
  await admin.keys.revoke(revoked.id);
  await refusedWith(
    gateway,
    await ask(gateway, revoked.key),
    undefined,
    { status: 401, code: "key_revoked" },
  );
  const unknown = await ask(gateway, `${revoked.key.slice(0, -1)}!`);
  assert.equal(unknown.status, 401, await unknown.text());
  const missing = await fetch(
    `${gateway.url}/admin/v1/calls/${requestIdOf(unknown)}`,
    bearer(TOKEN),
  );
  assert.equal(missing.status, 404, await missing.text());
});

test("each 403 is found with its reason", async (gateway) => {
  const { admin } = gateway.accounts;
  const disabled = await holder(gateway);
  await admin.accounts.update(disabled.account, { status: "disabled" });
  await refusedWith(gateway, await ask(gateway, disabled.key), disabled.key, {
    status: 403,
    code: "account_disabled",
  });
  const narrow = await holder(gateway, { models: ["vendora-opus-4-8"] });
  await refusedWith(gateway, await ask(gateway, narrow.key), narrow.key, {
    status: 403,
    code: "model_not_in_plan",
  });
  const poor = await holder(gateway, {}, 1);
  const response = await ask(gateway, poor.key);
  await refusedWith(gateway, response, poor.key, {
    status: 403,
    code: "insufficient_balance",
  });
  const { own } = await recordOf(gateway, poor.key, response);
  const why = own["why"];
  assert.ok(isObject(why));
  assert.equal(why["limit"], 1);
  assert.equal(why["used"], 0);
  assert.ok(Number(why["needed"]) > 1);
});

test("each 429 is found with its limit, how full it was and when to retry", async (gateway) => {
  const perMinute = await holder(gateway, { requestsPerMinute: 1 });
  await (await ask(gateway, perMinute.key)).text();
  await refusedWith(gateway, await ask(gateway, perMinute.key), perMinute.key, {
    status: 429,
    code: "requests_per_minute",
    why: { limit: 1, used: 1, needed: 1, retry_after_seconds: 60 },
  });
  const tokens = await holder(gateway, { tokensPerMinute: 5 });
  await (await ask(gateway, tokens.key)).text();
  const second = await ask(gateway, tokens.key);
  await refusedWith(gateway, second, tokens.key, {
    status: 429,
    code: "tokens_per_minute",
  });
  const spent = await holder(gateway, { spendPerDayMicroUsd: 1 });
  const refused = await ask(gateway, spent.key);
  await refusedWith(gateway, refused, spent.key, {
    status: 429,
    code: "spending_per_day",
  });
  const { own } = await recordOf(gateway, spent.key, refused);
  assert.ok(isObject(own["why"]));
  assert.equal(own["why"]["limit"], 1);
  const one = await holder(gateway, { concurrentRequests: 1 });
  const running = await ask(
    gateway,
    one.key,
    "[[fx:text-long?gate=held]]",
    true,
  );
  await refusedWith(gateway, await ask(gateway, one.key), one.key, {
    status: 429,
    code: "concurrent_requests",
    why: { limit: 1, used: 1, needed: 1, retry_after_seconds: 1 },
  });
  await running.body?.cancel();
});

test(
  "a call beyond the process's slots is found as overloaded, before its body is read",
  async (gateway) => {
    const { key } = await holder(gateway);
    const running = await ask(gateway, key, "[[fx:text-long?gate=held]]", true);
    const response = await ask(gateway, key);
    await refusedWith(gateway, response, key, {
      status: 529,
      code: "overloaded",
      why: { limit: 1, used: 1, needed: 1, retry_after_seconds: 1 },
    });
    const { own } = await recordOf(gateway, key, response);
    assert.equal(own["model"], null);
    await running.body?.cancel();
  },
  { env: { GATEWAY_MAX_CONCURRENT: "1" } },
);

test("a call during shutdown, an unknown model and an invalid field are found with their reason", async (gateway) => {
  const { key } = await holder(gateway);
  const unknown = await ask(gateway, key, "Hi", true, "no-such-model");
  await refusedWith(gateway, unknown, key, {
    status: 404,
    code: "model_not_found",
  });
  const { own } = await recordOf(gateway, key, unknown);
  assert.equal(own["model"], "no-such-model");
  assert.equal(own["stream"], true);
  const entry = gateway.logged.find((one) =>
    one.request_id === requestIdOf(unknown)
  );
  assert.equal(entry?.model, undefined, "a client's text is not logged");
  const invalid = await gateway.post(PATH, { model: MODEL, messages: 1 }, {
    "x-api-key": key,
  });
  await refusedWith(gateway, invalid, key, {
    status: 400,
    code: "invalid_request",
  });
  const invented = await gateway.post(PATH, {
    model: "invented",
    messages: 1,
  }, { "x-api-key": key });
  await refusedWith(gateway, invented, key, {
    status: 400,
    code: "invalid_request",
  });
  const { own: ofInvented } = await recordOf(gateway, key, invented);
  assert.equal(ofInvented["model"], null, "it would be counted by its name");
  gateway.gateway.drain();
  await refusedWith(gateway, await ask(gateway, key), key, {
    status: 503,
    code: "unavailable",
  });
});

test("a charged call explains its cost to the micro-dollar, and links to the ledger", async (gateway) => {
  const { key } = await holder(gateway);
  for (const text of ["[[fx:cache-usage]]", "[[fx:text]]"]) {
    for (const stream of [false, true]) {
      const response = await ask(gateway, key, text, stream);
      await response.text();
      const entry = await ledgerEntryOf(gateway, requestIdOf(response));
      const { own, operator } = await recordOf(gateway, key, response);
      assert.equal(own["ended"], "complete");
      assert.equal(own["stream"], stream);
      assert.equal(own["ledger_seq"], entry.seq);
      assert.equal(own["micro_usd"], 0 - entry.microUsd);
      assert.ok(typeof own["first_token_ms"] === "number");
      const { charge } = own;
      assert.ok(isObject(charge) && Array.isArray(charge["parts"]));
      let sum = 0n;
      for (const part of charge["parts"].filter(isObject)) {
        const product = BigInt(Number(part["tokens"])) *
          BigInt(Number(part["micro_usd_per_million_tokens"]));
        assert.equal(part["pico_usd"], String(product));
        sum += product;
      }
      assert.equal(charge["pico_usd"], String(sum));
      assert.equal(charge["micro_usd"], 0 - entry.microUsd);
      assert.equal(
        Number((sum + 999_999n) / 1_000_000n),
        charge["micro_usd"],
      );
      assert.equal(charge["seq"], entry.seq);
      assert.equal(
        charge["parts"].filter(isObject).map((part) =>
          part["micro_usd_per_million_tokens"]
        ).join("/"),
        entry.price,
      );
      const [attempt] = Array.isArray(operator["attempts"])
        ? operator["attempts"].filter(isObject)
        : [];
      assert.equal(attempt?.["upstream"], operator["upstream"]);
      assert.equal(attempt?.["status"], 200);
      const [ownAttempt] = Array.isArray(own["attempts"])
        ? own["attempts"].filter(isObject)
        : [];
      assert.ok(ownAttempt !== undefined && !("upstream" in ownAttempt));
      assert.ok(!("trace" in own));
    }
  }
});

test("a stream that was cut, and one that its client left, say how they ended and what was charged", async (gateway) => {
  const { key } = await holder(gateway);
  const cut = await ask(gateway, key, "[[fx:error-mid]]", true);
  await cut.text();
  const left = await ask(gateway, key, "[[fx:text-long?gate=held]]", true);
  const reader = left.body?.getReader();
  await reader?.read();
  await reader?.cancel();
  for (
    const [response, ended] of [[cut, "failed"], [left, "caller_left"]] as const
  ) {
    const entry = await ledgerEntryOf(gateway, requestIdOf(response));
    const { own } = await recordOf(gateway, key, response);
    assert.equal(own["ended"], ended);
    assert.equal(own["micro_usd"], 0 - entry.microUsd);
    assert.equal(own["ledger_seq"], entry.seq);
    assert.equal(own["estimated"], entry.estimated);
  }
});

test("a call of another key is not found, and not listed", async (gateway) => {
  const mine = await holder(gateway);
  const other = await holder(gateway);
  const response = await ask(gateway, mine.key);
  await response.text();
  await ledgerEntryOf(gateway, requestIdOf(response));
  await gateway.recorded();
  const path = `${gateway.url}/v1/calls`;
  const refused = await fetch(`${path}/${requestIdOf(response)}`, {
    headers: { "x-api-key": other.key },
  });
  assert.equal(refused.status, 404, await refused.text());
  const list = (key: string, query: string = "") =>
    fetch(`${path}${query}`, { headers: { "x-api-key": key } });
  const ofOther: unknown = await (await list(other.key)).json();
  assert.deepEqual(ofOther, { object: "list", data: [], next: null });
  const ofMine: unknown = await (await list(mine.key, `?key=${mine.id}`))
    .json();
  assert.ok(isObject(ofMine) && Array.isArray(ofMine["data"]));
  assert.equal(ofMine["data"].length, 1);
  const foreign = await list(mine.key, `?key=${other.id}`);
  assert.equal(foreign.status, 400);
  assert.match(await foreign.text(), /"param":"key"/);
});

test("an account token sees the calls of all keys and the ledger of its account, a key not the ledger", async (gateway) => {
  const { admin } = gateway.accounts;
  const mine = await holder(gateway);
  const other = await holder(gateway);
  const second = await admin.keys.issue({ accountId: mine.account });
  const ids: string[] = [];
  for (const key of [mine.key, second.text ?? "", other.key]) {
    const response = await ask(gateway, key);
    await response.text();
    ids.push(requestIdOf(response));
    await ledgerEntryOf(gateway, requestIdOf(response));
  }
  await gateway.recorded();
  const { text: token = "" } = await admin.tokens.issue({
    accountId: mine.account,
    scope: "read",
  });
  const headers = { authorization: `Bearer ${token}` };
  const idsOf = async (path: string): Promise<readonly unknown[]> => {
    const { data } = await get(gateway.url, path, headers);
    assert.ok(Array.isArray(data));
    return data.filter(isObject).map((one) => one["request_id"]);
  };
  assert.deepEqual(await idsOf("/v1/calls"), [ids[1], ids[0]]);
  assert.deepEqual(await idsOf(`/v1/calls?key=${mine.id}`), [ids[0]]);
  assert.deepEqual(await idsOf(`/v1/calls?key=${other.id}`), []);
  assert.deepEqual(await idsOf("/v1/account/ledger?kind=charge"), [
    ids[1],
    ids[0],
  ]);
  const refused = await fetch(`${gateway.url}/v1/account/ledger`, {
    headers: { "x-api-key": mine.key },
  });
  assert.equal(refused.status, 403, await refused.text());
});

test("no record contains a prompt, a reply, a header or a key", async (gateway) => {
  const { key, id } = await holder(gateway);
  const secret = "Xyzzy";
  for (const stream of [false, true]) {
    const response = await gateway.post(
      `${PATH}?x=${secret}`,
      {
        ...requestBody({ path: PATH, model: MODEL }, secret, stream),
        [secret]: 1,
      },
      { "x-api-key": key, "x-note": secret, traceparent: secret },
    );
    await response.text();
    await ledgerEntryOf(gateway, requestIdOf(response));
  }
  await gateway.recorded();
  const { data } = await gateway.accounts.admin.calls.list({ keyId: id });
  assert.equal(data.length, 2);
  // The name of a dropped field is the only text of the client's body.
  const texts = JSON.stringify(
    data.map(({ record: { dropped: _, ...rest } }) => rest),
  );
  assert.doesNotMatch(texts, new RegExp(`${secret}|${key}|${TEST_KEY}`, "i"));
});

test("long names of fields are cut in the log and in the record", async (gateway) => {
  const { key, id } = await holder(gateway);
  const fields = Array.from(
    { length: 60 },
    (_, i) => [`${"z".repeat(10_000)}${i}`, 1],
  );
  const response = await gateway.post(
    PATH,
    {
      ...requestBody({ path: PATH, model: MODEL }, "Hello", false),
      ...Object.fromEntries(fields),
    },
    { "x-api-key": key },
  );
  await response.text();
  await ledgerEntryOf(gateway, requestIdOf(response));
  await gateway.recorded();
  const { data } = await gateway.accounts.admin.calls.list({ keyId: id });
  const expected = Array.from({ length: 50 }, () => "z".repeat(200));
  assert.deepEqual(data.map(({ record }) => record.dropped), [expected]);
  assert.deepEqual(
    gateway.logged.flatMap(({ dropped }) =>
      dropped === undefined ? [] : [dropped]
    ),
    [expected],
  );
});

test("paths and methods of strangers are cut in the log", async (gateway) => {
  const long = "y".repeat(60_000);
  const requests: readonly (readonly [string, string])[] = [
    ["GET", `/v1/models/${long}`],
    ["POST", `/v1beta/models/${long}:generateContent`],
    ["GET", `/${long}`],
    ["GET", `/admin/v1/${long}`],
    ["GET", `/console/${long}`],
    ["Y".repeat(5_000), "/v1/models"],
  ];
  for (const [method, path] of requests) {
    const response = await fetch(`${gateway.url}${path}`, {
      method,
      headers: {
        [`x-${"h".repeat(5_000)}`]: "v",
        "user-agent": long.slice(99),
      },
    });
    await response.body?.cancel();
    assert.ok(response.status >= 400);
  }
  assert.equal(gateway.logged.length, requests.length);
  for (const entry of gateway.logged) {
    assert.ok(JSON.stringify(entry).length < 1_000, entry.path.slice(0, 40));
  }
});

test("with GATEWAY_CALLS_DAYS=0 no record is made", async (gateway) => {
  const { key } = await holder(gateway);
  const response = await ask(gateway, key);
  await response.text();
  await ledgerEntryOf(gateway, requestIdOf(response));
  const list = await get(gateway.url, "/v1/calls", { "x-api-key": key });
  assert.deepEqual(list["data"], []);
  const { own } = await recordOf(gateway, key, response);
  assert.equal(own["ended"], "complete", "as the ledger knows it");
  assert.equal(own["endpoint"], null);
}, { env: { GATEWAY_CALLS_DAYS: "0" } });

Deno.test("a call's attempts are recorded with status and times, in order", () =>
  withCandidates({}, async ({ a, ask, entryOf, gateway }) => {
    a.play([{ status: 503 }]);
    const response = await ask({ path: PATH });
    assert.equal(response.status, 200, await response.text());
    await entryOf(response);
    const { record } = await gateway.accounts.admin.calls.get(
      requestIdOf(response),
      {},
    );
    assert.equal(record.model, CANDIDATE);
    const attempts = record.attempts ?? [];
    assert.deepEqual(
      attempts.map((one) => [one["status"], one["error"] ?? null]),
      [[503, "unavailable"], [200, null]],
    );
    assert.notEqual(attempts[0]?.["upstream"], attempts[1]?.["upstream"]);
    assert.ok(
      Number(attempts[1]?.["after_ms"]) >=
        Number(attempts[0]?.["after_ms"]) +
          Number(attempts[0]?.["duration_ms"]),
    );
  }));

Deno.test("a ping is neither the first byte nor the first token", async () => {
  const clock = fakeClock();
  await withCandidates(
    {
      ...clock,
      model: { candidates: [{ vendor: "a", upstream_model: "x" }] },
    },
    async ({ a, ask, entryOf }) => {
      const gate = Promise.withResolvers<void>();
      a.play([{ after: gate.promise, action: "ok" }]);
      const answer = ask({ path: PATH, stream: true });
      await clock.timer((ms) => ms === 10_000);
      clock.advance(10_000);
      const response = await answer;
      const reader = response.body?.getReader();
      assert.ok(reader !== undefined);
      assert.match(
        new TextDecoder().decode((await reader.read()).value),
        /ping|keep-alive/,
      );
      clock.advance(5_000);
      gate.resolve();
      while (!(await reader.read()).done);
      const entry = await entryOf(response);
      assert.ok((entry.ttfb_ms ?? 0) >= 15_000, `${entry.ttfb_ms}`);
      assert.ok((entry.first_token_ms ?? 0) >= 15_000);
    },
  );
});

Deno.test("calls of configured routes and of embeddings are recorded, refused ones too", () =>
  withPassed(
    () => Response.json({ data: [], usage: { prompt_tokens: 3 } }),
    {
      model: {
        operations: ["thing", "embeddings"],
        price: { input: 1, output: 1, call: 500 },
      },
    },
    async (gateway) => {
      const expected: unknown[] = [];
      for (
        const [endpoint, model, status] of [
          ["/v1/things", "house-thing", 200],
          ["/v1/things", "no-such-model", 404],
          ["/v1/embeddings", "house-thing", 502],
          ["/v1/embeddings", "no-such-model", 404],
        ] as const
      ) {
        const response = await gateway.post(endpoint, { model, input: "Hi" });
        await response.text();
        assert.equal(response.status, status, endpoint);
        expected.unshift([endpoint, model, status]);
      }
      await gateway.accounts.calls?.flush();
      const { data } = await gateway.accounts.admin.calls.list({});
      assert.deepEqual(
        data.map((
          { record: { endpoint, model, status } },
        ) => [endpoint, model, status]),
        expected,
      );
    },
  ));
