/** Keys and tokens of an account, by page and by API. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { isObject, type JsonObject } from "../../translate/bytes/json.ts";
import type { TestGateway } from "../support/test_gateway.ts";
import {
  credentialOf,
  startConsole,
  visit,
} from "../support/console/visitor.ts";
import { bearer } from "../support/clients/bearer.ts";
import { statusOf } from "../support/status_of.ts";

async function withConsole(
  run: (gateway: TestGateway) => Promise<void>,
): Promise<void> {
  await using gateway = await startConsole();
  await run(gateway);
}

async function api(
  { url }: TestGateway,
  credential: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly json: JsonObject }> {
  const reply = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${credential}`,
      "content-type": "application/json",
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const json: unknown = await reply.json();
  assert.ok(isObject(json));
  return { status: reply.status, json };
}

function secretIn(html: string): string | undefined {
  return /id="secret"[^>]* value="([^"]+)"/.exec(html)?.[1];
}

async function callStatus(
  { url }: TestGateway,
  key: string,
): Promise<number> {
  const reply = await fetch(`${url}/v1/models`, {
    headers: { "x-api-key": key },
  });
  await reply.body?.cancel();
  return reply.status;
}

Deno.test("a new key is in one answer only, and a form sent twice makes one key", () =>
  withConsole(async (gateway) => {
    const { text } = await credentialOf(gateway, "manage");
    const visitor = await visit(gateway.url, "manage", text);
    const fields = { name: "ci", days: "30", idempotency_key: "one" };
    const first = await (await visitor.post("/console/keys/new", fields))
      .text();
    const key = secretIn(first);
    assert.match(key ?? "", /^sk-/);
    assert.equal(await callStatus(gateway, key ?? ""), 200);
    const again = await (await visitor.post("/console/keys/new", fields))
      .text();
    assert.equal(secretIn(again), undefined);
    assert.match(again, /was made and shown before/);
    for (const page of ["/console/keys", "/console/", "/console/access"]) {
      const html = await visitor.read(page);
      assert.ok(!html.includes(key ?? ""), page);
    }
    const { data } = await gateway.accounts.admin.keys.list({
      accountId: "default",
    });
    assert.deepEqual(data.map(({ name }) => name), ["ci"]);
  }));

Deno.test("rotating with an overlap keeps both keys working and names the old one's end", () =>
  withConsole(async (gateway) => {
    const { text } = await credentialOf(gateway, "manage");
    const old = await credentialOf(gateway, "key");
    const visitor = await visit(gateway.url, "manage", text);
    const html = await (await visitor.post(
      `/console/keys/rotate/${old.id}`,
      { overlap_seconds: "86400", idempotency_key: "r" },
    )).text();
    const { expiresAtMs = 0 } = await gateway.accounts.admin.keys.get(old.id);
    assert.ok(html.includes(new Date(expiresAtMs).toISOString()));
    assert.equal(await callStatus(gateway, secretIn(html) ?? ""), 200);
    assert.equal(await callStatus(gateway, old.text), 200);
    const list = await visitor.read("/console/keys");
    assert.match(list, /replaced, ends <time[^>]*>in (?:23 h|1 d)/);
    await (await visitor.post(
      `/console/keys/rotate/${
        (await gateway.accounts.admin.keys.list({
          accountId: "default",
        })).data.at(-1)?.id
      }`,
      { overlap_seconds: "0", idempotency_key: "r2" },
    )).body?.cancel();
    assert.equal(await callStatus(gateway, secretIn(html) ?? ""), 401);
  }));

Deno.test("revoking asks for the last four characters", () =>
  withConsole(async (gateway) => {
    const { text } = await credentialOf(gateway, "manage");
    const key = await credentialOf(gateway, "key");
    const visitor = await visit(gateway.url, "manage", text);
    const revoke = async (last_four: string): Promise<number> => {
      const reply = await visitor.post(`/console/keys/revoke/${key.id}`, {
        last_four,
      });
      await reply.body?.cancel();
      return reply.status;
    };
    assert.equal(await revoke("abcd"), 400);
    assert.equal(await callStatus(gateway, key.text), 200);
    assert.equal(await revoke(key.text.slice(-4)), 303);
    assert.equal(await callStatus(gateway, key.text), 401);
  }));

Deno.test("what another account has does not exist, by page and by API", () =>
  withConsole(async (gateway) => {
    await gateway.accounts.admin.accounts.create({ id: "other" });
    const theirs = await credentialOf(gateway, "key", "other");
    const theirToken = await credentialOf(gateway, "read", "other");
    const { text } = await credentialOf(gateway, "manage");
    const visitor = await visit(gateway.url, "manage", text);
    for (const action of ["rotate", "revoke"]) {
      const { status } = await api(
        gateway,
        text,
        "POST",
        `/v1/account/keys/${theirs.id}/${action}`,
        {},
      );
      assert.equal(status, 404);
      for (
        const reply of [
          await visitor.get(`/console/keys/${action}/${theirs.id}`),
          await visitor.post(`/console/keys/${action}/${theirs.id}`, {
            last_four: theirs.text.slice(-4),
          }),
        ]
      ) {
        await reply.body?.cancel();
        assert.equal(reply.status, 404);
      }
    }
    const { status } = await api(
      gateway,
      text,
      "POST",
      `/v1/account/tokens/${theirToken.id}/revoke`,
    );
    assert.equal(status, 404);
    const session = await visit(gateway.url, "read", theirToken.text);
    const [open] = await gateway.accounts.admin.sessions.list("other");
    assert.equal(
      await statusOf(visitor.post("/console/access/sessions/end", {
        id: open?.id ?? "",
      })),
      404,
    );
    assert.equal(await statusOf(session.get("/console/")), 200);
    const { json } = await api(gateway, text, "GET", "/v1/account/keys");
    assert.deepEqual(json["data"], []);
  }));

Deno.test("two accounts may use the same idempotency key", () =>
  withConsole(async (gateway) => {
    await gateway.accounts.admin.accounts.create({ id: "other" });
    const issue = async (accountId: string): Promise<unknown> => {
      const { text } = await credentialOf(gateway, "manage", accountId);
      const { json } = await api(
        gateway,
        text,
        "POST",
        "/v1/account/keys",
        { name: "same" },
        { "idempotency-key": "same" },
      );
      return json["account"];
    };
    assert.equal(await issue("default"), "default");
    assert.equal(await issue("other"), "other");
  }));

Deno.test("an account token on a generation endpoint is a 401 that names what it is", () =>
  withConsole(async (gateway) => {
    const { text } = await credentialOf(gateway, "manage");
    for (
      const path of ["/v1/messages", "/v1/chat/completions", "/v1/responses"]
    ) {
      const { status, json } = await api(gateway, text, "POST", path, {});
      assert.equal(status, 401);
      assert.match(JSON.stringify(json), /this is an account token/);
    }
  }));

Deno.test("a manage token gives a key no models beyond the plan", () =>
  withConsole(async (gateway) => {
    const { admin } = gateway.accounts;
    await admin.plans.create({ id: "small", models: ["vendorb-5"] });
    await admin.accounts.update("default", { planId: "small" });
    const { text } = await credentialOf(gateway, "manage");
    const issue = (models: readonly string[]): Promise<Response> =>
      fetch(`${gateway.url}/v1/account/keys`, bearer(text, { models }));
    const refused = await issue(["vendorb-5", "vendora-opus-4-8"]);
    assert.equal(refused.status, 400);
    assert.match(await refused.text(), /models\[1\]/);
    const issued = await issue(["vendorb-5"]);
    assert.equal(issued.status, 200);
    assert.deepEqual((await issued.json()).models, ["vendorb-5"]);
  }));

Deno.test("no field of a body widens what a credential may do", () =>
  withConsole(async (gateway) => {
    const manage = await credentialOf(gateway, "manage");
    await gateway.accounts.admin.accounts.create({ id: "other" });
    const names = [
      "scope",
      "account",
      "account_id",
      "kind",
      "role",
      "permission",
      "allowed_routes",
      "id",
      "models",
      "plan",
      "hash",
      "key",
      "billing",
      "__proto__",
      "constructor",
    ];
    const value = fc.constantFrom<unknown>(
      "manage",
      "operator",
      "other",
      ["/*"],
      true,
      null,
      { scope: "manage" },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("/v1/account/keys", "/v1/account/tokens"),
        fc.dictionary(fc.constantFrom(...names), value, { minKeys: 1 }),
        async (path, fields) => {
          await api(gateway, manage.text, "POST", path, fields);
        },
      ),
      { numRuns: 150 },
    );
    const { admin } = gateway.accounts;
    assert.deepEqual(
      (await admin.tokens.list({ accountId: "other" })).data,
      [],
    );
    assert.deepEqual((await admin.keys.list({ accountId: "other" })).data, []);
    const { data } = await admin.tokens.list({ accountId: "default" });
    assert.deepEqual(
      data.filter(({ scope }) => scope === "manage").map(({ id }) => id),
      [manage.id],
    );
    assert.equal((await admin.accounts.get("default")).billing, "postpaid");
  }));
