import assert from "node:assert/strict";
import { openAdmin } from "../../gateway/accounts/admin.ts";
import { openStore } from "../../gateway/accounts/open_store.ts";
import { type Desk, openDesk } from "../../gateway/admin/desk.ts";
import { responseOf } from "../../gateway/answer.ts";
import { ADMIN_OPERATIONS } from "../../gateway/admin/mod.ts";
import { ApiError } from "../../translate/error.ts";
import { isObject, type JsonObject } from "../../translate/json.ts";
import type { OpenRoute } from "../route.ts";
import { startTestGateway } from "../../end_to_end/test_gateway.ts";
import { usageRoutes } from "../usage.ts";
import { ADMIN_DESCRIPTIONS } from "./descriptions.ts";
import { adminRoutes } from "./mod.ts";

const TOKEN = "an-admin-token-of-some-length";

type Call = (
  method: "GET" | "POST",
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Response>;

interface Bench {
  readonly call: Call;
  readonly desk: Desk;
}

/** The routes without the router: the pieces of a path are compared one by one. */
function test(
  name: string,
  run: (bench: Bench) => Promise<void>,
  token: string | undefined = TOKEN,
): void {
  Deno.test(name, async () => {
    const store = await openStore("sqlite::memory:");
    const admin = await openAdmin(store, (model) => model === "small");
    const server = await startTestGateway();
    const desk = openDesk(admin, token === "" ? undefined : token, () => 0);
    const routes = adminRoutes(() => desk);
    try {
      await run({
        desk,
        async call(method, path, body, headers = {}) {
          const url = new URL(path, "http://gateway");
          const { route, id } = found(routes, method, url.pathname);
          return responseOf(
            await route.handle({
              gateway: server.gateway,
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
              query: url.searchParams,
              requestId: "req_test",
              arrivedMs: 0,
              parameters: id === undefined ? {} : { id },
            }),
          );
        },
      });
    } finally {
      await server.close();
      await store.close();
    }
  });
}

function found(
  routes: readonly OpenRoute[],
  method: string,
  path: string,
): { readonly route: OpenRoute; readonly id?: string } {
  for (const route of routes) {
    const pattern = route.path.replace(":id", "([^/]+)");
    const match = new RegExp(`^${pattern}$`).exec(path);
    if (route.method !== method || match === null) continue;
    return { route, ...(match[1] === undefined ? {} : { id: match[1] }) };
  }
  throw new Error(`there is no route ${method} ${path}`);
}

async function ok(answer: Promise<Response>): Promise<JsonObject> {
  const response = await answer;
  assert.equal(response.status, 200);
  const body: unknown = await response.json();
  assert.ok(isObject(body));
  return body;
}

async function refused(
  answer: Promise<Response>,
): Promise<readonly [number, string | undefined]> {
  try {
    await answer;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [error.status, error.details.param ?? error.details.code];
  }
  throw new Error("the request was answered");
}

test("an account from its making to its first key", async ({ call }) => {
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
  const young = await ok(
    call("POST", `/admin/v1/keys/${key["id"]}/rotate`, { overlap_seconds: 60 }),
  );
  assert.equal(young["replaces"], key["id"]);
  const revoked = await ok(call("POST", `/admin/v1/keys/${key["id"]}/revoke`));
  assert.notEqual(revoked["revoked_at"], null);
  const got = await ok(call("GET", "/admin/v1/accounts/acme"));
  assert.equal(got["balance_micro_usd"], 10_000_000);
  const topUps = await ok(call("GET", "/admin/v1/accounts/acme/top-ups"));
  assert.deepEqual(topUps["data"], [topUp]);
});

test("a change leaves alone what it does not tell, and null takes a limit away", async ({ call }) => {
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

test("every answer is as its schema says", async ({ call }) => {
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
  };
  for (const { method, path, reply } of ADMIN_OPERATIONS) {
    if (method !== "GET") continue;
    const noun = path.split("/")[3] ?? "";
    const answer = await ok(call("GET", path.replace(":id", ids[noun] ?? "")));
    assert.equal(reply.safeParse(answer).error, undefined, path);
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
  ["POST", "/admin/v1/accounts/nobody", {}, 404, "account_not_found"],
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
    "/admin/v1/accounts/nobody/top-ups",
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
  ["POST", "/admin/v1/keys", { account: "nobody" }, 404, "account_not_found"],
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
  ["GET", "/admin/v1/usage?by=hour", undefined, 400, "by"],
  ["GET", "/admin/v1/usage?from=yesterday", undefined, 400, "from"],
  ["GET", "/admin/v1/ledger?after=x", undefined, 400, "after"],
  ["GET", "/admin/v1/ledger/export?format=pdf", undefined, 400, "format"],
];

test("bad input is answered with the field or the reason", async ({ call }) => {
  for (const [method, path, body, status, named] of BAD) {
    assert.deepEqual(
      await refused(call(method, path, body)),
      [status, named],
      `${method} ${path} ${JSON.stringify(body)}`,
    );
  }
});

test("a POST with an idempotency key happens once", async ({ call }) => {
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
    await refused(call("POST", path, { micro_usd: 6 }, headers)),
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
  assert.match(await csv.text(), /^seq,time,.*micro_usd\r\n$/);
});

test("a wrong token is refused, and after ten of them made to wait", async ({ call }) => {
  const wrong = (
    token: string,
  ): Promise<readonly [number, string | undefined]> =>
    refused(
      call("GET", "/admin/v1/plans", undefined, { authorization: token }),
    );
  for (
    const token of ["", "Bearer x", `Bearer ${TOKEN}x`, TOKEN, `Basic ${TOKEN}`]
  ) {
    assert.deepEqual(await wrong(token), [401, undefined]);
  }
  for (let i = 0; i < 5; i++) await wrong("Bearer no");
  assert.deepEqual(await wrong("Bearer no"), [429, "rate_limit_exceeded"]);
  // The right one is not locked out with them.
  await ok(call("GET", "/admin/v1/plans"));
});

test("without a configured token there is no admin API", async ({ call }) => {
  assert.deepEqual(await refused(call("GET", "/admin/v1/plans")), [
    404,
    undefined,
  ]);
}, "");

test("the holder of a key sees its own usage", async ({ desk }) => {
  const server = await startTestGateway();
  try {
    const [route] = usageRoutes(() => desk);
    assert.ok(route !== undefined);
    const url = new URL("http://gateway/v1/usage?by=model");
    const response = responseOf(
      await route.handle({
        gateway: server.gateway,
        request: new Request(url),
        path: url.pathname,
        query: url.searchParams,
        requestId: "req_test",
        arrivedMs: 0,
        parameters: {},
      }, {
        accountId: "default",
        keyId: "key_1",
        isActive: true,
        allows: () => true,
      }),
    );
    assert.deepEqual(await response.json(), {
      object: "list",
      data: [],
      next: null,
    });
  } finally {
    await server.close();
  }
});

Deno.test("every admin operation has a description", () => {
  for (const route of adminRoutes(() => undefined)) {
    assert.ok(ADMIN_DESCRIPTIONS[route.operation ?? ""] !== undefined);
  }
});
