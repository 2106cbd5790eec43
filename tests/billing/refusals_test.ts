/**
 * Calls that the accounts refuse: the reason and its error code, and that no upstream is called.
 */
import assert from "node:assert/strict";
import { compact } from "../../translate/bytes/compact.ts";
import { isObject } from "../../translate/bytes/json.ts";
import {
  chargesIn,
  FORMAT_PAIRS,
  ledgerEntryOf,
  requestBody,
  requestIdOf,
} from "../support/tables/billing.ts";
import { startTestGateway, type TestGateway } from "../support/test_gateway.ts";

const MODEL = "vendorb-5";
const PATHS = ["/v1/messages", "/v1/chat/completions"] as const;

function test(
  name: string,
  run: (gateway: TestGateway) => Promise<void>,
): void {
  Deno.test(name, async () => {
    await using gateway = await startTestGateway();
    await run(gateway);
    assert.deepEqual(await gateway.accounts.admin.audit(), []);
  });
}

/** A prepaid account with one dollar on a plan of its own, and a key of the account. */
async function account(
  { accounts: { admin } }: TestGateway,
  plan: Parameters<typeof admin.plans.create>[0] = {},
  models?: readonly string[],
): Promise<{ readonly id: string; readonly key: string }> {
  const { id: planId } = await admin.plans.create(plan);
  const { id } = await admin.accounts.create({ planId });
  await admin.accounts.topUp(id, { microUsd: 1_000_000 });
  const { text: key = "" } = await admin.keys.issue({
    accountId: id,
    ...compact({ models }),
  });
  return { id, key };
}

async function errorOf(response: Response): Promise<Record<string, unknown>> {
  const body: unknown = await response.json();
  assert.ok(isObject(body) && isObject(body["error"]));
  return { ...body["error"] };
}

/**
 * Calls both endpoints, streamed and whole: each call gets the same error code, and no upstream is
 * called.
 */
async function refusedEverywhere(
  gateway: TestGateway,
  key: string,
  code: string,
): Promise<void> {
  for (const path of PATHS) {
    for (const stream of [false, true]) {
      const response = await gateway.post(
        path,
        requestBody({ path, model: MODEL }, "Hi", stream),
        { "x-api-key": key },
      );
      const row = `${path}, ${stream ? "streamed" : "whole"}`;
      assert.equal(response.status, 403, row);
      assert.equal(response.headers.get("content-type"), "application/json");
      const error = await errorOf(response);
      assert.equal(error["code"], code, row);
      assert.equal(typeof error["message"], "string");
      assert.equal(error["type"], "permission_error");
    }
  }
  assert.deepEqual(gateway.replay.requestLog.entries, []);
  assert.deepEqual(await chargesIn(gateway), []);
}

test("a disabled account is refused with account_disabled, and served again once active", async (gateway) => {
  const { id, key } = await account(gateway);
  await gateway.accounts.admin.accounts.update(id, { status: "disabled" });
  await refusedEverywhere(gateway, key, "account_disabled");
  await gateway.accounts.admin.accounts.update(id, { status: "active" });
  const path = "/v1/messages";
  const response = await gateway.post(
    path,
    requestBody({ path, model: MODEL }, "[[fx:text]]", false),
    { "x-api-key": key },
  );
  assert.equal(response.status, 200, await response.text());
});

test("account_disabled takes precedence over errors about the model", async (gateway) => {
  const { id, key } = await account(gateway, { models: ["vendora-opus-4-8"] });
  await gateway.accounts.admin.accounts.update(id, { status: "disabled" });
  await refusedEverywhere(gateway, key, "account_disabled");
});

test("a balance that does not cover the worst case is refused with insufficient_balance", async (gateway) => {
  const { id, key } = await account(gateway);
  await gateway.accounts.admin.accounts.topUp(id, { microUsd: -999_999 });
  await refusedEverywhere(gateway, key, "insufficient_balance");
});

test("a model with a balance of its own is paid from that balance only", async (gateway) => {
  const { id, key } = await account(gateway);
  await gateway.accounts.admin.accounts.topUp(id, {
    microUsd: 1,
    model: MODEL,
  });
  await refusedEverywhere(gateway, key, "insufficient_balance");
});

test("a model outside the plan is refused with model_not_in_plan", async (gateway) => {
  const { key } = await account(gateway, { models: ["vendora-opus-4-8"] });
  await refusedEverywhere(gateway, key, "model_not_in_plan");
});

test("a model outside the key's own list is refused with model_not_in_plan", async (gateway) => {
  const { key } = await account(gateway, {}, ["vendora-opus-4-8"]);
  await refusedEverywhere(gateway, key, "model_not_in_plan");
});

test("count_tokens is refused before the upstream if the key may not call the model", async (gateway) => {
  const disabled = await account(gateway);
  await gateway.accounts.admin.accounts.update(disabled.id, {
    status: "disabled",
  });
  const elsewhere = await account(gateway, { models: [MODEL] });
  for (
    const [key, code] of [
      [disabled.key, "account_disabled"],
      [elsewhere.key, "model_not_in_plan"],
    ] as const
  ) {
    const response = await gateway.post("/v1/messages/count_tokens", {
      model: "vendora-opus-4-8",
      messages: [{ role: "user", content: "Hi" }],
    }, { "x-api-key": key });
    assert.equal((await errorOf(response))["code"], code);
    assert.equal(response.status, 403);
  }
  assert.deepEqual(gateway.replay.requestLog.entries, []);
});

type ModelsRow = readonly [
  ofPlan: readonly string[] | undefined,
  ofKey: readonly string[] | undefined,
  expected: readonly string[],
];

test("GET /v1/models lists exactly what a key can call", async (gateway) => {
  const every = gateway.gateway.models.models.map(({ id }) => id);
  const [a = "", b = "", c = ""] = every;
  const rows: readonly ModelsRow[] = [
    [undefined, undefined, every],
    [[a, b], undefined, [a, b]],
    [undefined, [c], [c]],
    [[a, b], [b, c], [b]],
    [[a], [b], []],
    [[], undefined, []],
  ];
  for (const [plan, ofKey, expected] of rows) {
    const { key } = await account(
      gateway,
      plan === undefined ? {} : { models: plan },
      ofKey,
    );
    for (
      const headers of [
        { authorization: `Bearer ${key}` },
        { "x-api-key": key, "anthropic-version": "2023-06-01" },
      ]
    ) {
      const response = await fetch(`${gateway.url}/v1/models`, { headers });
      const body: unknown = await response.json();
      assert.ok(isObject(body) && Array.isArray(body["data"]));
      assert.deepEqual(
        body["data"].map((model: unknown) => isObject(model) && model["id"]),
        expected,
      );
    }
    for (const model of every) {
      const one = await fetch(
        `${gateway.url}/v1/models/${encodeURIComponent(model)}`,
        { headers: { "x-api-key": key } },
      );
      await one.body?.cancel();
      assert.equal(one.status === 200, expected.includes(model), model);
      for (const path of PATHS) {
        const response = await gateway.post(
          path,
          requestBody({ path, model }, "[[fx:text]]", false),
          { "x-api-key": key },
        );
        await response.body?.cancel();
        assert.equal(
          response.status,
          expected.includes(model) ? 200 : 403,
          model,
        );
      }
    }
  }
});

const HEADERS = {
  "/v1/messages": {
    limit: (kind: string) => `anthropic-ratelimit-${kind}-limit`,
    remaining: (kind: string) => `anthropic-ratelimit-${kind}-remaining`,
    reset: (kind: string) => `anthropic-ratelimit-${kind}-reset`,
    resetForm: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
    type: "rate_limit_error",
  },
  "/v1/chat/completions": {
    limit: (kind: string) => `x-ratelimit-limit-${kind}`,
    remaining: (kind: string) => `x-ratelimit-remaining-${kind}`,
    reset: (kind: string) => `x-ratelimit-reset-${kind}`,
    resetForm: /^(\d+h)?(\d+m)?\d+s$/,
    type: undefined,
  },
} as const;

for (const path of PATHS) {
  const names = HEADERS[path];
  const other = path === "/v1/messages" ? "x-ratelimit" : "anthropic-ratelimit";
  for (
    const [kind, plan, code] of [
      ["requests", { requestsPerMinute: 2 }, "requests_per_minute"],
      ["tokens", { tokensPerMinute: 60 }, "tokens_per_minute"],
    ] as const
  ) {
    test(`${path} reports the limit of ${kind} in its own headers, and 429 when it is reached`, async (gateway) => {
      const { key } = await account(gateway, plan);
      const limit = String(Object.values(plan)[0]);
      const asked = requestBody({ path, model: MODEL }, "[[fx:text]]", true);
      for (let call = 0;; call++) {
        const response = await gateway.post(path, asked, { "x-api-key": key });
        const { headers, status } = response;
        assert.equal(headers.get(names.limit(kind)), limit);
        assert.match(headers.get(names.reset(kind)) ?? "", names.resetForm);
        assert.match(headers.get(names.remaining(kind)) ?? "", /^\d+$/);
        assert.ok(![...headers.keys()].some((name) => name.startsWith(other)));
        if (status === 200) {
          assert.equal(headers.get("retry-after"), null);
          await response.text();
          await ledgerEntryOf(gateway, requestIdOf(response));
          assert.ok(call < 2, "the limit was not kept");
          continue;
        }
        assert.ok(call > 0);
        assert.equal(status, 429);
        assert.match(headers.get("retry-after") ?? "", /^([1-9]|[1-5]\d|60)$/);
        const error = await errorOf(response);
        assert.equal(error["code"], code);
        if (names.type !== undefined) assert.equal(error["type"], names.type);
        break;
      }
    });
  }
}

test("rate-limit headers show the nearest limit of key and plan, of any window, and none without a limit", async (gateway) => {
  const { admin } = gateway.accounts;
  const none = await account(gateway);
  const { id, key } = await account(gateway, {
    tokensPerMinute: 90_000,
    tokensPerDay: 70_000,
  });
  const { text: ownKey = "" } = await admin.keys.issue({
    accountId: id,
    requestsPerMinute: 40,
    tokensPerWeek: 50_000,
  });
  for (const path of PATHS) {
    const names = HEADERS[path];
    const seen = async (secret: string) => {
      const response = await gateway.post(
        path,
        requestBody({ path, model: MODEL }, "[[fx:text]]", false),
        { "x-api-key": secret },
      );
      assert.equal(response.status, 200, await response.text());
      await ledgerEntryOf(gateway, requestIdOf(response));
      return response.headers;
    };
    const unlimited = [...(await seen(none.key)).keys()];
    assert.ok(!unlimited.some((name) => name.includes("ratelimit")));
    for (
      const [secret, limit, requests] of [
        [key, 70_000, null],
        [ownKey, 50_000, "40"],
      ] as const
    ) {
      const headers = await seen(secret);
      assert.equal(headers.get(names.limit("tokens")), String(limit));
      assert.equal(headers.get(names.limit("requests")), requests);
      const remaining = Number(headers.get(names.remaining("tokens")));
      assert.ok(remaining > 0 && remaining < limit, String(remaining));
      const reset = headers.get(names.reset("tokens")) ?? "";
      assert.match(reset, names.resetForm);
      if (path === "/v1/messages") {
        assert.match(reset, /T00:00:00Z$/);
        // A week ends with Sunday.
        if (secret === ownKey) assert.equal(new Date(reset).getUTCDay(), 1);
      }
    }
  }
});

test("a request beyond the concurrency limit is a 429 until another request ends", async (gateway) => {
  const { key } = await account(gateway, { concurrentRequests: 1 });
  for (const pair of FORMAT_PAIRS) {
    const gate = `busy-${pair.path}-${pair.model}`.replaceAll("/", "-");
    const post = (text: string): Promise<Response> =>
      gateway.post(pair.path, requestBody(pair, text, true), {
        "x-api-key": key,
      });
    const first = await post(`[[fx:text?gate=${gate}]]`);
    const refused = await post("[[fx:text]]");
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get("retry-after"), "1");
    assert.equal((await errorOf(refused))["code"], "concurrent_requests");
    gateway.replay.openGate(gate);
    await first.text();
    await ledgerEntryOf(gateway, requestIdOf(first));
    const next = await post("[[fx:text]]");
    assert.equal(next.status, 200);
    await next.text();
    await ledgerEntryOf(gateway, requestIdOf(next));
  }
});

for (
  const { path, body } of [
    {
      path: "/v1/messages",
      body: {
        max_tokens: 1000,
        messages: [{ role: "user", content: "[[fx:text]]" }],
      },
    },
    {
      path: "/v1/chat/completions",
      body: {
        max_tokens: 1000,
        messages: [{ role: "user", content: "[[fx:text]]" }],
      },
    },
    {
      path: "/v1/responses",
      body: { max_output_tokens: 1000, input: "[[fx:text]]", store: false },
    },
  ] as const
) {
  test(`${path} names the window of a key's limit and when it opens`, async (gateway) => {
    const { admin } = gateway.accounts;
    const { id, key } = await account(gateway, { spendPerMonthMicroUsd: 1e9 });
    const { data: [record] } = await admin.keys.list({ accountId: id });
    assert.ok(record !== undefined);
    const call = (stream: boolean): Promise<Response> =>
      gateway.post(path, { model: MODEL, stream, ...body }, {
        "x-api-key": key,
      });
    const paid = await call(false);
    assert.equal(paid.status, 200, await paid.text());
    const entry = await ledgerEntryOf(gateway, requestIdOf(paid));
    const refusal = async (
      spendPerWeekMicroUsd: number,
      stream: boolean,
    ): Promise<string> => {
      await admin.keys.update(record.id, { spendPerWeekMicroUsd });
      const response = await call(stream);
      assert.equal(response.status, 429);
      assert.equal(response.headers.get("x-should-retry"), "false");
      assert.match(
        response.headers.get("retry-after") ?? "",
        /^([1-9]|[1-5]\d|60)$/,
      );
      const error = await errorOf(response);
      assert.equal(error["code"], "key_spending_per_week");
      return String(error["message"]);
    };
    for (const stream of [false, true]) {
      const tooSmall = await refusal(1 - entry.microUsd, stream);
      const [, worst] =
        /a week is too small for this request .* up to \$(\d+\.\d+)\): lower max_tokens$/
          .exec(tooSmall) ?? assert.fail(tooSmall);
      // Together with what is spent, the call is above this limit.
      const reached = await refusal(Math.round(Number(worst) * 1e6), stream);
      assert.match(
        reached,
        /^this key's limit of \$\d+\.\d+ a week is reached; it opens on Monday \d{4}-\d\d-\d\d 00:00 UTC \(/,
      );
    }
  });
}
