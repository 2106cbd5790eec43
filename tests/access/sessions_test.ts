/** Sign-in, cookies and sessions of the console. */
import assert from "node:assert/strict";
import { openAdmin } from "../../gateway/accounts/repositories/admin.ts";
import { openStore } from "../../gateway/accounts/store/open_store.ts";
import { newCredential } from "../../gateway/accounts/key.ts";
import { PAGE_HEADERS } from "../../routes/console/http/page_headers.ts";
import { TEST_KEY } from "../support/test_gateway.ts";
import {
  ADMIN_TOKEN,
  credentialOf,
  FORM_HEADERS,
  signIn,
  startConsole,
  visit,
  visitAs,
} from "../support/console/visitor.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { statusOf } from "../support/status_of.ts";

Deno.test("a key, an account token and a code open the account's area, and the admin token only the operators'", async () => {
  await using gateway = await startConsole();
  const { url, accounts } = gateway;
  const code = await accounts.admin.signInCodes.create({
    accountId: "default",
    scope: "read",
  });
  const texts = [
    TEST_KEY,
    (await credentialOf(gateway, "key")).text,
    (await credentialOf(gateway, "read")).text,
    (await credentialOf(gateway, "manage")).text,
    code.text,
  ];
  for (const text of texts) {
    const visitor = await visit(url, "key", text);
    assert.equal(await statusOf(visitor.get("/console/")), 200);
    assert.equal(await statusOf(visitor.get("/console/operator/")), 401);
    assert.equal(await statusOf(signIn(url, "operator", text)), 401);
  }
  assert.equal(await statusOf(signIn(url, "key", ADMIN_TOKEN)), 401);
  const operator = await visit(url, "operator", ADMIN_TOKEN);
  assert.equal(await statusOf(operator.get("/console/operator/")), 200);
  assert.equal(await statusOf(operator.get("/console/")), 401);
});

Deno.test("a code works once and is not used up by opening its page", async () => {
  await using gateway = await startConsole();
  const { url, accounts } = gateway;
  const { text } = await accounts.admin.signInCodes.create({
    accountId: "default",
    scope: "manage",
  });
  for (const path of [`?code=${text}`, `#${text}`, `/${text}`]) {
    await statusOf(fetch(`${url}/console/sign-in${path}`));
  }
  assert.equal(await statusOf(signIn(url, "key", text)), 303);
  assert.equal(await statusOf(signIn(url, "key", text)), 401);
});

Deno.test("who a sign-in link is for is known to the session and to what it changes", async () => {
  await using gateway = await startConsole();
  const { admin } = gateway.accounts;
  const operator = await visitAs(gateway, "operator");
  const made = await (await operator.post(
    "/console/operator/accounts/link/default",
    { name: "Robin of Search", scope: "manage" },
  )).text();
  assert.match(made, /Give it to <bdi>Robin of Search<\/bdi>/);
  assert.match(made, /once, until/);
  const [, code = ""] = /#(code-[\w-]+)/.exec(made) ?? [];
  const robin = await visit(gateway.url, "manage", code);
  assert.match(
    await robin.read("/console/access"),
    /<th scope="row" class="wrap[^>]*><bdi>Robin of Search<\/bdi>/,
  );
  // The next link deletes the row of the code.
  await admin.signInCodes.create({ accountId: "default", scope: "read" });
  await (await robin.post("/console/keys/new", { name: "of Robin" })).text();
  const { data: [issued] } = await admin.changes.list({
    action: "key.issue",
    limit: 1,
  });
  assert.equal(issued?.actorName, "Robin of Search");
});

Deno.test("cookies are strict and for scripts unreadable; over https they are secure and bound to the host", async () => {
  await using gateway = await startConsole();
  const attributes = async (
    headers: Readonly<Record<string, string>>,
    kind: "key" | "operator" = "key",
  ): Promise<string> => {
    const reply = await signIn(
      gateway.url,
      kind,
      kind === "key" ? TEST_KEY : ADMIN_TOKEN,
      headers,
    );
    await reply.body?.cancel();
    return (reply.headers.get("set-cookie") ?? "").replace(/=\w{43};/, "=;");
  };
  const common = "Path=/; HttpOnly; SameSite=Strict";
  assert.equal(await attributes({}), `console=; ${common}`);
  assert.equal(await attributes({}, "operator"), `operator=; ${common}`);
  assert.equal(
    await attributes({ "x-forwarded-proto": "https" }),
    `__Host-console=; ${common}; Secure`,
  );
  assert.equal(
    await attributes({ "x-forwarded-proto": "https" }, "operator"),
    `__Host-operator=; ${common}; Secure`,
  );
});

Deno.test("over plain http and not on loopback there is no sign-in", async () => {
  await using gateway = await startConsole();
  const { hostname, port } = new URL(gateway.url);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const body = `credential=${TEST_KEY}`;
  await connection.write(
    new TextEncoder().encode(
      "POST /console/sign-in HTTP/1.1\r\nhost: gateway.example\r\norigin: http://gateway.example\r\n" +
        "content-type: application/x-www-form-urlencoded\r\nconnection: close\r\n" +
        `content-length: ${body.length}\r\n\r\n${body}`,
    ),
  );
  const reply = await new Response(connection.readable).text();
  assert.match(reply, /^HTTP\/1.1 403/);
  assert.match(reply, /needs https, or a loopback address/);
  assert.doesNotMatch(reply, /set-cookie/i);
});

Deno.test("the eleventh wrong sign-in within a minute is refused, and a right one still passes", async () => {
  await using gateway = await startConsole();
  for (const kind of ["key", "operator"] as const) {
    const wrong = () =>
      statusOf(signIn(gateway.url, kind, newCredential("at")));
    for (let i = 0; i < 10; i++) assert.equal(await wrong(), 401);
    assert.equal(await wrong(), 429);
    assert.equal(
      await statusOf(
        signIn(
          gateway.url,
          kind,
          kind === "key" ? TEST_KEY : ADMIN_TOKEN,
        ),
      ),
      303,
    );
  }
});

Deno.test("signing in replaces the session that the browser had, also one that an attacker chose", async () => {
  await using gateway = await startConsole();
  const thief = await visit(gateway.url, "key", TEST_KEY);
  const { text } = await credentialOf(gateway, "manage");
  // The thief's own cookie was put into the victim's browser.
  const reply = await signIn(gateway.url, "manage", text, {
    cookie: thief.cookie,
  });
  await reply.body?.cancel();
  assert.notEqual(
    (reply.headers.get("set-cookie") ?? "").split(";")[0],
    thief.cookie,
  );
  assert.equal(await statusOf(thief.get("/console/")), 401);
  assert.equal(await statusOf(thief.get("/console/keys")), 401);
});

Deno.test("a session that is signed out is unknown to every process", async () => {
  await using folder = await temporaryFolder();
  const DATABASE_URL = `sqlite:${folder.path}/gateway.sqlite3`;
  await using one = await startConsole({ env: { DATABASE_URL } });
  await using other = await startConsole({ env: { DATABASE_URL } });
  for (const kind of ["manage", "operator"] as const) {
    const home = kind === "operator" ? "/console/operator/" : "/console/";
    const visitor = await visitAs(one, kind);
    const elsewhere = () =>
      statusOf(
        fetch(`${other.url}${home}`, {
          headers: { cookie: visitor.cookie },
        }),
      );
    assert.equal(await elsewhere(), 200);
    assert.equal(await statusOf(visitor.post(`${home}sign-out`)), 303);
    assert.equal(await statusOf(visitor.get(home)), 401);
    assert.equal(await elsewhere(), 401);
  }
});

Deno.test("another admin token ends all sessions of operators", async () => {
  await using folder = await temporaryFolder();
  const DATABASE_URL = `sqlite:${folder.path}/gateway.sqlite3`;
  const before = await startConsole({ env: { DATABASE_URL } });
  const operator = await visit(before.url, "operator", ADMIN_TOKEN);
  assert.equal(await statusOf(operator.get("/console/operator/")), 200);
  await before.close();
  await using after = await startConsole({
    env: { DATABASE_URL, GATEWAY_ADMIN_TOKEN: "another-admin-token" },
  });
  const reply = fetch(`${after.url}/console/operator/`, {
    headers: { cookie: operator.cookie },
  });
  assert.equal(await statusOf(reply), 401);
});

Deno.test("a key revokes itself, by page and by API, and its next call and its session are refused", async () => {
  await using gateway = await startConsole();
  const { url } = gateway;
  const call = (key: string) =>
    statusOf(
      fetch(`${url}/v1/models`, { headers: { "x-api-key": key } }),
    );
  for (const way of ["page", "api"]) {
    const { text } = await credentialOf(gateway, "key");
    const visitor = await visit(url, "key", text);
    const revoke = (last_four: string) =>
      statusOf(
        way === "page"
          ? visitor.post("/console/key/revoke", { last_four })
          : fetch(`${url}/v1/account/keys/self/revoke`, {
            method: "POST",
            headers: {
              "x-api-key": text,
              "content-type": "application/json",
            },
            body: JSON.stringify({ last_four }),
          }),
      );
    assert.equal(await revoke("????"), 400);
    assert.equal(await call(text), 200);
    assert.equal(await revoke(text.slice(-4)), way === "page" ? 303 : 200);
    assert.equal(await call(text), 401);
    assert.equal(await statusOf(visitor.get("/console/")), 401);
  }
});

Deno.test("a revoked account token ends its sessions", async () => {
  await using gateway = await startConsole();
  const { text, id } = await credentialOf(gateway, "manage");
  const visitor = await visit(gateway.url, "manage", text);
  assert.equal(await statusOf(visitor.get("/console/keys")), 200);
  await gateway.accounts.admin.tokens.revoke(id);
  assert.equal(await statusOf(visitor.get("/console/keys")), 401);
});

Deno.test("every reply of the console has the headers of a page, and never one of CORS", async () => {
  await using gateway = await startConsole({
    env: { GATEWAY_CORS_ORIGINS: "https://app.example" },
  });
  const origin = "https://app.example";
  const visitor = await visit(gateway.url, "key", TEST_KEY);
  for (
    const init of [
      { path: "/console/", headers: { cookie: visitor.cookie, origin } },
      { path: "/console/sign-in", headers: { origin } },
      { path: "/console/keys", headers: { origin } },
      { path: "/console/nothing", headers: { origin } },
      {
        path: "/console/keys",
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": "POST" },
      },
      {
        path: "/console/sign-in",
        method: "POST",
        headers: { ...FORM_HEADERS, origin },
        body: "credential=x",
      },
    ]
  ) {
    const { path, ...rest } = init;
    const reply = await fetch(`${gateway.url}${path}`, rest);
    await reply.body?.cancel();
    for (const [name, value] of Object.entries(PAGE_HEADERS)) {
      assert.equal(reply.headers.get(name), value, `${name} of ${path}`);
    }
    assert.deepEqual(
      [...reply.headers.keys()].filter((name) =>
        name.startsWith("access-control")
      ),
      [],
    );
  }
});

Deno.test("GATEWAY_CONSOLE and a missing admin token turn areas off", async () => {
  for (
    const [env, account, operator] of [
      [{ GATEWAY_CONSOLE: "off" }, 404, 404],
      [{ GATEWAY_CONSOLE: "account" }, 200, 404],
      [{ GATEWAY_ADMIN_TOKEN: "" }, 200, 404],
      [{}, 200, 200],
    ] as const
  ) {
    await using gateway = await startConsole({ env });
    assert.equal(
      await statusOf(fetch(`${gateway.url}/console/sign-in`)),
      account,
    );
    assert.equal(
      await statusOf(fetch(`${gateway.url}/console/operator/sign-in`)),
      operator,
    );
    assert.equal(
      await statusOf(fetch(gateway.url, {
        redirect: "manual",
        headers: { accept: "text/html,*/*" },
      })),
      account === 200 ? 303 : 200,
    );
    assert.equal(await statusOf(fetch(gateway.url)), 200);
  }
});

Deno.test("a command line's link opens the console of a running gateway", async () => {
  await using folder = await temporaryFolder();
  const DATABASE_URL = `sqlite:${folder.path}/gateway.sqlite3`;
  await using gateway = await startConsole({ env: { DATABASE_URL } });
  await using store = await openStore(DATABASE_URL);
  const admin = await openAdmin(store, () => true);
  const { text } = await admin.signInCodes.create({
    accountId: "default",
    scope: "manage",
  });
  const visitor = await visit(gateway.url, "manage", text);
  assert.equal(await statusOf(visitor.get("/console/keys/new")), 200);
});

Deno.test("forms that never end keep no one from signing in", async () => {
  const gateway = await startConsole();
  const { hostname, port } = new URL(gateway.url);
  const connections: Deno.Conn[] = [];
  try {
    // The interim reply shows that the gateway reads the body.
    const head = "POST /console/sign-in HTTP/1.1\r\nhost: 127.0.0.1\r\n" +
      "sec-fetch-site: same-origin\r\nexpect: 100-continue\r\n" +
      "content-type: application/x-www-form-urlencoded\r\n" +
      "content-length: 100\r\n\r\n";
    for (let i = 0; i < 20; i++) {
      const connection = await Deno.connect({ hostname, port: Number(port) });
      connections.push(connection);
      await connection.write(new TextEncoder().encode(head));
      await connection.read(new Uint8Array(1000));
    }
    assert.equal(await statusOf(signIn(gateway.url, "key", TEST_KEY)), 303);
  } finally {
    for (const connection of connections) connection.close();
    await gateway.close();
  }
});
