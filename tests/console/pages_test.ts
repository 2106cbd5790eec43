/** What the pages show: sums, refusals, files, and nothing secret. */
import assert from "node:assert/strict";
import { csvRows } from "../support/console/csv_rows.ts";
import type { TestGateway } from "../support/test_gateway.ts";
import {
  ADMIN_TOKEN,
  credentialOf,
  signIn,
  startConsole,
  visit,
  visitAs,
  type Visitor,
} from "../support/console/visitor.ts";

/** Sends a call and returns its request id. */
async function call(
  gateway: TestGateway,
  key: string,
  model: string = "vendora-opus-4-8",
  user: string = "u",
): Promise<string> {
  const reply = await gateway.post("/v1/messages", {
    model,
    max_tokens: 100,
    metadata: { user_id: user },
    messages: [{ role: "user", content: "Hello" }],
  }, { "x-api-key": key });
  await reply.text();
  return reply.headers.get("request-id") ?? "";
}

async function withAccount(
  run: (
    gateway: TestGateway,
    key: string,
    visitor: Visitor,
  ) => Promise<void>,
): Promise<void> {
  await using gateway = await startConsole();
  const { admin } = gateway.accounts;
  await admin.plans.create({
    id: "small",
    models: ["vendora-opus-4-8", "vendorb-5"],
  });
  await admin.accounts.create({
    id: "acme",
    planId: "small",
    billing: "postpaid",
  });
  const { text } = await credentialOf(gateway, "key", "acme");
  const manage = await credentialOf(gateway, "manage", "acme");
  await run(gateway, text, await visit(gateway.url, "manage", manage.text));
}

/** Values of the exact micro-dollars on a page. */
function amounts(html: string): readonly number[] {
  return [...html.matchAll(/<data value="(-?\d+)"/g)].map(([, value]) =>
    Number(value)
  );
}

Deno.test("the sums of overview, usage, its file and the ledger's file are the same, to the micro-dollar", () =>
  withAccount(async (gateway, key, visitor) => {
    for (let i = 0; i < 12; i++) {
      await call(gateway, key, i % 2 === 0 ? "vendora-opus-4-8" : "vendorb-5");
    }
    await gateway.accounts.flush();
    const { totals } = await gateway.accounts.admin.usage({
      accountId: "acme",
      by: [],
    });
    assert.ok(totals.microUsd > 0);
    for (
      const path of ["/console/", "/console/usage", "/console/usage?by=key"]
    ) {
      assert.ok(
        amounts(await visitor.read(path)).includes(totals.microUsd),
        path,
      );
    }
    const column = (csv: string, name: string): number => {
      const [head = "", ...lines] = csv.trim().split("\r\n");
      const at = head.split(",").indexOf(name);
      assert.notEqual(at, -1, head);
      return lines.reduce(
        (sum, line) => sum + Number(line.split(",")[at]),
        0,
      );
    };
    assert.equal(
      column(
        await visitor.read("/console/usage.csv?by=model"),
        "micro_usd",
      ),
      totals.microUsd,
    );
    assert.equal(
      column(await visitor.read("/console/ledger.csv"), "micro_usd"),
      0 - totals.microUsd,
    );
    assert.equal(
      column(
        await visitor.read("/console/usage.csv?by=day"),
        "requests",
      ),
      12,
    );
  }));

Deno.test("a call is explained to the micro-dollar, and another account's does not exist", () =>
  withAccount(async (gateway, key, visitor) => {
    const id = await call(gateway, key);
    await gateway.accounts.flush();
    const { data: [entry] } = await gateway.accounts.admin.ledger({
      requestId: id,
    });
    assert.ok(entry !== undefined);
    const html = await visitor.read(`/console/calls/${id}`);
    assert.ok(amounts(html).includes(0 - entry.microUsd));
    assert.match(html, new RegExp(`Line #${entry.seq} of the ledger`));
    const found = await visitor.get(`/console/find?q=${id}`);
    await found.body?.cancel();
    assert.equal(found.headers.get("location"), `/console/calls/${id}`);
    const stranger = await visitAs(gateway, "manage");
    const reply = await stranger.get(`/console/calls/${id}`);
    await reply.body?.cancel();
    assert.equal(reply.status, 404);
    const other = await visitAs(gateway, "key", "acme");
    const hidden = await other.get(`/console/calls/${id}`);
    await hidden.body?.cancel();
    assert.equal(hidden.status, 404);
  }));

Deno.test("a refused call is found by its id, with its reason and what helps", () =>
  withAccount(async (gateway, key, visitor) => {
    const { admin } = gateway.accounts;
    const refusal = async (model?: string): Promise<string> => {
      const id = await call(gateway, key, model);
      return await visitor.read(`/console/calls/${id}`);
    };
    assert.match(await refusal("nothing"), /model not found/);
    assert.match(await refusal("vendorc-3-pro"), /model not in plan/);
    await admin.plans.update("small", { spendPerDayMicroUsd: 0 });
    assert.match(await refusal(), /spending per day[^]*What helps/);
    await admin.plans.update("small", {
      spendPerDayMicroUsd: null,
      requestsPerMinute: 1,
    });
    await call(gateway, key);
    assert.match(
      await refusal(),
      /requests per minute[^]*The limit was[^]*What helps: Wait until it opens, or/,
    );
    await admin.accounts.update("acme", { status: "disabled" });
    assert.match(await refusal(), /account disabled/);
  }));

Deno.test("a file quotes what a spreadsheet would evaluate", () =>
  withAccount(async (gateway, key, visitor) => {
    await call(gateway, key, "vendora-opus-4-8", `=cmd|' /C calc'!A0`);
    await gateway.accounts.flush();
    const csv = await visitor.read("/console/usage.csv?by=user");
    assert.match(csv, /^'=cmd/m);
  }));

Deno.test("files have dollars beside micro-dollars, and names beside ids", async () => {
  await using gateway = await startConsole();
  const { admin } = gateway.accounts;
  await admin.accounts.update("default", { name: "The first" });
  const { text: key } = await credentialOf(gateway, "key");
  await (await gateway.call({ model: "vendorb-5.5" }, key)).text();
  await gateway.recorded();
  const operator = await visitAs(gateway, "operator");
  for (
    const path of [
      "calls",
      "ledger",
      "usage",
      "usage?by=key",
      "usage?by=account",
    ]
  ) {
    const [name = "", search = ""] = path.split("?");
    const [row = {}] = csvRows(
      await operator.read(`/console/operator/${name}.csv?${search}`),
    );
    const micro = Number(row["micro_usd"]);
    assert.ok(Math.abs(micro) > 0, path);
    assert.equal(Number(row["usd"]), micro / 1e6, path);
    if (path !== "usage") {
      assert.equal(
        row["key_name"] ?? row["account_name"],
        search === "by=account" ? "The first" : "of a test",
        path,
      );
    }
  }
});

Deno.test("a top-up that is sent twice is applied once", () =>
  withAccount(async (gateway) => {
    const operator = await visitAs(gateway, "operator");
    const send = async (): Promise<number> => {
      const reply = await operator.post(
        "/console/operator/accounts/top-up/acme",
        { usd: "5", note: "invoice", idempotency_key: "once" },
      );
      await reply.body?.cancel();
      return reply.status;
    };
    assert.deepEqual(await Promise.all([send(), send()]), [303, 303]);
    assert.equal(
      (await gateway.accounts.admin.accounts.get("acme")).balanceMicroUsd,
      5_000_000,
    );
  }));

Deno.test("no page contains a key, a token or a cookie", () =>
  withAccount(async (gateway, key, visitor) => {
    const manage = await credentialOf(gateway, "manage", "acme");
    const operator = await visitAs(gateway, "operator");
    await call(gateway, key);
    const secrets = [
      key,
      manage.text,
      ADMIN_TOKEN,
      visitor.cookie.split("=")[1] ?? "",
      operator.cookie.split("=")[1] ?? "",
      "canary-path",
    ];
    await signIn(gateway.url, "key", `${key}x`).then((reply) =>
      reply.body?.cancel()
    );
    await gateway.accounts.admin.webhooks.set(
      "acme",
      "https://hooks.example.com/canary-path",
    );
    const pages = ["", "keys", "calls", "usage", "ledger"];
    for (
      const [who, base, names] of [
        [visitor, "/console/", [
          ...pages,
          "access",
          "connect",
          "models",
          "try",
        ]],
        [operator, "/console/operator/", [
          ...pages,
          "accounts",
          "accounts/acme",
          "plans",
          "upstreams",
          "live",
          "changes",
          "settings",
        ]],
      ] as const
    ) {
      for (const name of names) {
        const html = await who.read(`${base}${name}`);
        assert.match(html, /<main id="main"/, name);
        for (const secret of secrets) {
          assert.ok(!html.includes(secret), `${base}${name}`);
        }
      }
    }
    for (
      const [who, path] of [
        [visitor, "/console/ledger.csv"],
        [visitor, "/console/usage.csv"],
        [operator, "/console/operator/ledger.csv"],
        [operator, "/console/operator/usage.csv"],
        [operator, "/console/operator/changes.csv"],
      ] as const
    ) {
      const file = await who.read(path);
      assert.match(file, /\r\n/, path);
      for (const secret of secrets) assert.ok(!file.includes(secret), path);
    }
  }));

Deno.test("while the store is down an operator's session goes on and sees the upstreams, and other pages answer 503", async () => {
  const gateway = await startConsole();
  const { url } = gateway;
  const visitor = await visit(
    url,
    "manage",
    (await credentialOf(gateway, "manage")).text,
  );
  const operator = await visit(url, "operator", ADMIN_TOKEN);
  await gateway.accounts.accounts.close();
  try {
    const statusOf = async (reply: Promise<Response>): Promise<number> => {
      const { status, body } = await reply;
      await body?.cancel();
      return status;
    };
    assert.equal(
      await statusOf(operator.get("/console/operator/upstreams")),
      200,
    );
    assert.equal(
      await statusOf(operator.get("/console/operator/settings")),
      200,
    );
    assert.equal(
      await statusOf(operator.get("/console/operator/changes")),
      503,
    );
    assert.equal(await statusOf(operator.get("/console/operator/live")), 200);
    assert.equal(
      await statusOf(operator.get("/console/operator/live/events")),
      200,
    );
    assert.equal(await statusOf(operator.get("/console/operator/keys")), 503);
    assert.equal(await statusOf(visitor.get("/console/")), 503);
  } finally {
    // Its store is closed already.
    await assert.rejects(gateway.close(), /database is not open/);
    await gateway.replay.close();
  }
});
