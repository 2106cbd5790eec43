import { isUpToDate, migrate } from "./migrate.ts";
import { type Migration, MIGRATIONS } from "./migrations.ts";
import { openSqliteStore } from "./sqlite/sqlite.ts";
import type { Store } from "./store.ts";
import type { SecretSeal } from "./secret_seal.ts";
import { sealWebhooks } from "../rows/webhook_rows.ts";
import type { ProcessClocks } from "./store_clock.ts";

export interface OpenStoreOptions extends ProcessClocks {
  /**
   * A process that has not renewed its lease for this long counts as dead, in milliseconds.
   * Postgres only.
   */
  readonly leaseMs?: number;
  /** Replaces the time limit of a report's statement, in milliseconds. */
  readonly reportMs?: number;
  /**
   * Seals secrets in the rows; absent: they are stored in clear text. Postgres only: SQLite has a
   * file of its own for its key.
   */
  readonly secrets?: SecretSeal;
  /** A replica of the store, from which reports are read; absent: from the store. Postgres only. */
  readonly readUrl?: string;
  /** The migrations to apply; absent: all. */
  readonly migrations?: readonly Migration[];
}

/**
 * Opens the store and applies missing migrations.
 *
 * @throws {Error} if the address is none of `sqlite:PATH`, `sqlite::memory:`,
 * `postgres://…`, or cannot be opened
 */
export async function openStore(
  databaseUrl: string,
  options: OpenStoreOptions = {},
): Promise<Store> {
  const store = await connect(databaseUrl, options);
  try {
    await upgrade(store, databaseUrl, options);
    await store.readClock();
    // A test may want a store of an older version.
    if (options.migrations === undefined) await sealWebhooks(store);
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

/** Longest migration, or wait for the migration of another process, in milliseconds. */
const MIGRATION_MS = 600_000;

async function upgrade(
  store: Store,
  databaseUrl: string,
  options: OpenStoreOptions,
): Promise<void> {
  const { migrations = MIGRATIONS } = options;
  if (
    store.dialect.name === "postgres" && !await isUpToDate(store, migrations)
  ) {
    // Over large tables a change takes longer than a write may.
    const patient = await connect(databaseUrl, {
      ...options,
      deadlineMs: MIGRATION_MS,
    });
    try {
      await migrate(patient, migrations);
    } finally {
      await patient.close();
    }
  }
  await migrate(store, migrations);
}

async function connect(
  databaseUrl: string,
  options: OpenStoreOptions & { readonly deadlineMs?: number },
): Promise<Store> {
  if (/^postgres(ql)?:\/\/./.test(databaseUrl)) {
    // Loaded only when used: the Postgres driver reads the environment.
    const { openPostgresStore } = await import("./postgres/postgres.ts");
    return openPostgresStore(databaseUrl, options);
  }
  const path = /^sqlite:(?!\/\/)(.+)$/.exec(databaseUrl)?.[1];
  if (path === undefined) {
    // The message does not repeat the address, which may contain a password.
    throw new Error(
      "could not read DATABASE_URL: it must be sqlite:PATH, sqlite::memory: or postgres://USER:PASSWORD@HOST/DATABASE",
    );
  }
  return openSqliteStore(path, undefined, options);
}
