/** Notices: what an operator should look at is counted on every page, and listed on one. */
import assert from "node:assert/strict";
import {
  ADMIN_TOKEN,
  credentialOf,
  startConsole,
  visitAs,
} from "../support/console/visitor.ts";
import { withCandidates } from "../support/with_candidates.ts";
import { PAGE_ROUTES } from "../../routes/console/mod.ts";
import { serveLoopback } from "../support/serve_loopback.ts";

const OPERATOR = "/console/operator";

function bellOf(html: string): string {
  return (/href="\/console\/operator\/notices">([^]*?)<\/a>/.exec(html)?.[1] ??
    "").replaceAll(/<[^>]*>/g, "");
}

Deno.test("an open breaker and a full limit are counted on every operators' page and listed", () => {
  let clockMs = Date.now();
  return withCandidates({
    env: { GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN },
    random: () => 0,
    now: () => clockMs,
    b: null,
  }, async ({ gateway, a, ask }) => {
    const { admin } = gateway.accounts;
    const operator = await visitAs(gateway, "operator");
    const readPage = (path: string): Promise<string> => {
      // The number is read again after some seconds.
      clockMs += 6_000;
      return operator.read(path);
    };
    assert.equal(bellOf(await readPage(`${OPERATOR}/accounts`)), "Notices");
    assert.match(await readPage(`${OPERATOR}/notices`), /No notices/);

    await admin.plans.create({ id: "small", spendPerDayMicroUsd: 100 });
    await admin.accounts.create({
      id: "full",
      planId: "small",
      billing: "postpaid",
    });
    const { text: key } = await credentialOf(gateway, "key", "full");
    const headers = { "x-api-key": key, authorization: "" };
    // Each call costs 16 micro-dollars at least; the last one is refused by the limit.
    for (let status = 200; status === 200;) {
      const reply = await ask({ headers, body: { max_tokens: 5 } });
      ({ status } = reply);
      await reply.text();
    }
    a.play([], { status: 503 });
    for (let at = 0; at < 12; at++) await (await ask()).text();
    await gateway.accounts.flush();

    const html = await readPage(`${OPERATOR}/notices`);
    assert.match(html, /Candidates are not well/);
    assert.match(html, /breaker (?:half )?open for \d+ s/);
    assert.match(html, /Budgets are used to 80 % or more/);
    assert.match(html, /<bdi>full<\/bdi>/);
    const counted = Number(/\d+/.exec(bellOf(html))?.[0]);
    assert.equal(
      counted,
      html.split('<ul class="list">').slice(1).join("").split("<li>").length -
        1,
    );
    assert.ok(counted >= 2, String(counted));
    for (const { method, path, area, ...route } of PAGE_ROUTES) {
      if (
        method !== "GET" || area !== "operator" || path.includes(":") ||
        path.endsWith(".csv") || "isBackground" in route ||
        path === OPERATOR || path.endsWith("/find") ||
        path.endsWith("/statement")
      ) continue;
      assert.match(bellOf(await readPage(path)), /^Notices \d+$/, path);
    }
    // The overview begins with them.
    assert.match(await readPage(`${OPERATOR}/`), /Candidates are not well/);
  });
});

Deno.test("a credential that its upstream refuses is a notice from the first call on, in the upstream's words, until a call succeeds", () => {
  let clockMs = Date.now();
  return withCandidates({
    env: { GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN },
    random: () => 0,
    now: () => clockMs,
  }, async ({ gateway, a, ask }) => {
    const operator = await visitAs(gateway, "operator");
    const readPage = (path: string): Promise<string> => {
      clockMs += 6_000;
      return operator.read(path);
    };
    a.play([{ status: 401, message: "x-api-key key-a has expired <b>" }]);
    const call = async (): Promise<void> => {
      const reply = await ask();
      assert.equal(reply.status, 200);
      await reply.text();
    };
    // The other candidate replies, so that no caller reports it.
    await call();
    const words =
      "the credential was refused with 401: error_by_status: x-api-key … has expired …";
    for (const path of ["notices", "", "upstreams"]) {
      const html = await readPage(`${OPERATOR}/${path}`);
      assert.ok(html.includes(words), path);
      assert.ok(!html.includes("key-a"), path);
    }
    assert.equal(bellOf(await readPage(`${OPERATOR}/notices`)), "Notices 1");
    await call();
    assert.equal(bellOf(await readPage(`${OPERATOR}/notices`)), "Notices");
  });
});

Deno.test("a webhook that does not take its messages is a notice while it is set", async () => {
  let clockMs = Date.now();
  await using receiver = serveLoopback(() =>
    new Response(null, { status: 500 })
  );
  await using gateway = await startConsole({ now: () => clockMs });
  const { admin, deliverWebhooks } = gateway.accounts;
  const operator = await visitAs(gateway, "operator");
  await admin.webhooks.set(
    "default",
    `http://127.0.0.1:${receiver.addr.port}/hook`,
  );
  const send = async (action: string): Promise<void> => {
    const reply = await operator.post(
      `${OPERATOR}/webhooks/${action}/default`,
      { idempotency_key: crypto.randomUUID() },
    );
    await reply.body?.cancel();
  };
  await send("test");
  await deliverWebhooks();
  clockMs += 6_000;
  const html = await operator.read(`${OPERATOR}/notices`);
  assert.match(html, /Webhooks do not take their messages/);
  assert.match(
    html,
    /<a href="\/console\/operator\/webhooks\/default"><bdi>default<\/bdi><\/a>: <bdi>[^<]*500/,
  );
  assert.equal(bellOf(html), "Notices 1");
  assert.match(await operator.read(`${OPERATOR}/`), /do not take their/);

  await send("remove");
  clockMs += 6_000;
  const removed = await operator.read(`${OPERATOR}/notices`);
  assert.match(removed, /No notices/);
  assert.equal(bellOf(removed), "Notices");
});
