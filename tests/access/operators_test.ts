/** What operators do for many people: whole accounts, webhooks, models, a file of accounts. */
import assert from "node:assert/strict";
import {
  credentialOf,
  startConsole,
  visit,
  visitAs,
  type Visitor,
} from "../support/console/visitor.ts";
import type { TestGateway } from "../support/test_gateway.ts";
import { statusOf } from "../support/status_of.ts";

const OPERATOR = "/console/operator";

async function withOperator(
  run: (gateway: TestGateway, operator: Visitor) => Promise<void>,
): Promise<void> {
  await using gateway = await startConsole();
  await gateway.accounts.admin.plans.create({ id: "team" });
  await run(gateway, await visitAs(gateway, "operator"));
}

async function textOf(reply: Promise<Response>): Promise<string> {
  return await (await reply).text();
}

async function call(gateway: TestGateway, key: string): Promise<Response> {
  return await gateway.call({ model: "vendorb-5.5" }, key);
}

const once = (): { readonly idempotency_key: string } => ({
  idempotency_key: crypto.randomUUID(),
});

Deno.test("the page of an account has its spend, last call, keys, tokens, sessions and webhook", () =>
  withOperator(async (gateway, operator) => {
    const { admin } = gateway.accounts;
    const { text: key = "" } = await admin.keys.issue({
      accountId: "default",
      name: "laptop of Robin",
      requestsPerMinute: 60,
    });
    const reply = await call(gateway, key);
    await reply.text();
    await gateway.recorded();
    const { record: token, text = "" } = await admin.tokens.issue({
      accountId: "default",
      name: "dashboard",
    });
    await visit(gateway.url, "read", text);
    await admin.webhooks.set("default", "https://hooks.example.com/secret");
    const path = `${OPERATOR}/accounts/default`;
    const html = await operator.read(path);
    for (
      const shown of [
        /1 charge</,
        new RegExp(`calls/${reply.headers.get("request-id")}`),
        /laptop of Robin/,
        /requests per minute/i,
        /<bdi>dashboard<\/bdi>[^]*Sessions[^]*<bdi>dashboard<\/bdi>/,
        /webhooks\/default"><bdi>hooks\.example\.com<\/bdi>/,
      ]
    ) assert.match(html, shown);
    await textOf(
      operator.post(`${OPERATOR}/accounts/revoke-token/default`, {
        token: token.id,
      }),
    );
    assert.match(await operator.read(path), /revoked/);
  }));

Deno.test("all keys of an account are revoked at once, and those of others are not", () =>
  withOperator(async (gateway, operator) => {
    const { admin } = gateway.accounts;
    await admin.accounts.create({ id: "other", billing: "postpaid" });
    const mine = [
      await credentialOf(gateway, "key"),
      await credentialOf(gateway, "key"),
    ];
    const other = await credentialOf(gateway, "key", "other");
    const path = `${OPERATOR}/accounts/revoke-keys/default`;
    const wrong = await operator.post(path, { account: "other", ...once() });
    assert.match(await wrong.text(), /must be default/);
    assert.equal(wrong.status, 400);
    assert.equal(
      await statusOf(operator.post(path, { account: "default", ...once() })),
      303,
    );
    for (const { text } of mine) {
      assert.equal(await statusOf(call(gateway, text)), 401);
    }
    assert.equal(await statusOf(call(gateway, other.text)), 200);
    const { data } = await admin.changes.list({ action: "key.revoke" });
    assert.deepEqual(
      data.map(({ target }) => target).toSorted(),
      mine.map(({ id }) => id).toSorted(),
    );
    assert.deepEqual(await admin.keys.revokeAll("default"), { revoked: 0 });
  }));

Deno.test("operators limit, rename and rotate a key", () =>
  withOperator(async (gateway, operator) => {
    const { id } = await credentialOf(gateway, "key");
    const changed = await operator.post(`${OPERATOR}/keys/limits/${id}`, {
      name: "renamed",
      requests_per_minute: "7",
      ...once(),
    });
    await changed.body?.cancel();
    assert.equal(changed.headers.get("location"), `${OPERATOR}/keys/${id}`);
    const key = await gateway.accounts.admin.keys.get(id);
    assert.deepEqual([key.name, key.requestsPerMinute], ["renamed", 7]);
    const rotated = await textOf(
      operator.post(`${OPERATOR}/keys/rotate/${id}`, {
        overlap_seconds: "3600",
        ...once(),
      }),
    );
    const [, text = ""] = /value="(sk-\w+-?\w*)"/.exec(rotated) ?? [];
    assert.equal(await statusOf(call(gateway, text)), 200);
  }));

Deno.test("a webhook is set with a secret that is shown once, tested and removed", () =>
  withOperator(async (_gateway, operator) => {
    const path = `${OPERATOR}/webhooks/default`;
    assert.match(
      await operator.read(`${OPERATOR}/webhooks`),
      /No account has a webhook yet/,
    );
    const set = (url: string): Promise<string> =>
      textOf(operator.post(`${OPERATOR}/webhooks/set/default`, {
        url,
        ...once(),
      }));
    assert.match(
      await set("http://hooks.example.com/"),
      /class="problem">must be an https:\/\/ address/,
    );
    const made = await set("https://hooks.example.com/secret-path");
    const [, secret = ""] = /value="(whsec_[^"]+)"/.exec(made) ?? [];
    assert.notEqual(secret, "");
    const again = await set("https://hooks.example.com/secret-path");
    assert.ok(!again.includes(secret));
    await textOf(
      operator.post(`${OPERATOR}/webhooks/test/default`, once()),
    );
    const html = await operator.read(path);
    assert.match(html, /<dt>Waiting<\/dt><dd>1/);
    assert.ok(!html.includes("whsec_"));
    const list = await operator.read(`${OPERATOR}/webhooks`);
    assert.match(list, /hooks\.example\.com/);
    assert.ok(!list.includes("secret-path"));
    await textOf(
      operator.post(`${OPERATOR}/webhooks/remove/default`, once()),
    );
    assert.match(await operator.read(path), /no webhook/);
  }));

Deno.test("the models have their prices, candidates, health and callers", () =>
  withOperator(async (gateway, operator) => {
    await gateway.accounts.admin.plans.create({
      id: "small",
      models: ["vendorb-5"],
    });
    const html = await operator.read(`${OPERATOR}/models`);
    const row = (model: string): string =>
      new RegExp(
        `<tr><th[^>]*><a[^>]*>[^<]*</a><code[^>]*>${model}</code>.*?</tr>`,
        "s",
      )
        .exec(html)?.[0] ?? "";
    assert.match(row("vendorb-5"), />all plans</);
    assert.match(row("vendorb-5"), /vendorb\//);
    assert.match(row("vendorb-5"), /\$\d/);
    assert.match(row("vendorb-5"), />well</);
    assert.doesNotMatch(row("vendorb-5\\.5"), /small|all plans/);
    assert.match(row("vendorb-5\\.5"), /team/);
  }));

Deno.test("a file of accounts is shown first, then done once, and a wrong one does nothing", () =>
  withOperator(async (gateway, operator) => {
    const { admin } = gateway.accounts;
    const path = `${OPERATOR}/accounts/many`;
    const send = (
      text: string,
      fields: Readonly<Record<string, string>> = {},
    ): Promise<string> => textOf(operator.post(path, { text, ...fields }));
    const good = [
      "account;name;plan;top_up_usd;note;key",
      "search;Search team;team;20;first;laptop of Robin",
      "search;;;;;laptop of Kim",
      'pay;"Payments; cards";team;12.5;;',
      "default;;team;;;",
    ].join("\n");
    const shown = await send(good);
    for (
      const step of [
        "create it on the plan team",
        "top up $20.00",
        "issue the key laptop of Robin",
        "issue the key laptop of Kim",
        "change plan to team",
      ]
    ) assert.ok(shown.includes(step), step);
    assert.match(shown, /7 changes in 4 lines/);
    await assert.rejects(admin.accounts.get("search"), /no account/);

    for (
      const [text, says] of [
        ["", /needs a line of column names/],
        ["name\nx", /needs the column account/],
        ["account,plna\nx,team", /there is no column plna; there are account/],
        ["account,plan\nx,team\ny,none", /there is no plan none/],
        ["account\nx", /a new account needs one/],
        ["account,plan\nx y,team", /Account: must be 1 to 64 letters/],
        ["account,plan,top_up_usd\nx,team,lots", /must be dollars/],
        ['account,plan\nx,team\n"y', /not valid CSV/],
      ] as const
    ) {
      const html = await send(text);
      assert.match(html, says);
      assert.doesNotMatch(html, />Do it</);
      // It can be corrected where it is.
      const [, before = "", kept = ""] =
        /<textarea ([^>]*)>([^<]*)<\/textarea>/.exec(html) ?? [];
      assert.doesNotMatch(before, /hidden/);
      assert.equal(kept.trim().replaceAll("&quot;", '"'), text);
    }

    const confirmed = { confirmed: "yes", ...once() };
    const done = await send(good, confirmed);
    const keys = [...done.matchAll(/search,(sk-\w+)/g)].map(([, key]) => key);
    assert.equal(keys.length, 2);
    for (const key of keys) {
      assert.equal(await statusOf(call(gateway, key ?? "")), 200);
    }
    // The same form once more: nothing is done twice, and no key is shown again.
    const repeated = await send(good, confirmed);
    assert.doesNotMatch(repeated, /search,sk-/);
    await gateway.accounts.flush();
    const { data: topUps } = await admin.ledger({
      accountId: "search",
      kind: "top_up",
    });
    assert.deepEqual(topUps.map(({ microUsd }) => microUsd), [20_000_000]);
    const { data: made } = await admin.keys.list({ accountId: "search" });
    assert.equal(made.length, 2);
    const pay = await admin.accounts.get("pay");
    assert.deepEqual([pay.name, pay.balanceMicroUsd], [
      "Payments; cards",
      12_500_000,
    ]);
    // A confirmed file with a wrong line does nothing at all.
    const forced = await send(
      "account,plan,top_up_usd\nsearch,team,3\nnobody,none,4",
      { confirmed: "yes", ...once() },
    );
    assert.match(
      forced,
      /nothing was changed, since 1 of 2 lines have an error: line 3: plan: there is no plan none/i,
    );
    assert.match(
      await send(
        good.split("\n").filter((line) => !/;20;|Kim|12/.test(line)).join("\n"),
      ),
      /Everything is so already/,
    );
  }));
