import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { accountsSpec } from "../../specs/accounts_spec.ts";
import type { WriteLock } from "../../testing/write_lock_worker.ts";
import { openSqliteStore } from "./sqlite.ts";
import { backfillSpec } from "../../specs/backfill_spec.ts";
import { callBookSpec } from "../../specs/call_book_spec.ts";
import { clockSpec } from "../../specs/clock_spec.ts";
import { cutProcesses } from "../../testing/cut_processes.ts";
import { lateSettlementSpec } from "../../specs/late_settlement_spec.ts";
import { processesSpec } from "../../specs/processes_spec.ts";
import { storeSpec } from "../../specs/store_spec.ts";
import { SQLITE } from "../../testing/stores.ts";
import { temporaryFolder } from "../../../../tests/support/temporary_folder.ts";

storeSpec(SQLITE);
accountsSpec(SQLITE);
processesSpec(SQLITE);
backfillSpec(SQLITE);
callBookSpec(SQLITE);
clockSpec(SQLITE);
lateSettlementSpec(SQLITE);

/** Raise it for a longer run by hand. */
const CUTS = Number(Deno.env.get("ONE_SIDED_CUTS") ?? 3);

Deno.test(`sqlite: a process that is suspended, ${CUTS} times: every reply is charged exactly`, () =>
  cutProcesses(SQLITE, CUTS));

Deno.test("openSqliteStore() uses the write-ahead log", async () => {
  await using database = await SQLITE.createDatabase();
  await using store = await database.open();
  const pragma = async (name: string): Promise<unknown> => {
    const [row] = await store.read(`PRAGMA ${name}`);
    return Object.values(row ?? {})[0];
  };
  assert.equal(await pragma("journal_mode"), "wal");
  // NORMAL: the store syncs the log itself, see below.
  assert.equal(await pragma("synchronous"), 1);
  assert.equal(await pragma("foreign_keys"), 1);
  // 0: the store waits for another process's lock off the event loop.
  assert.equal(await pragma("busy_timeout"), 0);
});

Deno.test("openSqliteStore() creates the folder of its file", async () => {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/a/b/gateway.sqlite3`;
  await using store = openSqliteStore(path);
  await store.write((sql) => sql.all("CREATE TABLE t (id TEXT)"));
  assert.ok((await Deno.stat(path)).isFile);
});

Deno.test("openSqliteStore() waits for another process that opens the same new file", async () => {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/gateway.sqlite3`;
  const begun = new SharedArrayBuffer(4);
  const worker = new Worker(
    import.meta.resolve("../../testing/write_lock_worker.ts"),
    { type: "module" },
  );
  const locked = new Promise((resolve, reject) => {
    worker.onmessage = resolve;
    worker.onerror = (event) => reject(new Error(event.message));
  });
  worker.postMessage({ path, begun } satisfies WriteLock);
  await locked;
  Atomics.store(new Int32Array(begun), 0, 1);
  Atomics.notify(new Int32Array(begun), 0);
  await using store = openSqliteStore(path);
  await store.write((sql) => sql.all("CREATE TABLE t (id TEXT)"));
  worker.terminate();
});

Deno.test("a write resolves when the log is on disk, and a write during an fsync waits for the next one", async () => {
  await using folder = await temporaryFolder();
  const syncs: PromiseWithResolvers<void>[] = [];
  let begun = Promise.withResolvers<void>();
  await using store = openSqliteStore(`${folder.path}/gateway.sqlite3`, () => {
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
  // Committed and visible, but not on disk yet.
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
});

Deno.test("a write rejects if the fsync fails", async () => {
  await using folder = await temporaryFolder();
  let broken = true;
  await using store = openSqliteStore(
    `${folder.path}/gateway.sqlite3`,
    () => broken ? Promise.reject(new Error("EIO")) : Promise.resolve(),
  );
  const table = (name: string) =>
    store.write((sql) => sql.all(`CREATE TABLE ${name} (id TEXT)`));
  await assert.rejects(table("a"), /EIO/);
  broken = false;
  await table("b");
});

Deno.test("a cache is valid only while no other writer has written", async () => {
  await using database = await SQLITE.createDatabase();
  await using store = await database.open();
  await using other = await database.open();
  const cacheOwner = {};
  const isCacheValid = async (): Promise<boolean> =>
    (await store.commit((_, isValid) => Promise.resolve(isValid), cacheOwner))
      .value;
  const insert = (to: typeof store, id: string) =>
    to.write((sql) =>
      sql.all("INSERT INTO owners (id, beat) VALUES ($1, 0)", [id])
    );
  assert.equal(await isCacheValid(), false, "the first");
  assert.equal(await isCacheValid(), true);
  await insert(store, "a");
  assert.equal(await isCacheValid(), false, "after another write here");
  assert.equal(await isCacheValid(), true);
  await insert(other, "b");
  assert.equal(await isCacheValid(), false, "after a write elsewhere");
  await store.commitUncached((sql) => sql.all("DELETE FROM owners"));
  assert.equal(await isCacheValid(), true, "after a write without a cache");
  await assert.rejects(
    store.commitUncached(async (sql) => {
      await sql.all("INSERT INTO owners (id, beat) VALUES ('c', 0)");
      throw new Error("no");
    }),
    /no/,
  );
  assert.deepEqual(await store.read("SELECT id FROM owners"), []);
  assert.equal(await isCacheValid(), true, "after one of them that failed");
  await other.commitUncached((sql) => sql.all("DELETE FROM owners"));
  assert.equal(await isCacheValid(), false, "after one of them elsewhere");
  await assert.rejects(
    store.commit(() => Promise.reject(new Error("no")), cacheOwner),
  );
  assert.equal(await isCacheValid(), false, "after one that failed");
  assert.equal(await isCacheValid(), true);
});

Deno.test("while another program keeps the file locked, reads go on and a write waits", async () => {
  await using database = await SQLITE.createDatabase();
  await using store = await database.open();
  using other = new DatabaseSync(database.url.slice("sqlite:".length));
  other.exec("BEGIN EXCLUSIVE");
  let written = false;
  const write = store.write((sql) => sql.all("DELETE FROM owners"))
    .then(() => {
      written = true;
    });
  for (let reads = 0; reads < 20; reads++) {
    await store.read("SELECT id FROM owners");
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  assert.equal(written, false);
  other.exec("ROLLBACK");
  await write;
});
