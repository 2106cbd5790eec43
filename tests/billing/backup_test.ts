/** Backups made as docs/operations.md states, under load, and what is restored from them. */
import assert from "node:assert/strict";
import {
  POSTGRES_PROGRAMS,
  startPostgresServer,
} from "../../gateway/accounts/testing/postgres_server.ts";
import { openAdmin } from "../../gateway/accounts/repositories/admin.ts";
import { openStore } from "../../gateway/accounts/store/open_store.ts";
import { textSeal } from "../../gateway/accounts/store/secret_seal.ts";
import { intOf, textOf } from "../../gateway/accounts/store/store.ts";
import { backUpStore } from "../../gateway/cli/back_up_store.ts";
import { startProgram } from "../support/programs/program.ts";
import {
  ledgerStaysExact,
  type Load,
} from "../support/programs/store_outage.ts";
import { withTimeout } from "../support/with_timeout.ts";
import { bearer } from "../support/clients/bearer.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { statusOf } from "../support/status_of.ts";

const KEY = "sk-another-0123456789abcdef";

/** Gives an account a webhook, whose secret is sealed. */
async function setWebhook(databaseUrl: string): Promise<void> {
  await using store = await openStore(databaseUrl, {
    secrets: textSeal("the-key-of-the-store-that-is-lost-0123456789"),
  });
  const admin = await openAdmin(store, () => true);
  await admin.webhooks.set("prepaid", "https://hooks.example.com/");
}

async function booksAt(databaseUrl: string): Promise<{
  readonly charges: ReadonlyMap<string, number>;
  readonly findings: readonly string[];
  readonly open: number;
}> {
  await using store = await openStore(databaseUrl);
  const findings = await (await openAdmin(store, () => true)).audit();
  const rows = await store.read(
    "SELECT request_id, micro_usd FROM ledger WHERE kind = 'charge'",
  );
  const [open] = await store.read(
    "SELECT CAST(COUNT(*) AS BIGINT) AS calls FROM open_calls",
  );
  return {
    findings,
    charges: new Map(
      rows.map((row) => [textOf(row, "request_id"), intOf(row, "micro_usd")]),
    ),
    open: intOf(open ?? {}, "calls"),
  };
}

/** A restore gives a state that the store has had; a gateway starts on it with another key. */
async function assertRestored(
  originalUrl: string,
  copyUrl: string,
  replies: number,
): Promise<void> {
  const original = await booksAt(originalUrl);
  const copy = await booksAt(copyUrl);
  assert.deepEqual(copy.findings, []);
  assert.ok(copy.charges.size + copy.open >= replies);
  for (const [id, microUsd] of copy.charges) {
    assert.equal(original.charges.get(id), microUsd, id);
  }
  await using folder = await temporaryFolder();
  await using program = await startProgram({
    folder: folder.path,
    env: {
      DATABASE_URL: copyUrl,
      GATEWAY_KEY: KEY,
      GATEWAY_STORE_KEY: "another-key-of-the-store-0123456789-0123456789",
      GATEWAY_UPSTREAM: "replay",
    },
  });
  // What is lost is reported, with its account.
  await withTimeout(
    program.printed(/"webhooks_need_setting","accounts":\["prepaid"\]/),
    "a report of the lost webhook",
  );
  // The calls that were open are charged by estimate.
  if (copy.open > 0) {
    await withTimeout(program.printed(/"recovered"/), "a recovery");
  }
  assert.equal(await statusOf(program.call(KEY)), 200);
  program.signal("SIGTERM");
  assert.equal(await program.ended, 0, program.output());
  const started = await booksAt(copyUrl);
  assert.deepEqual([started.findings, started.open], [[], 0]);
  assert.equal(started.charges.size, copy.charges.size + copy.open + 1);
}

Deno.test("a restored store opens the stored replies of its keys; those of another GATEWAY_KEY are lost", async () => {
  await using folder = await temporaryFolder();
  await using restored = await temporaryFolder();
  const start = (at: string, key: string) =>
    startProgram({
      folder: at,
      env: {
        GATEWAY_KEY: key,
        GATEWAY_ADMIN_TOKEN: "0123456789abcdef",
        GATEWAY_UPSTREAM: "replay",
      },
    });
  const ask = (url: string, key: string, body?: unknown): Promise<Response> =>
    fetch(url, bearer(key, body));
  const replies: { readonly key: string; readonly id: string }[] = [];
  {
    await using program = await start(folder.path, KEY);
    const issued = await ask(
      `${program.url}/admin/v1/keys`,
      "0123456789abcdef",
      { account: "default" },
    );
    for (const key of [String((await issued.json()).key), KEY]) {
      const reply = await ask(`${program.url}/v1/responses`, key, {
        model: "vendorb-5",
        input: "Hi",
      });
      replies.push({ key, id: (await reply.json()).id });
      // A reply that is found is stored.
      assert.equal(
        await statusOf(ask(
          `${program.url}/v1/responses/${replies.at(-1)?.id}`,
          key,
        )),
        200,
      );
    }
    await backUpStore(
      `sqlite:${folder.path}/data/gateway.sqlite3`,
      `${folder.path}/copy.sqlite3`,
    );
  }
  await Deno.mkdir(`${restored.path}/data`);
  await Deno.copyFile(
    `${folder.path}/copy.sqlite3`,
    `${restored.path}/data/gateway.sqlite3`,
  );
  const another = `${KEY}-another`;
  await using program = await start(restored.path, another);
  const [ofStore, configured] = replies;
  for (
    const [key, id, status] of [
      [ofStore?.key, ofStore?.id, 200],
      [another, configured?.id, 404],
    ] as const
  ) {
    assert.equal(
      await statusOf(ask(`${program.url}/v1/responses/${id}`, key ?? "")),
      status,
    );
  }
});

/** Replies before the backup. */
const REPLIES = 20;

async function backUpUnderLoad(
  { served }: Load,
  backUp: () => Promise<void> | void,
): Promise<void> {
  await withTimeout(served(REPLIES), "replies");
  await backUp();
  await withTimeout(served(REPLIES), "replies");
}

Deno.test("a backup of a SQLite store under load is a state that it has had; a gateway starts on it", async () => {
  await using folder = await temporaryFolder();
  const url = `sqlite:${folder.path}/gateway.sqlite3`;
  const copy = `${folder.path}/copy.sqlite3`;
  await ledgerStaysExact(
    { databaseUrl: url, programs: 1 },
    (load) =>
      backUpUnderLoad(load, async () => {
        await setWebhook(url);
        await backUpStore(url, copy);
      }),
  );
  await assertRestored(url, `sqlite:${copy}`, REPLIES);
});

Deno.test({
  name:
    "a dump of a Postgres store under load is a state that it has had; a gateway starts on it",
  ignore: POSTGRES_PROGRAMS === undefined,
  async fn() {
    await using server = await startPostgresServer();
    let copyUrl = "";
    await ledgerStaysExact(
      { databaseUrl: server.url, programs: 2 },
      (load) =>
        backUpUnderLoad(load, async () => {
          await setWebhook(server.url);
          copyUrl = await server.restoreDump("restored");
        }),
    );
    await assertRestored(server.url, copyUrl, REPLIES);
  },
});
