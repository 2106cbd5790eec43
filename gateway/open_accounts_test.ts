import assert from "node:assert/strict";
import { readConfig } from "./settings/config.ts";
import { ConfigError } from "./settings/config.ts";
import { openConfiguredAccounts } from "./open_accounts.ts";
import { openStore } from "./accounts/store/open_store.ts";
import { temporaryFolder } from "../tests/support/temporary_folder.ts";

Deno.test({
  name:
    "without a store that can be written, nothing but the ledger is in memory",
  permissions: { read: true, env: true, sys: true },
  async fn() {
    const config = readConfig({
      env: { GATEWAY_KEY: "sk-0123456789abcdef0" },
      readFile: () => "{}",
    });
    const { accounts, isInMemory, replies } = await openConfiguredAccounts(
      config,
      () => {},
    );
    await accounts.close();
    assert.equal(isInMemory, true);
    assert.equal(replies, undefined);
  },
});

/** Why the store at `databaseUrl` cannot be opened. */
async function reasonFor(databaseUrl: string): Promise<string> {
  const config = readConfig({
    env: { GATEWAY_KEY: "sk-0123456789abcdef0", DATABASE_URL: databaseUrl },
    readFile: () => "{}",
  });
  let reason = "";
  await assert.rejects(
    openConfiguredAccounts(config, () => {}),
    (error) => {
      assert.ok(error instanceof ConfigError);
      reason = error.message;
      return true;
    },
  );
  return reason;
}

Deno.test("a store of a newer version is refused, without the advice to do without it", async () => {
  await using folder = await temporaryFolder();
  const url = `sqlite:${folder.path}/gateway.sqlite3`;
  const store = await openStore(url);
  await store.write((sql) =>
    sql.all("INSERT INTO migrations (version) VALUES (999)")
  );
  await store.close();
  assert.match(
    await reasonFor(url),
    /^DATABASE_URL: could not open the store: a newer version of this program wrote it \(its schema version is 999, this program supports \d+\)$/,
  );
});

Deno.test("a server that cannot be reached is refused, without the advice to do without it", async () => {
  assert.match(
    await reasonFor("postgres://postgres@127.0.0.1:1/postgres"),
    /^DATABASE_URL: could not open the store: could not reach the store: [^.]*ECONNREFUSED[^.]*(\.\d+)*[^.]*$/,
  );
});

Deno.test("a file that cannot be written is refused with the way to do without it", async () => {
  const reason = await reasonFor("sqlite:/proc/gateway.sqlite3");
  assert.match(reason, /DATABASE_URL=sqlite::memory: works everywhere/);
});
