import assert from "node:assert/strict";
import { readConfig } from "./settings/config.ts";
import { openConfiguredAccounts } from "./open_accounts.ts";
import { worksSince } from "./accounts/store/migrations.ts";
import { openStore } from "./accounts/store/open_store.ts";
import { temporaryFolder } from "../tests/support/temporary_folder.ts";

Deno.test({
  name:
    "without a store that can be written, nothing but the ledger is in memory",
  permissions: { read: true, env: true, sys: true },
  async fn() {
    const { accounts, isInMemory, replies } = await open();
    await accounts.close();
    assert.equal(isInMemory, true);
    assert.equal(replies, undefined);
  },
});

function open(env: Readonly<Record<string, string>> = {}) {
  const config = readConfig({
    env: { GATEWAY_KEY: "sk-0123456789abcdef0", ...env },
    readFile: () => "{}",
  });
  return openConfiguredAccounts(config, () => {});
}

Deno.test("a store that a newer version left nothing to work with is refused, without the advice to do without it", async () => {
  await using folder = await temporaryFolder();
  const url = `sqlite:${folder.path}/gateway.sqlite3`;
  const store = await openStore(url);
  await store.write(async (sql) => {
    await sql.all("INSERT INTO migrations (version) VALUES (999)");
    await sql.all(worksSince(998));
  });
  await store.close();
  await assert.rejects(
    open({ DATABASE_URL: url }),
    /^ConfigError: DATABASE_URL: could not open the store: a newer version of this program wrote it \(its schema version is 999 and needs programs of 998 or later, this one is of \d+\)$/,
  );
});

Deno.test("a server that cannot be reached is refused, without the advice to do without it", () =>
  assert.rejects(
    open({
      DATABASE_URL: "postgres://postgres@127.0.0.1:1/postgres",
      GATEWAY_START_WAIT_SECONDS: "0",
    }),
    /^ConfigError: DATABASE_URL: could not open the store: could not reach the store: [^.]*ECONNREFUSED[^.]*(\.\d+)*[^.]*$/,
  ));

Deno.test("a file that cannot be written is refused with the way to do without it", () =>
  assert.rejects(
    open({ DATABASE_URL: "sqlite:/proc/gateway.sqlite3" }),
    /^ConfigError: .*DATABASE_URL=sqlite::memory: works everywhere/s,
  ));
