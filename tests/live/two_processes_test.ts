/** Two processes on one store behind one address, which alternates between them. */
import assert from "node:assert/strict";
import {
  postgresAt,
  SQLITE,
  type TestStore,
} from "../../gateway/accounts/testing/stores.ts";
import {
  ADMIN_TOKEN,
  credentialOf,
  signIn,
  startConsole,
  visit,
} from "../support/console/visitor.ts";
import type { TestGateway } from "../support/test_gateway.ts";
import { serveLoopback } from "../support/serve_loopback.ts";
import { statusOf } from "../support/status_of.ts";

/** Sends each request to the next of the processes. */
function inTurn(
  urls: readonly string[],
): { readonly url: string; shutdown(): Promise<void> } {
  let turn = 0;
  const server = serveLoopback((request) => {
    const { pathname, search } = new URL(request.url);
    return fetch(`${urls[turn++ % urls.length]}${pathname}${search}`, {
      method: request.method,
      headers: request.headers,
      body: request.body,
      redirect: "manual",
    });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    shutdown: () => server.shutdown(),
  };
}

async function textOf(reply: Promise<Response>): Promise<string> {
  const one = await reply;
  assert.equal(one.status, 200);
  return await one.text();
}

async function works(url: string, one: TestGateway): Promise<void> {
  const operator = await visit(url, "operator", ADMIN_TOKEN);
  // Twice each, so that both processes reply.
  for (const path of ["", "live", "upstreams", "accounts/default"]) {
    for (let turn = 0; turn < 2; turn++) {
      await operator.read(`/console/operator/${path}`);
    }
  }
  const linkPage = await textOf(
    operator.post("/console/operator/accounts/link/default", {
      scope: "manage",
    }),
  );
  const [, code = ""] = /#(code-\w+)/.exec(linkPage) ?? [];
  const guest = await visit(url, "manage", code);
  for (let turn = 0; turn < 2; turn++) {
    await guest.read("/console/");
    assert.equal(await statusOf(signIn(url, "manage", code)), 401);
  }
  const { text } = await credentialOf(one, "manage");
  const owner = await visit(url, "manage", text);
  const form = { name: "ci", idempotency_key: crypto.randomUUID() };
  const keys: string[] = [];
  for (let turn = 0; turn < 2; turn++) {
    const html = await textOf(owner.post("/console/keys/new", form));
    keys.push(...html.match(/\bsk-\w{20,}/g) ?? []);
  }
  const [key = "", ...others] = [...new Set(keys)];
  assert.notEqual(key, "");
  assert.deepEqual(others, [], "a form that is sent twice makes one key");
  for (let turn = 0; turn < 2; turn++) {
    assert.equal(
      await statusOf(
        fetch(`${url}/v1/models`, { headers: { "x-api-key": key } }),
      ),
      200,
    );
    const changes = await owner.read("/console/changes");
    assert.match(changes, /key: create|key: issue/);
  }
  assert.equal(await statusOf(owner.post("/console/sign-out")), 303);
  for (let turn = 0; turn < 2; turn++) {
    assert.equal(await statusOf(owner.get("/console/")), 401);
  }
}

function test(kind: TestStore): void {
  Deno.test(`${kind.name}: sign-in, links, forms and changes work with two processes behind one address`, async () => {
    await using database = await kind.createDatabase();
    const env = { DATABASE_URL: database.url };
    const processes = [
      await startConsole({ env }),
      await startConsole({ env }),
    ];
    const proxy = inTurn(processes.map(({ url }) => url));
    try {
      const [one] = processes;
      assert.ok(one !== undefined);
      await works(proxy.url, one);
    } finally {
      await proxy.shutdown();
      for (const one of processes) await one.close();
    }
  });
}

test(SQLITE);
const serverUrl = Deno.env.get("TEST_POSTGRES_URL");
if (serverUrl === undefined) {
  Deno.test.ignore("postgres: two processes behind one address", () => {});
} else test(postgresAt(serverUrl));
