/**
 * Empty stores for tests: a file of its own, or a Postgres schema of its own, for each.
 *
 * @module
 */
import postgres from "postgres";
import { openStore, type OpenStoreOptions } from "../open_store.ts";
import type { Store } from "../store.ts";
import { randomText } from "../key.ts";

/** A kind of store that tests run on. */
export interface TestStore {
  /** For the names of tests. */
  readonly name: string;
  /** Makes an empty database. */
  fresh(): Promise<FreshDatabase>;
}

/** An empty database. Disposing of it removes it. */
export interface FreshDatabase extends AsyncDisposable {
  /** As `DATABASE_URL` says it. */
  readonly url: string;
  /** Opens a connection of its own. */
  open(options?: OpenStoreOptions): Promise<Store>;
}

/** SQLite in a file, which several processes can open. */
export const SQLITE: TestStore = {
  name: "sqlite",
  async fresh() {
    const folder = await Deno.makeTempDir();
    const url = `sqlite:${folder}/gateway.sqlite3`;
    return {
      url,
      open: (options) => openStore(url, options),
      [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
    };
  },
};

/** Postgres, where a server is at hand. */
export function postgresAt(serverUrl: string): TestStore {
  return {
    name: "postgres",
    async fresh() {
      const schema = `test_${randomText(16).toLowerCase()}`;
      await onServer(serverUrl, `CREATE SCHEMA ${schema}`);
      const url = new URL(serverUrl);
      url.searchParams.set("search_path", schema);
      return {
        url: url.href,
        open: (options) => openStore(url.href, { leaseMs: 1500, ...options }),
        [Symbol.asyncDispose]: () =>
          onServer(serverUrl, `DROP SCHEMA ${schema} CASCADE`),
      };
    },
  };
}

async function onServer(serverUrl: string, statement: string): Promise<void> {
  const client = postgres(serverUrl, { max: 1, onnotice: () => {} });
  try {
    await client.unsafe(statement);
  } finally {
    await client.end();
  }
}
