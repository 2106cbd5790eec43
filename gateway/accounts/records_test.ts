import assert from "node:assert/strict";
import type { Fields } from "./field.ts";
import {
  ACCOUNT_ROW,
  KEY,
  LEDGER_ENTRY,
  MODEL_BALANCE,
  PLAN,
  USAGE_SUMS,
} from "./records.ts";
import { openStore } from "./store/open_store.ts";
import { textOf } from "./store/store.ts";

/** The columns that no field of the record stands for. */
const OTHER_COLUMNS: readonly (readonly [string, Fields, readonly string[]])[] =
  [
    ["plans", PLAN, []],
    ["accounts", ACCOUNT_ROW, [
      "requests_used",
      "requests_at_ms",
      "tokens_used",
      "tokens_at_ms",
      "day",
      "day_spent_micro_usd",
    ]],
    ["purses", MODEL_BALANCE, ["account_id"]],
    ["keys", KEY, ["hash"]],
    ["ledger", LEDGER_ENTRY, []],
    ["usage_daily", USAGE_SUMS, [
      "day",
      "account_id",
      "key_id",
      "model",
      "user_id",
    ]],
  ];

Deno.test("a record's fields are the columns of its table", async (t) => {
  const store = await openStore("sqlite::memory:");
  try {
    for (const [table, fields, others] of OTHER_COLUMNS) {
      await t.step(table, async () => {
        const rows = await store.read(
          "SELECT name FROM pragma_table_info($1)",
          [table],
        );
        assert.deepEqual(
          rows.map((row) => textOf(row, "name")).sort(),
          [...Object.values(fields).map(({ column }) => column), ...others]
            .sort(),
        );
      });
    }
  } finally {
    await store.close();
  }
});
