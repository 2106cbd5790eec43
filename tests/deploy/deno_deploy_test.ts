/**
 * The gateway as Deno Deploy documents to run programs: no address to listen on, several isolates
 * that share only the database, SIGINT and five seconds at the end. Stricter than the platform:
 * nothing may be written, and no program run.
 */
import assert from "node:assert/strict";
import {
  POSTGRES_PROGRAMS,
  startPostgresServer,
} from "../../gateway/accounts/testing/postgres_server.ts";
import { DENOS } from "../support/programs/denos.ts";
import { type Program, startProgram } from "../support/programs/program.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { bearer } from "../support/clients/bearer.ts";
import { statusOf } from "../support/status_of.ts";

const ADMIN_TOKEN = "0123456789abcdef";

function startIsolate(
  deno: string,
  folder: string,
  databaseUrl: string,
): Promise<Program> {
  return startProgram({
    deno,
    folder,
    permissions: ["--allow-net", "--allow-env"],
    env: {
      DENO_DEPLOY: "true",
      DENO_DEPLOYMENT_ID: crypto.randomUUID(),
      DENO_TIMELINE: "production",
      DENO_SERVE_ADDRESS: "tcp:127.0.0.1:0",
      DATABASE_URL: databaseUrl,
      GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN,
      // The platform kills a process five seconds after SIGINT.
      GATEWAY_DRAIN_SECONDS: "2",
      GATEWAY_UPSTREAM: "replay",
    },
  });
}

async function ask(
  { url }: Program,
  key: string,
  body: Readonly<Record<string, unknown>>,
): Promise<Response> {
  return await fetch(
    `${url}/v1/responses`,
    bearer(key, { model: "vendorb-5", ...body }),
  );
}

async function admin(
  { url }: Program,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${url}/admin/v1${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      authorization: `Bearer ${ADMIN_TOKEN}`,
      "content-type": "application/json",
      ...(body === undefined ? {} : { "idempotency-key": crypto.randomUUID() }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

for (const { deno, version } of DENOS) {
  Deno.test({
    name:
      `isolates of ${version} share one Postgres, write nothing, and end by themselves (skipped without PostgreSQL)`,
    ignore: POSTGRES_PROGRAMS === undefined,
    async fn() {
      await using folder = await temporaryFolder();
      await using postgres = await startPostgresServer();
      // At once, as for two requests in two regions: both find an empty store.
      const [one, two] = await Promise.all(
        [1, 2].map(() => startIsolate(deno, folder.path, postgres.url)),
      );
      assert.ok(one !== undefined && two !== undefined);
      await using first = one;
      await using second = two;
      const outputs = [first.output(), second.output()];
      const [key = "", ...others] = outputs.flatMap((text) =>
        [...text.matchAll(/^Key, shown this once: (\S+)$/gm)].map((
          [, found = ""],
        ) => found)
      );
      assert.notEqual(key, "", outputs.join("\n"));
      assert.deepEqual(others, [], "both made a first key");

      const reply = await ask(first, key, { input: "Hello" });
      assert.equal(reply.status, 200);
      const { id } = await reply.json();
      assert.equal(
        await statusOf(ask(second, key, {
          input: "And again",
          previous_response_id: id,
        })),
        200,
        "the other isolate has the reply",
      );

      const issued = await admin(first, "/keys", { account: "default" });
      assert.equal(issued.status, 200, JSON.stringify(issued.body));
      const held = String(issued.body["key"]);
      assert.equal(await statusOf(ask(second, held, { input: "Hi" })), 200);

      // In the middle of a stream.
      const stream = await ask(second, key, {
        input: "[[fx:slow?ms=400]]",
        stream: true,
      });
      const reader = stream.body?.pipeThrough(new TextDecoderStream())
        .getReader();
      assert.match((await reader?.read())?.value ?? "", /response\.created/);
      second.signal("SIGINT");
      let text = "";
      for (;;) {
        const { value, done } = await reader?.read() ?? { done: true };
        if (done) break;
        text += value;
      }
      assert.equal(await second.ended, 0, second.output());
      assert.match(text, /response\.(completed|failed)|event: error/);

      // A crash: the calls of the dead are settled by a later isolate.
      first.signal("SIGKILL");
      await first.ended;
      await using third = await startIsolate(deno, folder.path, postgres.url);
      assert.equal(await statusOf(ask(third, held, { input: "Hi" })), 200);
      await using audit = await startProgram({
        folder: folder.path,
        command: ["gateway/cli/cli.ts", "ledger", "audit"],
        env: { DATABASE_URL: postgres.url },
        until: /\n/,
      });
      assert.equal(await audit.ended, 0, audit.output());
      assert.match(audit.output(), /The books balance/);
      assert.deepEqual([...Deno.readDirSync(folder.path)], []);
    },
  });
}
