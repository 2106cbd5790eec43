import assert from "node:assert/strict";
import { WINDOWS } from "../limits/calendar_window.ts";
import type { Store } from "../store/store.ts";

/**
 * Fails if the sums of a key with limits differ from its usage. Only for stores whose usage is of
 * one day, and whose keys had their limits from the start.
 */
export async function checkKeyUse(store: Store): Promise<void> {
  const rows = await store.read(
    `SELECT s.*, CAST(COALESCE(u.micro_usd, 0) AS BIGINT) AS spent, CAST(COALESCE(u.tokens, 0) AS BIGINT) AS tokens
     FROM key_states s LEFT JOIN (
       SELECT key_id, SUM(micro_usd) AS micro_usd,
         SUM(input_tokens + cache_read_tokens + cache_write_tokens + output_tokens) AS tokens
       FROM usage_daily GROUP BY key_id
     ) AS u ON u.key_id = s.key_id`,
  );
  assert.ok(rows.length > 0, "no key has limits");
  for (const row of rows) {
    for (const window of WINDOWS) {
      assert.equal(row[`${window}_spent_micro_usd`], row["spent"], window);
      assert.equal(row[`${window}_tokens`], row["tokens"], window);
    }
    assert.deepEqual([row["open_requests"], row["reserved_micro_usd"]], [0, 0]);
  }
}
