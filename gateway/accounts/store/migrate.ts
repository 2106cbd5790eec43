/**
 * Brings a store's tables to this version of the program.
 */
import { type Migration, MIGRATIONS, WRITERS_SINCE } from "./migrations.ts";
import { intOf, type Sql, type Store } from "./store.ts";

/** A newer version of the program changed the store so that this one must not use it. */
export class NewerStoreError extends Error {
  override name = "NewerStoreError";

  constructor(version: number, oldest: number, supported: number) {
    super(
      `a newer version of this program wrote it (its schema version is ${version} and needs programs of ${oldest} or later, this one is of ${supported})`,
    );
  }
}

/**
 * Applies the missing migrations in one write: a process that dies in it leaves no partial change,
 * and of two processes that start at once one waits for the other. A store of a newer version stays
 * as it is.
 *
 * @throws {NewerStoreError} if a newer version left nothing that this program can work with
 */
export async function migrate(
  store: Store,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  // An upgrade runs beside no other write. A start without one must hold up none.
  if (!await isUpToDate(store, migrations)) {
    await store.write(async (sql) => {
      await sql.all(
        "CREATE TABLE IF NOT EXISTS migrations (version BIGINT PRIMARY KEY)",
      );
      const version = await schemaVersion(sql);
      for (const [index, steps] of migrations.entries()) {
        if (index < version) continue;
        for (const step of steps) {
          await sql.all(inDialect(step, store.dialect.name));
        }
        await sql.all("INSERT INTO migrations (version) VALUES ($1)", [
          index + 1,
        ]);
      }
    }, "alone");
  }
  await assertWorks({ all: store.read }, migrations.length);
  writeAs(store, migrations);
}

async function assertWorks(sql: Sql, supported: number): Promise<void> {
  const version = await schemaVersion(sql);
  if (version <= supported) return;
  const [row] = await sql.all("SELECT least_version FROM writers");
  const oldest = row === undefined ? version : intOf(row, "least_version");
  if (oldest > supported) throw new NewerStoreError(version, oldest, supported);
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
    return await schemaVersion({ all: store.read }) >= migrations.length;
  } catch {
    // A new store has no tables; the write reports what else is wrong.
    return false;
  }
}

/** The number of migrations that a store has; of a newer program's, more than this one knows. */
export async function schemaVersion(sql: Pick<Sql, "all">): Promise<number> {
  const [row] = await sql.all(
    "SELECT COALESCE(MAX(version), 0) AS version FROM migrations",
  );
  return row === undefined ? 0 : intOf(row, "version");
}

/** A statement of a migration as a kind of store takes it. */
export function inDialect(text: string, name: "sqlite" | "postgres"): string {
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
