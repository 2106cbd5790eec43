/** Notices: what an operator should look at is counted on every page, and listed on one. */
import assert from "node:assert/strict";
import {
  ADMIN_TOKEN,
  credentialOf,
  visit,
} from "../support/console_visitor.ts";
import { withCandidates } from "../support/with_candidates.ts";
import { PAGE_ROUTES } from "../../routes/console/mod.ts";

const OPERATOR = "/console/operator";

Deno.test("an open breaker and a full limit are counted on every operators' page and listed", () => {
  let clockMs = Date.now();
  return withCandidates({
    env: { GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN },
    random: () => 0,
    now: () => clockMs,
    b: null,
  }, async ({ gateway, a, ask }) => {
    const { admin } = gateway.accounts;
    const operator = await visit(gateway.url, "operator", ADMIN_TOKEN);
    const textOf = async (path: string): Promise<string> => {
      // The number is read again after some seconds.
      clockMs += 6_000;
      return await (await operator.get(path)).text();
    };
    const bellOf = (html: string): string =>
      (/href="\/console\/operator\/notices">([^]*?)<\/a>/.exec(html)?.[1] ?? "")
        .replaceAll(/<[^>]*>/g, "");

    assert.equal(bellOf(await textOf(`${OPERATOR}/accounts`)), "Notices");
    assert.match(await textOf(`${OPERATOR}/notices`), /No notices/);

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

    const html = await textOf(`${OPERATOR}/notices`);
    assert.match(html, /Candidates are not well/);
    assert.match(html, /breaker (?:open|probing)/);
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
      assert.match(bellOf(await textOf(path)), /^Notices \d+$/, path);
    }
    // The overview begins with them.
    assert.match(await textOf(`${OPERATOR}/`), /Candidates are not well/);
  });
});
