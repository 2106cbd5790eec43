/** A start whose Postgres comes later: the gateway is live, not ready, and then serves. */
import assert from "node:assert/strict";
import { freePort } from "../../gateway/accounts/testing/free_port.ts";
import {
  POSTGRES_PROGRAMS,
  startPostgresServer,
} from "../../gateway/accounts/testing/postgres_server.ts";
import { startProgram } from "../support/programs/program.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { TEST_KEY } from "../support/test_gateway.ts";

Deno.test({
  name:
    "a start without its database waits, live and not ready, and serves when it is there",
  ignore: POSTGRES_PROGRAMS === undefined,
  async fn() {
    await using folder = await temporaryFolder();
    await using server = await startPostgresServer();
    await server.crash();
    const port = freePort();
    await using program = await startProgram({
      folder: folder.path,
      env: {
        PORT: port,
        DATABASE_URL: server.url,
        GATEWAY_KEY: TEST_KEY,
        GATEWAY_UPSTREAM: "replay",
      },
      until: /store_down.*\n/,
    });
    const ask = async (
      path: string,
      init: RequestInit = {},
    ): Promise<readonly [number, string | null, string]> => {
      const reply = await fetch(`http://127.0.0.1:${port}${path}`, init);
      const text = await reply.text();
      return [reply.status, reply.headers.get("retry-after"), text];
    };
    const [live, , health] = await ask("/healthz");
    assert.equal(live, 200);
    assert.equal(JSON.parse(health).status, "ok");
    assert.deepEqual((await ask("/readyz")).slice(0, 2), [503, "5"]);
    const call = { method: "POST", body: "{}" };
    const [status, retryAfter, body] = await ask("/v1/chat/completions", call);
    assert.deepEqual([status, retryAfter], [503, "5"]);
    assert.match(JSON.parse(body).error.message, /waits for its store/);
    assert.match((await ask("/v1/messages", call))[2], /^\{"type":"error"/);

    await server.start();
    await program.printed(/^Model gateway at/m);
    await program.printed(/"store_up"/);
    assert.equal((await ask("/readyz"))[0], 200);
    const models = { headers: { "x-api-key": TEST_KEY } };
    assert.equal((await ask("/v1/models", models))[0], 200);
    program.signal("SIGTERM");
    assert.equal(await program.ended, 0);
  },
});

Deno.test({
  name:
    "a start ends at once for what waiting does not fix, and at its time limit",
  ignore: POSTGRES_PROGRAMS === undefined,
  async fn() {
    await using folder = await temporaryFolder();
    await using server = await startPostgresServer();
    const outputOf = async (
      env: Readonly<Record<string, string>>,
    ): Promise<string> => {
      await using program = await startProgram({
        folder: folder.path,
        env: { GATEWAY_KEY: TEST_KEY, GATEWAY_UPSTREAM: "replay", ...env },
      });
      assert.equal(await program.ended, 2);
      return program.output();
    };
    const wrong = await outputOf({ DATABASE_URL: `${server.url}_missing` });
    assert.match(wrong, /could not open the store: .*does not exist/);
    assert.doesNotMatch(wrong, /store_down/);
    await server.crash();
    const late = await outputOf({
      DATABASE_URL: server.url,
      GATEWAY_START_WAIT_SECONDS: "1",
    });
    assert.match(
      late,
      /store_down[^]*could not open the store: .*ECONNREFUSED/,
    );
  },
});
