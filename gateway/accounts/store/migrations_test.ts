/** Each version's tables are of use to the program of the version before. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { inDialect } from "./migrate.ts";
import {
  type Migration,
  MIGRATIONS,
  worksSince,
  WRITERS_SINCE,
} from "./migrations.ts";

interface Column {
  readonly name: string;
  readonly notnull: number;
  readonly dflt_value: unknown;
}

/** What a program relies on in a table. */
interface Table {
  readonly columns: readonly Column[];
  /** The statement that makes it; SQLite appends the columns that are added. */
  readonly sql: string;
  /** Indexes that refuse rows. */
  readonly unique: readonly string[];
}

function tablesOf(database: DatabaseSync): ReadonlyMap<string, Table> {
  const listed = database.prepare(
    "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
  ).all();
  return new Map(listed.map(({ name, sql }) => [String(name), {
    columns: database.prepare(
      `SELECT name, "notnull", dflt_value FROM pragma_table_info('${name}')`,
    ).all() as unknown as Column[],
    sql: String(sql),
    unique: database.prepare(
      `SELECT name FROM pragma_index_list('${name}') WHERE "unique" = 1 AND origin = 'c'`,
    ).all().map(({ name }) => String(name)),
  }]));
}

/** Tables with a row a call or a day: reading all of them takes longer than a call may wait. */
const LARGE: readonly string[] = [
  "ledger",
  "calls",
  "changes",
  "failed_attempts",
  "usage_daily",
  "usage_days",
  "usage_hours",
  "call_days",
  "call_hours",
  "stored_replies",
  "stored_items",
  "stored_parts",
];

/** What a program of the version before could not live with, as sentences. */
function breaks(
  before: ReadonlyMap<string, Table>,
  after: ReadonlyMap<string, Table>,
  migration: Migration,
): readonly string[] {
  const found: string[] = [];
  for (const [name, old] of before) {
    const table = after.get(name);
    if (table === undefined) {
      found.push(`the table ${name} is gone`);
      continue;
    }
    // Without the end, where the columns of an ALTER TABLE are added.
    if (!table.sql.startsWith(old.sql.replace(/\s*\)[\s\w,]*$/, ""))) {
      found.push(`the columns of ${name} are others`);
    }
    const known = new Set(old.columns.map(({ name }) => name));
    for (const column of table.columns) {
      if (known.has(column.name)) continue;
      if (column.notnull === 1 && column.dflt_value === null) {
        found.push(`${name}.${column.name} must be given`);
      }
    }
    if (table.unique.some((index) => !old.unique.includes(index))) {
      found.push(`${name} has a new unique index`);
    }
    const changed = new RegExp(
      `^(?:UPDATE|DELETE FROM) ${name}\\b(?: SET (\\w+))?`,
    );
    for (const step of migration) {
      const [statement, column = ""] = changed.exec(step) ?? [];
      if (statement !== undefined && (column === "" || known.has(column))) {
        found.push(`rows of ${name} are changed`);
      }
    }
  }
  for (const step of migration) {
    const [, read = ""] = /^(?:UPDATE|CREATE INDEX \w+ ON) (\w+)/.exec(step) ??
      [];
    if (LARGE.includes(read) && before.has(read)) {
      found.push(`calls wait while all of ${read} is read`);
    }
    if (/\bTRIGGER\b/.test(step)) found.push("a trigger changes writes");
  }
  return found;
}

const WORKS_SINCE = new RegExp(
  `^${worksSince(0).replaceAll("0", "(\\d+)")}$`,
);

/** What is wrong with the last of the migrations, after those before it. */
function faults(
  database: DatabaseSync,
  version: number,
  migration: Migration,
): readonly string[] {
  const before = tablesOf(database);
  for (const step of migration) database.exec(inDialect(step, "sqlite"));
  const stated = migration.flatMap((step) => WORKS_SINCE.exec(step)?.[1] ?? []);
  if (stated.length === 0) {
    return breaks(
      before,
      tablesOf(database),
      migration.filter((step) => !WORKS_SINCE.test(step)),
    );
  }
  return stated.filter((oldest) => Number(oldest) >= version).map(() =>
    "the version before no longer works: what it uses goes a version later"
  );
}

function upTo(version: number): DatabaseSync {
  const database = new DatabaseSync(":memory:");
  for (const steps of MIGRATIONS.slice(0, version)) {
    for (const step of steps) database.exec(inDialect(step, "sqlite"));
  }
  return database;
}

Deno.test("every migration leaves the program of the version before at work", () => {
  using database = upTo(WRITERS_SINCE);
  MIGRATIONS.slice(WRITERS_SINCE).forEach((migration, at) => {
    const version = WRITERS_SINCE + at + 1;
    assert.deepEqual(
      faults(database, version, migration),
      [],
      `version ${version}`,
    );
  });
});

const NEXT = MIGRATIONS.length + 1;

const CASES: readonly (readonly [Migration, RegExp | undefined])[] = [
  [["ALTER TABLE keys ADD COLUMN a INTEGER"], undefined],
  [["ALTER TABLE keys ADD COLUMN a TEXT NOT NULL DEFAULT ''"], undefined],
  [[
    "ALTER TABLE keys ADD COLUMN a TEXT",
    "UPDATE keys SET a = name",
    "CREATE INDEX keys_a ON keys (a)",
  ], undefined],
  [
    ["CREATE TABLE a (id TEXT PRIMARY KEY, b TEXT NOT NULL) {strict}"],
    undefined,
  ],
  [["ALTER TABLE keys ADD COLUMN a TEXT NOT NULL"], /keys.a must be given/],
  [["DROP TABLE purses"], /purses is gone/],
  [["ALTER TABLE keys RENAME TO a"], /keys is gone/],
  [["ALTER TABLE keys DROP COLUMN hint"], /columns of keys are others/],
  [["ALTER TABLE keys RENAME COLUMN hint TO a"], /columns of keys are others/],
  [[
    "CREATE TABLE a (request_id TEXT NOT NULL) {strict}",
    "DROP TABLE open_calls",
    "ALTER TABLE a RENAME TO open_calls",
  ], /columns of open_calls are others/],
  [["CREATE UNIQUE INDEX a ON keys (name)"], /unique index/],
  [["UPDATE ledger SET micro_usd = micro_usd * 1000"], /rows of ledger/],
  [["DELETE FROM purses"], /rows of purses/],
  [["CREATE INDEX a ON ledger (model)"], /calls wait while all of ledger/],
  [[
    "ALTER TABLE calls ADD COLUMN a TEXT",
    "UPDATE calls SET a = model",
  ], /calls wait while all of calls/],
  [[
    "CREATE TRIGGER a AFTER INSERT ON keys BEGIN SELECT 1; END",
  ], /trigger/],
  [["DROP TABLE purses", worksSince(NEXT - 1)], undefined],
  [["DROP TABLE purses", worksSince(NEXT)], /goes a version later/],
];

for (const [migration, fault] of CASES) {
  Deno.test(`a migration ${fault === undefined ? "may" : "may not"}: ${migration.join("; ")}`, () => {
    using database = upTo(MIGRATIONS.length);
    const found = faults(database, NEXT, migration).join("; ");
    if (fault === undefined) assert.equal(found, "");
    else assert.match(found, fault);
  });
}
