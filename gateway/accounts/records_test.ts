import assert from "node:assert/strict";
import type { RecordFields } from "./field.ts";
import {
  ACCOUNT_ROW,
  KEY,
  LEDGER_ENTRY,
  MODEL_BALANCE,
  PLAN,
  RESERVED_CALL,
  ROLL_UP_SUMS,
  USAGE_SUMS,
} from "./records.ts";
import { USE_COLUMNS } from "./rows/limit_use_rows.ts";
import { openStore } from "./store/open_store.ts";
import { textOf } from "./store/store.ts";

const OWNERS = ["account_id", "key_id", "model"];

/** Tables with their records, and the columns that are not fields of the record. */
const TABLES: readonly (readonly [string, RecordFields, readonly string[]])[] =
  [
    ["plans", PLAN, []],
    [
      "accounts",
      ACCOUNT_ROW,
      USE_COLUMNS.filter((column) => column !== "open_requests"),
    ],
    ["purses", MODEL_BALANCE, ["account_id"]],
    ["keys", KEY, ["hash"]],
    ["key_states", {}, ["key_id", "reserved_micro_usd", ...USE_COLUMNS]],
    ["open_calls", RESERVED_CALL, ["owner_id", "purse"]],
    ["ledger", LEDGER_ENTRY, ["vendor"]],
    ["usage_daily", USAGE_SUMS, ["day", ...OWNERS, "user_id"]],
    ["usage_days", ROLL_UP_SUMS, ["day", ...OWNERS]],
    ["usage_hours", ROLL_UP_SUMS, ["hour", ...OWNERS]],
  ];

Deno.test("a record's fields are the columns of its table", async (t) => {
  await using store = await openStore("sqlite::memory:");
  for (const [table, fields, others] of TABLES) {
    await t.step(table, async () => {
      const text = "SELECT name FROM pragma_table_info($1)";
      const rows = await store.read(text, [table]);
      assert.deepEqual(
        new Set(rows.map((row) => textOf(row, "name"))),
        new Set([...Object.values(fields).map((one) => one.column), ...others]),
      );
    });
  }
});
