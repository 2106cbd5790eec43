/** Each slice of the purge must use indexes: one that scans the replies stops all streams. */
import assert from "node:assert/strict";
import { openStore } from "../accounts/store/open_store.ts";
import { type SqlValue, textOf } from "../accounts/store/store.ts";
import { insertReplies, removeEnded } from "./reply_rows.ts";

Deno.test("removeEnded() scans neither the stored replies nor their items", async () => {
  await using store = await openStore("sqlite::memory:");
  const statements = new Map<string, readonly SqlValue[]>();
  await store.write(async (sql) => {
    await sql.all("INSERT INTO plans (id, created_at_ms) VALUES ('p', 0)");
    await sql.all(
      "INSERT INTO accounts (id, name, status, billing, plan_id, created_at_ms) VALUES ('a', '', 'active', 'prepaid', 'p', 0)",
    );
    await sql.all(
      "INSERT INTO keys (id, account_id, name, hash, hint, created_at_ms, revoked_at_ms) VALUES ('ended', 'a', '', 'h', '', 0, 1)",
    );
    const rows = ([["other", 1], ["ended", 9]] as const).map(
      ([keyId, atMs]) => ({
        address: `reply of ${keyId}`,
        accountId: "a",
        keyId,
        atMs,
        input: "input",
        reply: "reply",
        items: [`item of ${keyId}`],
      }),
    );
    await insertReplies(sql, store.dialect, rows, 1000);
    await removeEnded(
      {
        ...sql,
        all: (text, values = []) => {
          statements.set(text, values);
          return sql.all(text, values);
        },
        async each(text, rows) {
          for (const values of rows) {
            statements.set(text, values);
            await sql.all(text, values);
          }
        },
      },
      store.dialect,
      { oldestMs: 5, nowMs: 9 },
    );
    assert.deepEqual(await sql.all("SELECT address FROM stored_replies"), []);
  });
  assert.equal(statements.size, 5);
  const scans: string[] = [];
  for (const [text, values] of statements) {
    const plan = await store.read(`EXPLAIN QUERY PLAN ${text}`, values);
    const lines = plan.map((row) => textOf(row, "detail"));
    if (lines.some((line) => /^SCAN (?!keys\b|json_each\b)/.test(line))) {
      scans.push(`${text}\n  ${lines.join("\n  ")}`);
    }
  }
  assert.deepEqual(scans, []);
});
