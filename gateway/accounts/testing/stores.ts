/**
 * Empty stores for tests: each in its own file, or its own Postgres schema.
 */
// @ts-types="../store/postgres/pg_driver.d.ts"
import pg from "pg";
import { openStore, type OpenStoreOptions } from "../store/open_store.ts";
import type { SqlRow, Store } from "../store/store.ts";
import { randomText } from "../key.ts";

/** A kind of store to run tests on. */
export interface TestStore {
  /** Prefix of the test names. */
  readonly name: string;
  createDatabase(): Promise<TestDatabase>;
}

/** An empty database. Disposing of it removes it. */
export interface TestDatabase extends AsyncDisposable {
  /** Its address, as for `DATABASE_URL`. */
  readonly url: string;
  /** Opens a new connection. */
  open(options?: OpenStoreOptions): Promise<Store>;
}

/** SQLite in a file, which several processes can open. */
export const SQLITE: TestStore = {
  name: "sqlite",
  async createDatabase() {
    const folder = await Deno.makeTempDir();
    const url = `sqlite:${folder}/gateway.sqlite3`;
    return {
      url,
      open: (options) => openStore(url, options),
      [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
    };
  },
};

export function postgresAt(serverUrl: string): TestStore {
  return {
    name: "postgres",
    async createDatabase() {
      const schema = `test_${randomText(16).toLowerCase()}`;
      await onServer(serverUrl, `CREATE SCHEMA ${schema}`);
      const url = new URL(serverUrl);
      url.searchParams.set("search_path", schema);
      return {
        url: url.href,
        open: (options) => openStore(url.href, { leaseMs: 1500, ...options }),
        [Symbol.asyncDispose]: async () => {
          await onServer(serverUrl, `DROP SCHEMA ${schema} CASCADE`);
        },
      };
    },
  };
}

/** Runs statements on a server, outside of any store. Returns the rows of the last one. */
export async function onServer(
  serverUrl: string,
  ...statements: readonly string[]
): Promise<readonly SqlRow[]> {
  const client = new pg.Client(serverUrl);
  await client.connect();
  try {
    let rows: readonly SqlRow[] = [];
    for (const statement of statements) {
      ({ rows } = await client.query(statement));
    }
    return rows;
  } finally {
    await client.end();
  }
}
