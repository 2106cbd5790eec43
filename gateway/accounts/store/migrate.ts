/**
 * Brings a store's tables to this version of the program.
 */
import {
  LEAST_WRITER,
  type Migration,
  MIGRATIONS,
  WRITERS_SINCE,
} from "./migrations.ts";
import { intOf, type Sql, type Store } from "./store.ts";

/** A newer version of the program wrote the store. */
export class NewerStoreError extends Error {
  override name = "NewerStoreError";

  constructor(version: number, supported: number) {
    super(
      `a newer version of this program wrote it (its schema version is ${version}, this program supports ${supported})`,
    );
  }
}

/**
 * Applies the missing migrations in one write: a process that dies in it leaves no partial change,
 * and of two processes that start at once one waits for the other. Programs older than
 * `leastWriter` that still run cannot write any more.
 *
 * @throws {NewerStoreError} if a newer version of the program wrote the store
 */
export async function migrate(
  store: Store,
  migrations: readonly Migration[] = MIGRATIONS,
  leastWriter: number = LEAST_WRITER,
): Promise<void> {
  // An upgrade runs beside no other write. A start without one must hold up none.
  if (await isUpToDate(store, migrations)) return writeAs(store, migrations);
  const hasWriters = migrations.length >= WRITERS_SINCE;
  await store.write(async (sql) => {
    await sql.all(
      "CREATE TABLE IF NOT EXISTS migrations (version BIGINT PRIMARY KEY)",
    );
    const version = await versionOf(sql);
    if (version > migrations.length) {
      throw new NewerStoreError(version, migrations.length);
    }
    for (const [index, steps] of migrations.entries()) {
      if (index < version) continue;
      for (const step of steps) {
        await sql.all(inDialect(step, store.dialect.name));
      }
      await sql.all("INSERT INTO migrations (version) VALUES ($1)", [
        index + 1,
      ]);
    }
    if (hasWriters) {
      await sql.all(
        "UPDATE writers SET least_version = $1 WHERE least_version < $1",
        [leastWriter],
      );
    }
  }, "alone");
  writeAs(store, migrations);
}

/** A newer program can then stop the writes of this one. */
function writeAs(
  store: Pick<Store, "writeAs">,
  { length: version }: readonly Migration[],
): void {
  if (version >= WRITERS_SINCE) store.writeAs(version);
}

/** Whether a store has the tables of this version; false for an empty one. */
export async function isUpToDate(
  store: Store,
  migrations: readonly Migration[],
): Promise<boolean> {
  try {
    return await versionOf({ all: store.read }) === migrations.length;
  } catch {
    // A new store has no tables; the write reports what else is wrong.
    return false;
  }
}

async function versionOf(sql: Sql): Promise<number> {
  const [row] = await sql.all(
    "SELECT COALESCE(MAX(version), 0) AS version FROM migrations",
  );
  return row === undefined ? 0 : intOf(row, "version");
}

function inDialect(text: string, name: "sqlite" | "postgres"): string {
  if (name === "sqlite") {
    return text.replace("{strict}", "STRICT")
      .replace("{bytewise}", "")
      .replace("{rowless}", ", WITHOUT ROWID")
      .replace("{serial}", "INTEGER PRIMARY KEY AUTOINCREMENT");
  }
  return text.replaceAll("INTEGER", "BIGINT").replace("{strict}", "")
    .replace("{bytewise}", ' COLLATE "C"')
    .replace("{rowless}", "")
    .replace("{serial}", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY");
}
