import assert from "node:assert/strict";
import {
  type Admin,
  openAdmin,
} from "../../gateway/accounts/repositories/admin.ts";
import { insertCalls } from "../../gateway/accounts/rows/call_rows.ts";
import { openStore } from "../../gateway/accounts/store/open_store.ts";
import type { Store } from "../../gateway/accounts/store/store.ts";
import { adminAuth } from "../../gateway/admin/auth.ts";
import { toResponse } from "../../gateway/http/http_reply.ts";
import { ADMIN_OPERATIONS } from "../../gateway/admin/mod.ts";
import { compact } from "../../translate/bytes/compact.ts";
import { ApiError } from "../../translate/model/error.ts";
import { isObject, type JsonObject } from "../../translate/bytes/json.ts";
import type { OpenRoute } from "../route.ts";
import { noFacts } from "../../gateway/observability/call_facts.ts";
import { startTestGateway } from "../../tests/support/test_gateway.ts";
import { USAGE_ROUTES } from "../account/usage.ts";
import { ADMIN_DESCRIPTIONS } from "./descriptions.ts";
import { ADMIN_ROUTES } from "./mod.ts";

const TOKEN = "an-admin-token-of-some-length";

type Call = (
  method: "GET" | "POST",
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Response>;

interface TestContext {
  readonly store: Store;
  readonly call: Call;
  readonly admin: Admin;
}

/** Calls the routes without the router: paths are matched against patterns. */
function test(
  name: string,
  run: (context: TestContext) => Promise<void>,
  token: string | undefined = TOKEN,
): void {
  Deno.test(name, async () => {
    await using store = await openStore("sqlite::memory:");
    const admin = await openAdmin(store, (model) => model === "small");
    await using server = await startTestGateway();
    const { adminAuth: _, ...parts } = server.gateway;
    const gateway = {
      ...parts,
      admin,
      ...(token === "" || token === undefined ? {} : {
        adminAuth: adminAuth(
          () => token,
          server.accounts.admin.operatorTokens,
          () => 0,
        ),
      }),
    };
    await run({
      admin,
      store,
      async call(method, path, body, headers = {}) {
        const url = new URL(path, "http://gateway");
        const { route, id } = findRoute(ADMIN_ROUTES, method, url.pathname);
        return toResponse(
          await route.handle({
            gateway,
            request: new Request(url, {
              method,
              headers: {
                authorization: `Bearer ${TOKEN}`,
                "content-type": "application/json",
                ...headers,
              },
              ...(body === undefined ? {} : { body: JSON.stringify(body) }),
            }),
            path: url.pathname,
            endpoint: route.path,
            query: url.searchParams,
            requestId: "req_test",
            respond: () => Promise.reject(new Error("no inner request")),
            arrivedMs: 0,
            facts: noFacts(),
            parameters: id === undefined ? {} : { id },
          }),
        );
      },
    });
  });
}

function findRoute(
  routes: readonly OpenRoute[],
  method: string,
  path: string,
): { readonly route: OpenRoute; readonly id?: string } {
  for (const route of routes) {
    const pattern = route.path.replace(":id", "([^/]+)");
    const match = new RegExp(`^${pattern}$`).exec(path);
    if (route.method !== method || match === null) continue;
    return { route, ...compact({ id: match[1] }) };
  }
  throw new Error(`there is no route ${method} ${path}`);
}

async function ok(reply: Promise<Response>): Promise<JsonObject> {
  const response = await reply;
  assert.equal(response.status, 200);
  const body: unknown = await response.json();
  assert.ok(isObject(body));
  return body;
}

async function refusal(
  reply: Promise<Response>,
): Promise<readonly [number, string | undefined]> {
  try {
    await reply;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [error.status, error.details.param ?? error.details.code];
  }
  throw new Error("the request succeeded");
}

test("an account from its creation to its first key", async ({ call }) => {
  const plan = await ok(call("POST", "/admin/v1/plans", {
    id: "starter",
    models: ["small"],
    requests_per_minute: 60,
    spend_per_day_micro_usd: 5_000_000,
  }));
  assert.equal(plan["requests_per_minute"], 60);
  assert.equal(plan["tokens_per_minute"], null);
  const account = await ok(
    call("POST", "/admin/v1/accounts", { id: "acme", plan: "starter" }),
  );
  assert.equal(account["billing"], "prepaid");
  const topUp = await ok(
    call("POST", "/admin/v1/accounts/acme/top-ups", {
      micro_usd: 10_000_000,
      note: "invoice 7",
    }),
  );
  assert.equal(topUp["kind"], "top_up");
  const key = await ok(
    call("POST", "/admin/v1/keys", { account: "acme", name: "laptop" }),
  );
  assert.match(String(key["key"]), /^sk-/);
  const shown = await ok(call("GET", `/admin/v1/keys/${key["id"]}`));
  assert.equal("key" in shown, false);
  const successor = await ok(
    call("POST", `/admin/v1/keys/${key["id"]}/rotate`, { overlap_seconds: 60 }),
  );
  assert.equal(successor["replaces"], key["id"]);
  const revoked = await ok(call("POST", `/admin/v1/keys/${key["id"]}/revoke`));
  assert.notEqual(revoked["revoked_at"], null);
  const got = await ok(call("GET", "/admin/v1/accounts/acme"));
  assert.equal(got["balance_micro_usd"], 10_000_000);
  const topUps = await ok(call("GET", "/admin/v1/accounts/acme/top-ups"));
  assert.deepEqual(topUps["data"], [topUp]);
});

test("a change keeps omitted fields, and null removes a limit", async ({ call }) => {
  await ok(
    call("POST", "/admin/v1/plans", {
      id: "p",
      requests_per_minute: 1,
      tokens_per_minute: 2,
    }),
  );
  const plan = await ok(
    call("POST", "/admin/v1/plans/p", { tokens_per_minute: null }),
  );
  assert.equal(plan["requests_per_minute"], 1);
  assert.equal(plan["tokens_per_minute"], null);
});

test("every reply matches its schema", async ({ call, store }) => {
  const callId = "req_0mi9w0000abc";
  await store.write((sql) =>
    insertCalls(sql, store.dialect, [{
      requestId: callId,
      accountId: "acme",
      keyId: "key_1",
      endpoint: "/v1/messages",
      status: 429,
      ended: "refused",
      code: "requests_per_minute",
      why: { limit: 1, used: 1, needed: 1, retry_after_seconds: 1 },
      attempts: [{ upstream: "a/b", after_ms: 1, duration_ms: 2 }],
      estimated: false,
      microUsd: 0,
      more: 2,
    }])
  );
  await ok(call("POST", "/admin/v1/accounts", { id: "acme" }));
  await ok(
    call("POST", "/admin/v1/accounts/acme/top-ups", {
      micro_usd: 1,
      model: "small",
    }),
  );
  const key = await ok(call("POST", "/admin/v1/keys", { account: "acme" }));
  const ids: Readonly<Record<string, string>> = {
    accounts: "acme",
    plans: "unlimited",
    keys: String(key["id"]),
    calls: callId,
  };
  for (const { method, path, reply } of ADMIN_OPERATIONS) {
    if (method !== "GET") continue;
    const noun = path.split("/")[3] ?? "";
    const body = await ok(call("GET", path.replace(":id", ids[noun] ?? "")));
    assert.equal(reply.safeParse(body).error, undefined, path);
  }
});

const BAD: readonly (readonly [
  method: "GET" | "POST",
  path: string,
  body: unknown,
  status: number,
  named: string,
])[] = [
  ["POST", "/admin/v1/accounts", { nmae: "x" }, 400, "nmae"],
  ["POST", "/admin/v1/accounts", { id: "a b" }, 400, "id"],
  ["POST", "/admin/v1/accounts", { id: "default" }, 409, "account_exists"],
  ["POST", "/admin/v1/accounts", { plan: "none" }, 404, "plan"],
  ["POST", "/admin/v1/accounts/default", { status: "off" }, 400, "status"],
  ["POST", "/admin/v1/accounts/unknown", {}, 404, "account_not_found"],
  ["POST", "/admin/v1/accounts/default/top-ups", {}, 400, "micro_usd"],
  [
    "POST",
    "/admin/v1/accounts/default/top-ups",
    { micro_usd: 0 },
    400,
    "micro_usd",
  ],
  [
    "POST",
    "/admin/v1/accounts/default/top-ups",
    { micro_usd: 1, model: "no" },
    400,
    "model",
  ],
  [
    "POST",
    "/admin/v1/accounts/unknown/top-ups",
    { micro_usd: 1 },
    404,
    "account_not_found",
  ],
  ["POST", "/admin/v1/plans", { models: ["small", "no"] }, 400, "models[1]"],
  [
    "POST",
    "/admin/v1/plans",
    { requests_per_minute: 0 },
    400,
    "requests_per_minute",
  ],
  ["POST", "/admin/v1/plans", { id: "unlimited" }, 409, "plan_exists"],
  ["POST", "/admin/v1/keys", {}, 400, "account"],
  ["POST", "/admin/v1/keys", { account: "unknown" }, 404, "account_not_found"],
  [
    "POST",
    "/admin/v1/keys",
    { account: "default", expires_at: "soon" },
    400,
    "expires_at",
  ],
  [
    "POST",
    "/admin/v1/keys",
    { account: "default", expires_at: "2020-01-01T00:00:00Z" },
    400,
    "expires_at",
  ],
  [
    "POST",
    "/admin/v1/keys/none",
    { requests_per_minute: 1 },
    404,
    "key_not_found",
  ],
  ["POST", "/admin/v1/keys/none", { models: ["small"] }, 400, "models"],
  [
    "POST",
    "/admin/v1/keys",
    { account: "default", tokens_per_week: 0 },
    400,
    "tokens_per_week",
  ],
  [
    "POST",
    "/admin/v1/accounts/unknown/webhook",
    { url: "https://a.example" },
    404,
    "account_not_found",
  ],
  [
    "POST",
    "/admin/v1/accounts/default/webhook/test",
    {},
    404,
    "webhook_not_found",
  ],
  ...[
    "http://a.example",
    "http://127.0.0.1.a.example",
    "https://user:word@a.example",
    "https://a.example/#x",
    "ftp://127.0.0.1",
    "a.example",
    "",
  ].map((url) =>
    ["POST", "/admin/v1/accounts/default/webhook", { url }, 400, "url"] as const
  ),
  ["POST", "/admin/v1/keys/none/rotate", {}, 404, "key_not_found"],
  [
    "POST",
    "/admin/v1/keys/none/rotate",
    { overlap_seconds: -1 },
    400,
    "overlap_seconds",
  ],
  ["GET", "/admin/v1/keys/none", undefined, 404, "key_not_found"],
  ["GET", "/admin/v1/accounts?limit=0", undefined, 400, "limit"],
  ["GET", "/admin/v1/accounts?limt=5", undefined, 400, "limt"],
  ["GET", "/admin/v1/accounts?limit=5&limit=6", undefined, 400, "limit"],
  ["GET", "/admin/v1/usage?by=week", undefined, 400, "by"],
  ["GET", "/admin/v1/usage?by=hour,user", undefined, 400, "by"],
  ["GET", "/admin/v1/usage?from=yesterday", undefined, 400, "from"],
  ["GET", "/admin/v1/ledger?after=x", undefined, 400, "after"],
  ["GET", "/admin/v1/ledger/export?format=pdf", undefined, 400, "format"],
];

test("the error for bad input names the field or the code", async ({ call }) => {
  for (const [method, path, body, status, named] of BAD) {
    assert.deepEqual(
      await refusal(call(method, path, body)),
      [status, named],
      `${method} ${path} ${JSON.stringify(body)}`,
    );
  }
});

test("a POST with an idempotency key is applied once", async ({ call }) => {
  const headers = { "idempotency-key": "order-1" };
  const path = "/admin/v1/accounts/default/top-ups";
  const first = await ok(
    call("POST", path, { micro_usd: 5, note: "x" }, headers),
  );
  const again = await ok(
    call("POST", path, { note: "x", micro_usd: 5 }, headers),
  );
  assert.deepEqual(again, first);
  assert.deepEqual(
    await refusal(call("POST", path, { micro_usd: 6 }, headers)),
    [409, "idempotency_key_reused"],
  );
  const account = await ok(call("GET", "/admin/v1/accounts/default"));
  assert.equal(account["balance_micro_usd"], 5);
});

test("a key issued with an idempotency key is shown the first time only", async ({ call }) => {
  const headers = { "idempotency-key": "key-1" };
  const body = { account: "default" };
  const first = await ok(call("POST", "/admin/v1/keys", body, headers));
  const again = await ok(call("POST", "/admin/v1/keys", body, headers));
  assert.deepEqual(again, { ...first, key: null });
});

test("a webhook's secret is shown the first time only", async ({ call }) => {
  const headers = { "idempotency-key": "hook-1" };
  const path = "/admin/v1/accounts/default/webhook";
  const url = "http://localhost:9/hook";
  const first = await ok(call("POST", path, { url }, headers));
  assert.match(String(first["secret"]), /^whsec_/);
  const again = await ok(call("POST", path, { url }, headers));
  assert.deepEqual(again, { ...first, secret: null });
  assert.deepEqual(await ok(call("GET", path)), {
    object: "webhook",
    account: "default",
    url,
    pending: 0,
    last_error: null,
    deliveries: [],
  });
  await ok(call("POST", `${path}/remove`));
  assert.equal((await ok(call("GET", path)))["url"], null);
});

test("the limits of a key are changed one by one", async ({ call }) => {
  const key = await ok(
    call("POST", "/admin/v1/keys", {
      account: "default",
      requests_per_minute: 5,
      spend_per_week_micro_usd: 20_000_000,
    }),
  );
  const changed = await ok(
    call("POST", `/admin/v1/keys/${key["id"]}`, {
      name: "ci",
      requests_per_minute: null,
      tokens_per_month: 1_000_000,
    }),
  );
  assert.deepEqual(
    [
      changed["name"],
      changed["requests_per_minute"],
      changed["spend_per_week_micro_usd"],
      changed["tokens_per_month"],
    ],
    ["ci", null, 20_000_000, 1_000_000],
  );
});

test("the ledger is exported as JSON Lines and as CSV", async ({ call }) => {
  for (let i = 1; i <= 3; i++) {
    await ok(
      call("POST", "/admin/v1/accounts/default/top-ups", { micro_usd: i }),
    );
  }
  const lines = await call("GET", "/admin/v1/ledger/export");
  assert.equal(
    lines.headers.get("content-type"),
    "application/jsonl; charset=utf-8",
  );
  assert.equal((await lines.text()).split("\n").length, 4);
  const csv = await call(
    "GET",
    "/admin/v1/ledger/export?format=csv&kind=charge",
  );
  assert.match(await csv.text(), /^seq,time,.*micro_usd,corrects,lines\r\n$/);
});

test("a wrong token is refused, and after ten of them made to wait", async ({ call }) => {
  const wrong = (
    token: string,
  ): Promise<readonly [number, string | undefined]> =>
    refusal(
      call("GET", "/admin/v1/plans", undefined, { authorization: token }),
    );
  for (
    const token of ["", "Bearer x", `Bearer ${TOKEN}x`, TOKEN, `Basic ${TOKEN}`]
  ) {
    assert.deepEqual(await wrong(token), [401, undefined]);
  }
  for (let i = 0; i < 5; i++) await wrong("Bearer no");
  assert.deepEqual(await wrong("Bearer no"), [429, "rate_limit_exceeded"]);
  // The right token is not blocked together with the wrong ones.
  await ok(call("GET", "/admin/v1/plans"));
});

test("without a configured token there is no admin API", async ({ call }) => {
  assert.deepEqual(await refusal(call("GET", "/admin/v1/plans")), [
    404,
    undefined,
  ]);
}, "");

test("the holder of a key sees its own usage", async ({ admin }) => {
  await using server = await startTestGateway();
  const gateway = { ...server.gateway, admin };
  const [route] = USAGE_ROUTES;
  assert.ok(route !== undefined);
  const url = new URL("http://gateway/v1/usage?by=model");
  const response = toResponse(
    await route.handle({
      gateway,
      request: new Request(url),
      path: url.pathname,
      endpoint: route.path,
      query: url.searchParams,
      requestId: "req_test",
      respond: () => Promise.reject(new Error("no inner request")),
      arrivedMs: 0,
      facts: noFacts(),
      parameters: {},
    }, { kind: "key", accountId: "default", id: "key_1" }),
  );
  assert.deepEqual(await response.json(), {
    object: "list",
    data: [],
    next: null,
    totals: {
      requests: 0,
      estimated_requests: 0,
      input_tokens: 0,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 0,
      reasoning_tokens: 0,
      micro_usd: 0,
      estimated_micro_usd: 0,
    },
    figures_from: null,
  });
});

Deno.test("every admin operation has a description", () => {
  for (const route of ADMIN_ROUTES) {
    assert.ok(ADMIN_DESCRIPTIONS[route.operation ?? ""] !== undefined);
  }
});

const ACCOUNTS_FILE = [
  "account,name,plan,billing,top_up_usd,note,key",
  "search,Search team,team,,20.50,first,ci",
  "pay,,team,postpaid,,,",
  "search,,,,,,laptop",
].join("\n");

test("a file of accounts is shown, applied whole or not at all, and once", async ({ call }) => {
  await ok(call("POST", "/admin/v1/plans", { id: "team" }));
  const path = "/admin/v1/account-imports";
  const list = async () =>
    (await ok(call("GET", "/admin/v1/accounts"))).data as { id: string }[];
  const shown = await ok(call("POST", path, { file: ACCOUNTS_FILE }));
  assert.deepEqual([shown["applied"], shown["changes"], shown["failed"]], [
    false,
    5,
    0,
  ]);
  assert.deepEqual(
    (shown["data"] as { line: number; changes: string[] }[]).map((
      { line, changes },
    ) => [line, changes]),
    [
      [2, [
        "create it on the plan team",
        "top up $20.50",
        "issue the key ci",
      ]],
      [3, ["create it on the plan team"]],
      [4, ["issue the key laptop"]],
    ],
  );
  assert.ok(!(await list()).some(({ id }) => id === "search"));
  assert.deepEqual(
    await refusal(call("POST", path, { file: ACCOUNTS_FILE, apply: true })),
    [400, "idempotency-key"],
  );

  // Errors name line and column; nothing is done while there is one.
  const wrong = [
    "account,plan,top_up_usd,note,key",
    "good,team,1,,",
    "x y,team,,,",
    "a,none,,,",
    "b,team,lots,,",
    "c,team,100000000,,",
    `d,team,,,${"k".repeat(300)}`,
    "e,,,,",
    "f,team,,why,",
    'g,team,"1,250",,',
  ].join("\n");
  const errors = await ok(call("POST", path, { file: wrong }));
  assert.equal(errors["failed"], 8);
  assert.deepEqual(
    (errors["data"] as {
      line: number;
      error: { column: string; message: string } | null;
    }[]).map(({ line, error }) => [line, error?.column]),
    [
      [2, undefined],
      [3, "account"],
      [4, "plan"],
      [5, "top_up_usd"],
      [6, "top_up_usd"],
      [7, "key"],
      [8, "plan"],
      [9, "note"],
      // A thousand, or one and a quarter.
      [10, "top_up_usd"],
    ],
  );
  assert.deepEqual(
    await refusal(call("POST", path, { file: wrong, apply: true }, {
      "idempotency-key": "w",
    })),
    [400, "file"],
  );
  assert.ok(!(await list()).some(({ id }) => id === "good"));
  for (
    const file of [
      "",
      "plan\nteam",
      "account,account\na,b",
      "account,colour\na,red",
      "account\n" + "a\n".repeat(501),
      'account\n"a',
      "account,plan,top_up_usd\nsearch,team,1,000",
    ]
  ) {
    assert.deepEqual(await refusal(call("POST", path, { file })), [
      400,
      "file",
    ], file.slice(0, 40));
  }

  const once = { "idempotency-key": "november" };
  const keysOf = (reply: JsonObject): readonly (string | null)[] =>
    (reply["data"] as { key: string | null }[]).map(({ key }) => key);
  const done = await ok(
    call("POST", path, { file: ACCOUNTS_FILE, apply: true }, once),
  );
  assert.deepEqual([done["applied"], done["failed"]], [true, 0]);
  assert.match(keysOf(done)[0] ?? "", /^sk-/);
  assert.equal(keysOf(done)[1], null);
  assert.match(keysOf(done)[2] ?? "", /^sk-/);
  const again = await ok(
    call("POST", path, { file: ACCOUNTS_FILE, apply: true }, once),
  );
  assert.deepEqual(keysOf(again), [null, null, null]);
  const balance = async (): Promise<unknown> =>
    (await ok(call("GET", "/admin/v1/accounts/search")))["balance_micro_usd"];
  assert.equal(await balance(), 20_500_000);
  const keys = await ok(call("GET", "/admin/v1/keys?account=search"));
  assert.equal((keys["data"] as unknown[]).length, 2);
  // Another file with the same key: what differs is refused, line by line.
  const other = await ok(
    call("POST", path, {
      file: ACCOUNTS_FILE.replace("20.50", "30"),
      apply: true,
    }, once),
  );
  assert.equal(other["failed"], 1);
  assert.equal(await balance(), 20_500_000);
  const repeated = await ok(
    call("POST", path, { file: ACCOUNTS_FILE, apply: true }, {
      "idempotency-key": "december",
    }),
  );
  assert.equal(repeated["failed"], 0);
  assert.equal(await balance(), 41_000_000);
});
