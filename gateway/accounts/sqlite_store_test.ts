import assert from "node:assert/strict";
import { accountsContract } from "./accounts_contract.ts";
import { openSqliteStore } from "./sqlite_store.ts";
import { processesContract } from "./processes_contract.ts";
import { storeContract } from "./store_contract.ts";
import { SQLITE } from "./testing/stores.ts";

storeContract(SQLITE);
accountsContract(SQLITE);
processesContract(SQLITE);

Deno.test("openSqliteStore() writes with the log ahead", async () => {
  await using database = await SQLITE.fresh();
  const store = await database.open();
  const pragma = async (name: string): Promise<unknown> => {
    const [row] = await store.read(`PRAGMA ${name}`);
    return Object.values(row ?? {})[0];
  };
  try {
    assert.equal(await pragma("journal_mode"), "wal");
    // Normal: the log is waited for by the store itself, see below.
    assert.equal(await pragma("synchronous"), 1);
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

Deno.test("a write resolves when the log is on disk, and one that comes meanwhile waits for its own time", async () => {
  const folder = await Deno.makeTempDir();
  const syncs: PromiseWithResolvers<void>[] = [];
  let begun = Promise.withResolvers<void>();
  const store = openSqliteStore(`${folder}/gateway.sqlite3`, () => {
    const one = Promise.withResolvers<void>();
    syncs.push(one);
    begun.resolve();
    begun = Promise.withResolvers();
    return one.promise;
  });
  const done: string[] = [];
  const write = async (name: string): Promise<void> => {
    await store.write((sql) => sql.all(`CREATE TABLE ${name} (id TEXT)`));
    done.push(name);
  };
  let reached = begun.promise;
  const a = write("a");
  await reached;
  const b = write("b");
  // Committed, and seen by everybody, but not yet on disk.
  await store.read("SELECT id FROM b");
  assert.deepEqual(done, []);
  reached = begun.promise;
  syncs[0]?.resolve();
  await a;
  await reached;
  assert.deepEqual(done, ["a"]);
  syncs[1]?.resolve();
  await b;
  assert.deepEqual(done, ["a", "b"]);
  await store.close();
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a write fails where the disk does", async () => {
  const folder = await Deno.makeTempDir();
  let broken = true;
  const store = openSqliteStore(
    `${folder}/gateway.sqlite3`,
    () => broken ? Promise.reject(new Error("EIO")) : Promise.resolve(),
  );
  const table = (name: string) =>
    store.write((sql) => sql.all(`CREATE TABLE ${name} (id TEXT)`));
  await assert.rejects(table("a"), /EIO/);
  broken = false;
  await table("b");
  await store.close();
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a writer is told whether anybody has written since it did", async () => {
  await using database = await SQLITE.fresh();
  const store = await database.open();
  const other = await database.open();
  const writer = {};
  const sequel = async (): Promise<boolean> =>
    (await store.commit((_, isSequel) => Promise.resolve(isSequel), writer))
      .value;
  const insert = (to: typeof store, id: string) =>
    to.write((sql) =>
      sql.all("INSERT INTO owners (id, beat) VALUES ($1, 0)", [id])
    );
  assert.equal(await sequel(), false, "the first");
  assert.equal(await sequel(), true);
  await insert(store, "a");
  assert.equal(await sequel(), false, "after another write here");
  assert.equal(await sequel(), true);
  await insert(other, "b");
  assert.equal(await sequel(), false, "after a write elsewhere");
  await assert.rejects(
    store.commit(() => Promise.reject(new Error("no")), writer),
  );
  assert.equal(await sequel(), false, "after one that failed");
  assert.equal(await sequel(), true);
  await other.close();
  await store.close();
});
