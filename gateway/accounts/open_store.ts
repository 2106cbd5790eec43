/**
 * From `DATABASE_URL` to a store with its tables in place.
 *
 * @module
 */
import { migrate } from "./migrations.ts";
import { openSqliteStore } from "./sqlite_store.ts";
import type { Store } from "./store.ts";

/** What may differ from the usual. */
export interface OpenStoreOptions {
  /** The clock; absent: `Date.now`. */
  readonly now?: () => number;
  /** After this long without a sign of life a process counts as gone, in milliseconds. Postgres only. */
  readonly leaseMs?: number;
}

/**
 * Opens the store that an address names and brings its tables up to date.
 *
 * @throws {Error} where the address is none of `sqlite:PATH`, `sqlite::memory:`, `postgres://…`, or cannot be opened
 */
export async function openStore(
  databaseUrl: string,
  options: OpenStoreOptions = {},
): Promise<Store> {
  const store = await connect(databaseUrl, options);
  try {
    await migrate(store);
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

async function connect(
  databaseUrl: string,
  options: OpenStoreOptions,
): Promise<Store> {
  if (/^postgres(ql)?:\/\/./.test(databaseUrl)) {
    // Only who uses Postgres loads its driver, which reads the environment.
    const { openPostgresStore } = await import("./postgres_store.ts");
    return openPostgresStore(databaseUrl, options);
  }
  const path = /^sqlite:(?!\/\/)(.+)$/.exec(databaseUrl)?.[1];
  if (path === undefined) {
    // The address itself may hold a password.
    throw new Error(
      "could not read DATABASE_URL: it must be sqlite:PATH, sqlite::memory: or postgres://USER:PASSWORD@HOST/DATABASE",
    );
  }
  return openSqliteStore(path);
}
