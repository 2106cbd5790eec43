/** People, keys and calls are found by any part of what they are called, and lists are sorted. */
import assert from "node:assert/strict";
import { keyHint } from "../../gateway/accounts/key.ts";
import {
  startConsole,
  visitAs,
  type Visitor,
} from "../support/console/visitor.ts";
import type { TestGateway } from "../support/test_gateway.ts";

const OPERATOR = "/console/operator";

interface World {
  readonly gateway: TestGateway;
  readonly operator: Visitor;
  readonly owner: Visitor;
  readonly keyId: string;
  readonly keyText: string;
  readonly callId: string;
}

async function withWorld(run: (world: World) => Promise<void>): Promise<void> {
  await using gateway = await startConsole();
  const { admin } = gateway.accounts;
  await admin.plans.create({ id: "team" });
  for (
    const [id, name] of [
      ["acme", "Search team"],
      ["beta", "Research 100%"],
      ["gamma", "Payments"],
    ] as const
  ) await admin.accounts.create({ id, name, planId: "team" });
  await admin.accounts.topUp("beta", { microUsd: 5_000_000 });
  await admin.accounts.topUp("acme", { microUsd: 9_000_000 });
  const { record, text: keyText = "" } = await admin.keys.issue({
    accountId: "acme",
    name: "Robin's laptop",
  });
  await admin.keys.issue({ accountId: "beta", name: "other laptop" });
  const reply = await gateway.post("/v1/messages", {
    model: "vendorb-5.5",
    max_tokens: 10,
    metadata: { user_id: "Customer-77" },
    messages: [{ role: "user", content: "Hello" }],
  }, { "x-api-key": keyText });
  await reply.text();
  await gateway.recorded();
  await run({
    gateway,
    operator: await visitAs(gateway, "operator"),
    owner: await visitAs(gateway, "manage", "acme"),
    keyId: record.id,
    keyText,
    callId: reply.headers.get("request-id") ?? "",
  });
}

async function located(visitor: Visitor, path: string): Promise<string> {
  const reply = await visitor.get(path);
  await reply.body?.cancel();
  return reply.headers.get("location") ?? `status ${reply.status}`;
}

Deno.test("the search finds accounts, keys, models, end users and calls by any part, and opens what is alone", () =>
  withWorld(async ({ operator, owner, keyId, keyText, callId }) => {
    const find = (text: string): Promise<string> =>
      located(operator, `${OPERATOR}/find?q=${encodeURIComponent(text)}`);
    const account = `${OPERATOR}/accounts/`;
    assert.equal(await find("search TEAM"), `${account}acme`);
    assert.equal(await find("acm"), `${account}acme`);
    assert.equal(await find("100%"), `${account}beta`);
    assert.equal(await find("robin's"), `${OPERATOR}/keys/${keyId}`);
    assert.equal(await find(keyId.slice(4)), `${OPERATOR}/keys/${keyId}`);
    assert.equal(await find(keyText.slice(-4)), `${OPERATOR}/keys/${keyId}`);
    assert.equal(await find(keyHint(keyText)), `${OPERATOR}/keys/${keyId}`);
    assert.equal(
      await find("customer-7"),
      `${OPERATOR}/calls?account=acme&user=Customer-77`,
    );
    assert.equal(await find(callId), `${OPERATOR}/calls/${callId}`);
    assert.equal(
      await find(callId.slice(6, -2)),
      `${OPERATOR}/calls/${callId}`,
    );
    // One that is older than those that are searched.
    assert.equal(
      await find("req_0123456789abcdef"),
      `${OPERATOR}/calls/req_0123456789abcdef`,
    );
    assert.equal(await find(""), `${OPERATOR}/calls`);
    assert.equal(await find("OPUS 4.8"), `${OPERATOR}/models/vendora-opus-4-8`);
    assert.match(
      await owner.read("/console/find?q=vendorc"),
      /models\/vendorc-3-pro"[^]*models\/vendorc-3-flash"/,
    );
    const several = await operator.read(`${OPERATOR}/find?q=laptop`);
    assert.match(several, /Robin&#39;s laptop|Robin's laptop/);
    assert.match(several, /other laptop/);
    assert.match(
      await operator.read(`${OPERATOR}/find?q=nobody`),
      /Nothing found/,
    );
    // An account finds nothing of another one.
    assert.equal(
      await located(owner, "/console/find?q=laptop"),
      `/console/keys/${keyId}`,
    );
    for (const text of ["100%25", "Payments", "other"]) {
      assert.match(
        await owner.read(`/console/find?q=${text}`),
        /Nothing found/,
      );
    }
  }));

Deno.test("filters have suggestions, and take any part of a name", () =>
  withWorld(async ({ operator, owner, keyId }) => {
    for (const page of ["calls", "usage", "ledger"]) {
      const html = await owner.read(`/console/${page}`);
      assert.match(html, /<datalist id="list-model">[^]*vendorb-5\.5/);
      assert.match(
        html,
        new RegExp(`<option value="${keyId}">Robin(?:&#39;|')s laptop`),
      );
      assert.doesNotMatch(html, /list-account|other laptop/);
      assert.equal(
        await located(owner, `/console/${page}?key=robin&model=b-5.5`),
        `/console/${page}?key=${keyId}&model=vendorb-5.5`,
      );
      const which = await operator.read(`${OPERATOR}/${page}?key=laptop`);
      assert.match(which, /Which key\?/);
      assert.match(which, new RegExp(`${page}\\?key=${keyId}`));
      assert.match(
        await operator.read(`${OPERATOR}/${page}?account=nobody`),
        /There is no account like <bdi>nobody/,
      );
      assert.match(
        await located(operator, `${OPERATOR}/${page}?account=Payments`),
        /account=gamma$/,
      );
    }
  }));

Deno.test("accounts are filtered, and sorted by their columns", () =>
  withWorld(async ({ operator }) => {
    const ids = async (search: string): Promise<readonly string[]> => {
      const html = await operator.read(`${OPERATOR}/accounts?${search}`);
      return [
        ...html.matchAll(
          /<a href="\/console\/operator\/accounts\/(\w+)"><bdi>/g,
        ),
      ].map(([, id = ""]) => id);
    };
    assert.deepEqual(await ids(""), ["acme", "beta", "default", "gamma"]);
    assert.deepEqual(await ids("sort=-id"), [
      "gamma",
      "default",
      "beta",
      "acme",
    ]);
    assert.deepEqual((await ids("sort=-balance")).slice(0, 2), [
      "acme",
      "beta",
    ]);
    assert.equal((await ids("sort=-spent"))[0], "acme");
    assert.equal((await ids("sort=-used"))[0], "acme");
    assert.equal((await ids("sort=name"))[1], "gamma");
    assert.deepEqual(await ids("q=EAR"), ["acme", "beta"]);
    assert.deepEqual(await ids("plan=team&q=100%25"), ["beta"]);
    assert.deepEqual(await ids("status=disabled"), []);
    const html = await operator.read(`${OPERATOR}/accounts?sort=-balance`);
    assert.match(
      html,
      /aria-sort="descending"[^>]*><a href="[^"]*sort=balance">Balance/,
    );
    const wrong = await operator.get(`${OPERATOR}/accounts?sort=x`);
    assert.equal(wrong.status, 400);
    assert.match(await wrong.text(), /Sort: must be one of id, name/);
  }));

Deno.test("keys are filtered by name and hint, and sorted, for operators over all accounts", () =>
  withWorld(async ({ gateway, operator, owner, keyId, keyText }) => {
    const { admin } = gateway.accounts;
    const { record: second } = await admin.keys.issue({
      accountId: "acme",
      name: "A build",
    });
    const ids = async (
      visitor: Visitor,
      path: string,
    ): Promise<readonly string[]> => [
      ...new Set(
        [...(await visitor.read(path)).matchAll(/\/keys\/(key_\w+)"/g)]
          .map(([, id = ""]) => id),
      ),
    ];
    const own = (search: string): Promise<readonly string[]> =>
      ids(owner, `/console/keys?${search}`);
    assert.deepEqual(await own(""), [second.id, keyId]);
    assert.deepEqual(await own("sort=made"), [keyId, second.id]);
    assert.deepEqual(await own("sort=name"), [second.id, keyId]);
    assert.deepEqual((await own("sort=-used"))[0], keyId);
    assert.deepEqual(await own("q=ROBIN"), [keyId]);
    assert.deepEqual(await own(`q=${keyText.slice(-4)}`), [keyId]);
    assert.deepEqual(await own("q=other"), []);
    const all = (search: string): Promise<readonly string[]> =>
      ids(operator, `${OPERATOR}/keys?${search}`);
    assert.equal((await all("q=laptop")).length, 2);
    assert.deepEqual(await all("q=laptop&account=acme"), [keyId]);
    assert.match(
      await located(operator, `${OPERATOR}/keys?account=Payments`),
      /account=gamma$/,
    );
  }));

Deno.test("models and candidates are narrowed by a part of a name, and a page has a bounded number", async () => {
  const models = Object.fromEntries(
    Array.from({ length: 230 }, (_, at) => [`House-${at}`, {
      price: { input: 1, output: 1 },
      candidates: [{ vendor: "vendorb", upstream_model: `up-${at}` }],
    }]),
  );
  await using gateway = await startConsole({
    configFile: JSON.stringify({ models }),
  });
  const owner = await visitAs(gateway, "read");
  const operator = await visitAs(gateway, "operator");
  const rowsOf = (html: string): number =>
    (html.split("</tbody>")[0] ?? "").split('<tr><th scope="row"').length - 1;
  for (
    const [visitor, path] of [
      [owner, "/console/models"],
      [operator, `${OPERATOR}/models`],
      [operator, `${OPERATOR}/upstreams`],
    ] as const
  ) {
    const all = await visitor.read(path);
    assert.equal(rowsOf(all), 200, path);
    assert.match(all, /The first 200 of \d+ in this order/, path);
    const some = await visitor.read(`${path}?q=HOUSE-22&sort=-model`);
    assert.equal(rowsOf(some), 11, path);
    assert.match(some, /name="sort" value="-model"/, path);
    assert.match(await visitor.read(`${path}?q=none`), /None matches/, path);
  }
});
