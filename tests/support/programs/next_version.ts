/**
 * The gateway as a later version: with one more migration, which adds to each table all that a
 * migration may add.
 */
import {
  type Migration,
  MIGRATIONS,
} from "../../../gateway/accounts/store/migrations.ts";

const tables = new Set(
  MIGRATIONS.flat().flatMap((step) =>
    /^CREATE TABLE (\w+)/.exec(step)?.[1] ?? []
  ),
);
// One was dropped and two were renamed; `migrations` itself has no migration.
for (const gone of ["reservations", "calls_under_way"]) tables.delete(gone);
tables.add("open_calls");
(MIGRATIONS as Migration[]).push([
  ...[...tables].flatMap((table) => [
    `ALTER TABLE ${table} ADD COLUMN later INTEGER NOT NULL DEFAULT 7`,
    `ALTER TABLE ${table} ADD COLUMN later_text TEXT`,
    `CREATE INDEX later_${table} ON ${table} (later)`,
  ]),
  "CREATE TABLE later (id TEXT PRIMARY KEY, body TEXT NOT NULL) {strict}",
]);
await import("../../../main.ts");
