/** Copies of a SQLite store that a process uses. */
import assert from "node:assert/strict";
import { openAdmin } from "../../repositories/admin.ts";
import {
  callWhole,
  createTestCaller,
  openTestAccounts,
  testClock,
} from "../../testing/open_test_accounts.ts";
import { SQLITE } from "../../testing/stores.ts";
import { backUpSqlite } from "./back_up_sqlite.ts";
import { openStore } from "../open_store.ts";
import { temporaryFolder } from "../../../../tests/support/temporary_folder.ts";

const CALLS = 20;

/** Charges and findings of the audit in a copy. */
async function auditedCopy(
  path: string,
): Promise<{ readonly charges: number; readonly findings: readonly string[] }> {
  await using store = await openStore(`sqlite:${path}`);
  const findings = await (await openAdmin(store, () => true)).audit();
  const rows = await store.read(
    "SELECT request_id FROM ledger WHERE kind = 'charge'",
  );
  return { charges: rows.length, findings };
}

Deno.test("a copy of the main file alone lacks charges, and the audit finds it; a backup and a copy with its log lack none", async () => {
  await using database = await SQLITE.createDatabase();
  const path = database.url.replace(/^sqlite:/, "");
  await using folder = await temporaryFolder();
  const copy = (name: string): string => `${folder.path}/${name}.sqlite3`;
  const store = await database.open();
  await using opened = await openTestAccounts(store, testClock());
  const { caller } = await createTestCaller(opened);
  for (let at = 0; at < CALLS; at++) {
    await callWhole(opened.accounts, caller, [1, 1]);
  }
  await opened.flush();
  await Deno.copyFile(path, copy("alone"));
  await Deno.copyFile(path, copy("with-log"));
  await Deno.copyFile(`${path}-wal`, `${copy("with-log")}-wal`);
  await backUpSqlite(path, copy("backup"));
  const alone = await auditedCopy(copy("alone"));
  assert.ok(alone.charges < CALLS);
  assert.deepEqual(alone.findings, [
    "the store: its file was copied while a process used it, and its -wal is not there: entries are missing at the end",
  ]);
  for (const name of ["with-log", "backup"]) {
    assert.deepEqual(
      await auditedCopy(copy(name)),
      { charges: CALLS, findings: [] },
      name,
    );
  }
  await assert.rejects(backUpSqlite(path, copy("backup")), /exists/);
  await assert.rejects(backUpSqlite(copy("gone"), copy("failed")));
  await assert.rejects(Deno.stat(copy("failed")), Deno.errors.NotFound);
});

Deno.test("a file whose process was killed is no copy", async () => {
  await using database = await SQLITE.createDatabase();
  const path = database.url.replace(/^sqlite:/, "");
  const store = await database.open();
  await store.leases.register("owner_killed");
  await store.close();
  // Closing has removed the log, as another program does that opens the file after a kill.
  assert.equal(
    await Deno.stat(`${path}-wal`).catch(() => undefined),
    undefined,
  );
  assert.deepEqual(await auditedCopy(path), { charges: 0, findings: [] });
});
