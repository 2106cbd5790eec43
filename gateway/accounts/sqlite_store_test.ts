import assert from "node:assert/strict";
import { accountsContract } from "./accounts_contract.ts";
import { openSqliteStore } from "./sqlite_store.ts";
import { processesContract } from "./processes_contract.ts";
import { storeContract } from "./store_contract.ts";
import { SQLITE } from "./testing/stores.ts";

storeContract(SQLITE);
accountsContract(SQLITE);
processesContract(SQLITE);

Deno.test("openSqliteStore() writes with the log ahead and waits for the disk", async () => {
  await using database = await SQLITE.fresh();
  const store = await database.open();
  const pragma = async (name: string): Promise<unknown> => {
    const [row] = await store.read(`PRAGMA ${name}`);
    return Object.values(row ?? {})[0];
  };
  try {
    assert.equal(await pragma("journal_mode"), "wal");
    assert.equal(await pragma("synchronous"), 2);
    assert.equal(await pragma("foreign_keys"), 1);
  } finally {
    await store.close();
  }
});

Deno.test("openSqliteStore() makes the folder of its file", async () => {
  const folder = await Deno.makeTempDir();
  const store = openSqliteStore(`${folder}/a/b/gateway.sqlite3`);
  await store.write((sql) => sql.all("CREATE TABLE t (id TEXT)"));
  await store.close();
  assert.ok((await Deno.stat(`${folder}/a/b/gateway.sqlite3`)).isFile);
  await Deno.remove(folder, { recursive: true });
});
