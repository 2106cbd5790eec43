/** Copies of a SQLite store that a process uses. */
import assert from "node:assert/strict";
import { openAdmin } from "../../repositories/admin.ts";
import {
  createTestCaller,
  openTestAccounts,
  testCall,
  testClock,
} from "../../testing/open_test_accounts.ts";
import { SQLITE } from "../../testing/stores.ts";
import { backUpSqlite } from "./back_up_sqlite.ts";
import { openStore } from "../open_store.ts";

const CALLS = 20;

/** Charges and findings of the audit in a copy. */
async function auditedCopy(
  path: string,
): Promise<{ readonly charges: number; readonly findings: readonly string[] }> {
  const store = await openStore(`sqlite:${path}`);
  try {
    const findings = await (await openAdmin(store, () => true)).audit();
    const rows = await store.read(
      "SELECT request_id FROM ledger WHERE kind = 'charge'",
    );
    return { charges: rows.length, findings };
  } finally {
    await store.close();
  }
}

Deno.test("a copy of the main file alone lacks charges, and the audit finds it; a backup and a copy with its log lack none", async () => {
  await using database = await SQLITE.createDatabase();
  const path = database.url.replace(/^sqlite:/, "");
  const folder = await Deno.makeTempDir();
  const copy = (name: string): string => `${folder}/${name}.sqlite3`;
  try {
    await using opened = await openTestAccounts(
      await database.open(),
      testClock(),
    );
    const { caller } = await createTestCaller(opened, {
      balanceMicroUsd: 1_000_000,
    });
    for (let at = 0; at < CALLS; at++) {
      const reservation = await opened.accounts.reserve(caller, testCall());
      await reservation.durable();
      reservation.settle({
        usage: { input: 1, output: 1 },
        generatedChars: 1,
        ended: "complete",
      });
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
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
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
