/** Every route with every kind of credential, as one table. */
import assert from "node:assert/strict";
import type { CredentialKind } from "../../gateway/accounts/credential_kind.ts";
import {
  OPERATOR_SCOPES,
  type OperatorScope,
} from "../../gateway/accounts/operator_scope.ts";
import { ALL_ROUTES } from "../support/all_routes.ts";
import {
  credentialOf,
  startConsole,
  visit,
} from "../support/console/visitor.ts";
import { endReply } from "../support/end_reply.ts";

type Who = CredentialKind | "none" | `operator ${OperatorScope}`;

const KINDS: readonly CredentialKind[] = ["key", "read", "manage", "operator"];
const SCOPED: readonly Who[] = OPERATOR_SCOPES.map((scope) =>
  `operator ${scope}` as const
);
const ALL: readonly Who[] = ["none", ...KINDS, ...SCOPED];
const KEY: readonly Who[] = ["key"];
const LOOK: readonly Who[] = ["key", "read", "manage"];
const TOKEN: readonly Who[] = ["read", "manage"];
const MANAGE: readonly Who[] = ["manage"];
const OPERATOR: readonly Who[] = ["operator", ...SCOPED];
const ADMINISTER: readonly Who[] = ["operator", "operator administer"];
const KEYS: readonly Who[] = [...ADMINISTER, "operator keys"];
const BILLING: readonly Who[] = [...ADMINISTER, "operator billing"];

/** Who may use a route. Each credential is sent as its kind is: in a header, or as a session. */
const WHO: Readonly<Record<string, readonly Who[]>> = {
  "POST /v1/messages": KEY,
  "POST /v1/messages/count_tokens": KEY,
  "POST /v1/chat/completions/input_tokens": KEY,
  "POST /v1/responses/input_tokens": KEY,
  "POST /v1/embeddings": KEY,
  "GET /v1beta/models": KEY,
  "GET /v1beta/models/:id": KEY,
  "POST /v1beta/models/:model:generateContent": KEY,
  "POST /v1beta/models/:model:streamGenerateContent": KEY,
  "POST /v1beta/models/:model:countTokens": KEY,
  "POST /v1/models/:model:generateContent": KEY,
  "POST /v1/models/:model:streamGenerateContent": KEY,
  "POST /v1/models/:model:countTokens": KEY,
  "POST /v1/chat/completions": KEY,
  "POST /v1/responses": KEY,
  "GET /v1/responses": KEY,
  "POST /v1/responses/:id/cancel": KEY,
  "GET /v1/responses/:id": KEY,
  "DELETE /v1/responses/:id": KEY,
  "GET /v1/responses/:id/input_items": KEY,
  "GET /v1/models": KEY,
  "GET /v1/models/:id": KEY,
  "POST /openai/v1/chat/completions": KEY,
  "POST /openai/v1/chat/completions/input_tokens": KEY,
  "POST /openai/v1/embeddings": KEY,
  "POST /openai/v1/responses": KEY,
  "POST /openai/v1/responses/input_tokens": KEY,
  "GET /openai/v1/responses": KEY,
  "POST /openai/v1/responses/:id/cancel": KEY,
  "GET /openai/v1/responses/:id": KEY,
  "DELETE /openai/v1/responses/:id": KEY,
  "GET /openai/v1/responses/:id/input_items": KEY,
  "GET /openai/v1/models": KEY,
  "GET /openai/v1/models/:id": KEY,
  "POST /openai/responses": KEY,
  "POST /openai/responses/input_tokens": KEY,
  "GET /openai/responses": KEY,
  "POST /openai/responses/:id/cancel": KEY,
  "GET /openai/responses/:id": KEY,
  "DELETE /openai/responses/:id": KEY,
  "GET /openai/responses/:id/input_items": KEY,
  "GET /openai/models": KEY,
  "GET /openai/models/:id": KEY,
  "POST /openai/deployments/:deployment/chat/completions": KEY,
  "POST /openai/deployments/:deployment/embeddings": KEY,
  "POST /openai/deployments/:deployment/responses": KEY,
  "GET /v1/usage": LOOK,
  "GET /v1/usage/comparison": LOOK,
  "GET /v1/calls": LOOK,
  "GET /v1/calls/:request_id": LOOK,
  "GET /v1/calls/live": LOOK,
  "GET /v1/calls/under-way": LOOK,
  "GET /v1/account": LOOK,
  "GET /v1/account/models": LOOK,
  "GET /v1/account/ledger": TOKEN,
  "GET /v1/account/ledger/export": TOKEN,
  "POST /v1/account/keys/self/revoke": KEY,
  "GET /v1/account/keys": TOKEN,
  "POST /v1/account/keys": MANAGE,
  "POST /v1/account/keys/:id": MANAGE,
  "POST /v1/account/keys/:id/rotate": MANAGE,
  "POST /v1/account/keys/:id/revoke": MANAGE,
  "GET /v1/account/changes": TOKEN,
  "GET /v1/account/tokens": TOKEN,
  "POST /v1/account/tokens": MANAGE,
  "POST /v1/account/tokens/:id/revoke": MANAGE,
  "GET /healthz": ALL,
  "GET /readyz": ALL,
  "GET /": ALL,
  "GET /api/hello": ALL,
  "GET /openapi.json": ALL,
  "GET /metrics": OPERATOR,
  "GET /console/assets/:name": ALL,
  "GET /console/sign-in": ALL,
  "POST /console/sign-in": ALL,
  "GET /console/operator/sign-in": ALL,
  "POST /console/operator/sign-in": ALL,
  "POST /console/theme": ALL,
  "GET /console/company-sign-in": ALL,
  "GET /console/company-sign-in/callback": ALL,
  "POST /console/sign-out": LOOK,
  "GET /console/operator": OPERATOR,
  "GET /console/operator/notices": OPERATOR,
  "GET /console/": LOOK,
  "GET /console": LOOK,
  "GET /console/calls": LOOK,
  "GET /console/calls.csv": LOOK,
  "POST /console/search": LOOK,
  "GET /console/find": LOOK,
  "GET /console/calls/live": LOOK,
  "GET /console/calls/:id": LOOK,
  "GET /console/usage": LOOK,
  "GET /console/usage.csv": LOOK,
  "GET /console/statement": TOKEN,
  "GET /console/statement.csv": TOKEN,
  "GET /console/ledger": TOKEN,
  "GET /console/ledger.csv": TOKEN,
  "GET /console/keys": TOKEN,
  "GET /console/keys.csv": TOKEN,
  "GET /console/keys/:id": TOKEN,
  "GET /console/keys/new": MANAGE,
  "POST /console/keys/new": MANAGE,
  "GET /console/keys/limits/:id": MANAGE,
  "POST /console/keys/limits/:id": MANAGE,
  "GET /console/keys/rotate/:id": MANAGE,
  "POST /console/keys/rotate/:id": MANAGE,
  "GET /console/keys/revoke/:id": MANAGE,
  "POST /console/keys/revoke/:id": MANAGE,
  "GET /console/key": KEY,
  "POST /console/key/revoke": KEY,
  "GET /console/models": LOOK,
  "GET /console/models/:id": LOOK,
  "GET /console/models.csv": LOOK,
  "GET /console/connect": LOOK,
  "GET /console/connect/:program": LOOK,
  "GET /console/try": LOOK,
  "GET /console/access": TOKEN,
  "GET /console/changes": TOKEN,
  "GET /console/changes.csv": TOKEN,
  "GET /console/access/tokens.csv": TOKEN,
  "POST /console/access/tokens": MANAGE,
  "POST /console/access/tokens/revoke": MANAGE,
  "POST /console/access/sessions/end": MANAGE,
};

/**
 * Which operators may send what; everything else in their area and under `/admin` is for
 * `administer`. All of them may read everything there.
 */
const OPERATORS_SEND: Readonly<Record<string, readonly Who[]>> = {
  "POST /admin/v1/reconciliations": OPERATOR,
  "POST /admin/v1/accounts/:id": BILLING,
  "POST /admin/v1/accounts/:id/top-ups": BILLING,
  "POST /admin/v1/plans": BILLING,
  "POST /admin/v1/plans/:id": BILLING,
  "POST /admin/v1/accounts/:id/keys/revoke": KEYS,
  "POST /admin/v1/keys": KEYS,
  "POST /admin/v1/keys/:id": KEYS,
  "POST /admin/v1/keys/:id/rotate": KEYS,
  "POST /admin/v1/keys/:id/revoke": KEYS,
  "POST /admin/v1/tokens": KEYS,
  "POST /admin/v1/tokens/:id/revoke": KEYS,
  "POST /admin/v1/sign-in-links": KEYS,
  "POST /console/operator/sign-out": OPERATOR,
  "POST /console/operator/search": OPERATOR,
  "POST /console/operator/reconcile": OPERATOR,
  "POST /console/operator/accounts/change/:id": BILLING,
  "POST /console/operator/accounts/status/:id": BILLING,
  "POST /console/operator/accounts/top-up/:id": BILLING,
  "POST /console/operator/plans/new": BILLING,
  "POST /console/operator/plans/:id": BILLING,
  "POST /console/operator/accounts/link/:id": KEYS,
  "POST /console/operator/accounts/token/:id": KEYS,
  "POST /console/operator/accounts/revoke-token/:id": KEYS,
  "POST /console/operator/accounts/revoke-keys/:id": KEYS,
  "POST /console/operator/accounts/key/:id": KEYS,
  "POST /console/operator/keys/limits/:id": KEYS,
  "POST /console/operator/keys/rotate/:id": KEYS,
  "POST /console/operator/keys/revoke/:id": KEYS,
};

/** Sign-ins refuse an empty credential with 401; other routes do not refuse a permitted kind so. */
const IS_DOOR = /\/sign-in$/;

Deno.test("each route is open to exactly the kinds of credentials in the table", async (t) => {
  await using gateway = await startConsole();
  for (const route of ALL_ROUTES) {
    const name = `${route.method} ${route.path}`;
    const isOperators = route.path.startsWith("/admin/") ||
      (route.path.startsWith("/console/operator/") &&
        route.path !== "/console/operator/sign-in");
    const permitted = !isOperators
      ? WHO[name]
      : route.method === "GET"
      ? OPERATOR
      : OPERATORS_SEND[name] ?? ADMINISTER;
    assert.ok(permitted !== undefined, `${name} is not in the table`);
    const path = route.path.replaceAll(
      /(?<=\/):\w+/g,
      route.path.includes("/responses/") ? "resp_0" : "some_id",
    );
    await t.step(name, async () => {
      for (const who of ALL) {
        const { text, id } = who === "none"
          ? { text: "", id: "" }
          : await credentialOfWho(who);
        const visitor = who === "none"
          ? undefined
          : await visit(gateway.url, kindOf(who), text);
        if (route.access !== "page") {
          const plain = await status(route.method, path, {
            ...(who === "none" ? {} : { authorization: `Bearer ${text}` }),
          });
          assert.equal(
            isOpen(plain),
            permitted.includes(who),
            `${who}: ${plain}`,
          );
          // The cookie opens nothing outside of the console.
          if (visitor !== undefined) {
            assert.equal(
              await status(route.method, path, { cookie: visitor.cookie }),
              await status(route.method, path, {}),
              `the cookie of ${who}`,
            );
          }
          continue;
        }
        const reply = visitor === undefined
          ? await fetch(`${gateway.url}${path}`, {
            method: route.method,
            redirect: "manual",
            headers: { "sec-fetch-site": "same-origin" },
            ...(route.method === "POST" ? { body: new URLSearchParams() } : {}),
          })
          : route.method === "POST"
          ? await visitor.post(path.replace("some_id", id))
          : await visitor.get(path);
        await endReply(reply);
        assertChallenge(reply);
        assert.equal(
          isOpen(reply.status) ||
            (IS_DOOR.test(path) && reply.status === 401 ||
              reply.status === 429),
          permitted.includes(who),
          `${who}: ${reply.status}`,
        );
        // The credential itself opens no page.
        if (!permitted.includes("none")) {
          const credential = await status(route.method, path, {
            authorization: `Bearer ${text}`,
            "x-api-key": text,
            "sec-fetch-site": "same-origin",
          });
          assert.equal(credential, 401, `the credential of ${who}`);
        }
      }
    });
  }
  for (const name of Object.keys({ ...WHO, ...OPERATORS_SEND })) {
    assert.ok(
      ALL_ROUTES.some(({ method, path }) => `${method} ${path}` === name),
      `there is no route ${name}`,
    );
  }

  async function credentialOfWho(
    who: Exclude<Who, "none">,
  ): Promise<{ readonly text: string; readonly id: string }> {
    const scope = OPERATOR_SCOPES.find((one) => who === `operator ${one}`);
    if (scope === undefined) return await credentialOf(gateway, kindOf(who));
    const { operatorTokens } = gateway.accounts.admin;
    const { record, text = "" } = await operatorTokens.issue({
      name: who,
      scope,
    });
    return { text, id: record.id };
  }

  async function status(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<number> {
    const reply = await fetch(`${gateway.url}${path}`, {
      method,
      redirect: "manual",
      headers: {
        ...headers,
        ...(method === "POST" ? { "content-type": "application/json" } : {}),
      },
      ...(method === "POST" ? { body: "{}" } : {}),
    });
    await endReply(reply);
    assertChallenge(reply);
    return reply.status;
  }
});

function kindOf(who: Exclude<Who, "none">): CredentialKind {
  return KINDS.find((kind) => kind === who) ?? "operator";
}

/** RFC 9110, 11.6.1. Browsers ask the user for a password where the scheme is Basic. */
function assertChallenge({ status, headers }: Response): void {
  assert.equal(
    headers.get("www-authenticate"),
    status === 401 ? 'Bearer realm="model-gateway"' : null,
  );
}

function isOpen(status: number): boolean {
  return status !== 401 && status !== 403 && status !== 429;
}

Deno.test("a path without a route, another method and a web socket are refused with a challenge only where it is a 401", async () => {
  await using gateway = await startConsole();
  const rows: readonly (readonly [string, string, number])[] = [
    ["GET", "/v1/responses", 401],
    ["HEAD", "/v1/models", 401],
    ["PUT", "/v1/models", 405],
    ["GET", "/nowhere", 404],
  ];
  for (const [method, path, status] of rows) {
    const reply = await fetch(`${gateway.url}${path}`, { method });
    await endReply(reply);
    assert.equal(reply.status, status);
    assertChallenge(reply);
  }
});

Deno.test("without a session only sign-in, the style and the script answer 200", async () => {
  await using gateway = await startConsole();
  const open: string[] = [];
  for (const { access, method, path } of ALL_ROUTES) {
    if (access !== "page" || method !== "GET") continue;
    const reply = await fetch(`${gateway.url}${path}`, {
      redirect: "manual",
    });
    await endReply(reply);
    if (reply.status === 200) open.push(path);
  }
  assert.deepEqual(open.toSorted(), [
    "/console/operator/sign-in",
    "/console/sign-in",
  ]);
  const page = await (await fetch(`${gateway.url}/console/sign-in`)).text();
  for (
    const [, asset = ""] of page.matchAll(
      /(?:href|src)="(\/console\/assets\/[^"]+)"/g,
    )
  ) {
    const reply = await fetch(`${gateway.url}${asset}`);
    await endReply(reply);
    assert.equal(reply.status, 200, asset);
  }
  for (
    const path of [
      "/console/nothing",
      "/console/../admin/v1/keys",
      "/console/keys/",
    ]
  ) {
    const reply = await fetch(`${gateway.url}${path}`);
    await endReply(reply);
    assert.ok(
      reply.status === 404 || reply.status === 401,
      `${path}: ${reply.status}`,
    );
  }
});
