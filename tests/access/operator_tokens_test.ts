/** Tokens of single operators: their names in the changes, their end, and what is stored of them. */
import assert from "node:assert/strict";
import type { OperatorScope } from "../../gateway/accounts/operator_scope.ts";
import {
  startConsole,
  visit,
  type Visitor,
} from "../support/console/visitor.ts";
import { statusOf } from "../support/status_of.ts";
import type { TestGateway } from "../support/test_gateway.ts";

interface World {
  readonly gateway: TestGateway;
  /** Sends a request of the admin API with a token. */
  send(token: string, path: string, body?: object): Promise<Response>;
  issue(
    scope: OperatorScope,
    expiresAtMs?: number,
  ): Promise<{ readonly text: string; readonly id: string }>;
}

async function withTokens(run: (world: World) => Promise<void>): Promise<void> {
  await using gateway = await startConsole();
  await run({
    gateway,
    send: (token, path, body) =>
      fetch(`${gateway.url}/admin/v1/${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
        },
        ...(body && { body: JSON.stringify(body) }),
      }),
    async issue(scope, expiresAtMs) {
      const { record, text = "" } = await gateway.accounts.admin.operatorTokens
        .issue({
          name: "key robot",
          scope,
          ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
        });
      return { text, id: record.id };
    },
  });
}

async function bodyOf(reply: Promise<Response>): Promise<string> {
  return await (await reply).text();
}

Deno.test("what an operator token changes has its name, through the API and on pages", () =>
  withTokens(async ({ gateway, send, issue }) => {
    const { text, id } = await issue("keys");
    await bodyOf(send(text, "keys", { account: "default", name: "ci" }));
    const operator: Visitor = await visit(gateway.url, "operator", text);
    assert.match(
      await operator.read("/console/operator/"),
      /key robot[^]*all accounts, keys/,
    );
    await bodyOf(
      operator.post("/console/operator/accounts/key/default", {
        name: "laptop",
        days: "",
      }),
    );
    const { data } = await gateway.accounts.admin.changes.list({
      action: "key.issue",
    });
    assert.deepEqual(
      data.map(({ actorKind, actorId, actorName, via }) => [
        actorKind,
        actorId,
        actorName,
        via,
      ]),
      ["page", "api"].map((via) => [
        "operator",
        id,
        `key robot ${text.slice(0, 7)}…${text.slice(-4)}`,
        via,
      ]),
    );
  }));

Deno.test("a refused operator is told which scopes would do", () =>
  withTokens(async ({ gateway, send, issue }) => {
    const { text } = await issue("keys");
    const refused = await send(text, "accounts/default/top-ups", {
      micro_usd: 5,
    });
    assert.equal(refused.status, 403);
    assert.match(
      await refused.text(),
      /scope keys may not do this; one with the scope billing or administer may.*"operator_scope"/,
    );
    const operator = await visit(gateway.url, "operator", text);
    const page = await operator.post("/console/operator/plans/new", {
      id: "p",
    });
    assert.equal(page.status, 403);
    assert.match(await page.text(), /scope billing or administer/);
  }));

Deno.test("a revoked operator token is refused at once, and so are its sessions", () =>
  withTokens(async ({ gateway, send, issue }) => {
    const { text, id } = await issue("administer");
    const operator = await visit(gateway.url, "operator", text);
    assert.equal(await statusOf(send(text, "plans")), 200);
    await gateway.accounts.admin.operatorTokens.revoke(id);
    const refused = await send(text, "plans");
    assert.equal(refused.status, 401);
    assert.match(await refused.text(), /neither revoked nor expired/);
    assert.equal(
      await statusOf(operator.get("/console/operator/plans")),
      401,
    );
  }));

Deno.test("an operator token is stored as its hash, and ends", () =>
  withTokens(async ({ gateway, issue, send }) => {
    const { operatorTokens } = gateway.accounts.admin;
    const { text } = await issue("read");
    const listed = await bodyOf(send(text, "operator-tokens"));
    assert.match(listed, /"name":"key robot"/);
    assert.ok(!listed.includes(text));
    await assert.rejects(
      issue("read", Date.now() - 1),
      /expires_at: must be in the future/,
    );
    assert.equal(await operatorTokens.verify(`${text}x`), undefined);
    assert.equal(
      await operatorTokens.verify(text.replace("op", "at")),
      undefined,
    );
  }));
