/**
 * `deno task admin store backup FILE`: a copy of a SQLite store beside running gateways.
 */
import { backUpSqlite } from "../accounts/store/sqlite/back_up_sqlite.ts";
import { FlagError } from "./flag_values.ts";

/**
 * Copies the store and returns what was done, as text.
 *
 * @throws {FlagError} for a store that is no file, and a file that cannot be written
 */
export async function backUpStore(
  databaseUrl: string,
  file: string,
): Promise<string> {
  const path = /^sqlite:(?!:memory:)(.+)$/.exec(databaseUrl)?.[1];
  if (path === undefined) {
    throw new FlagError(
      "DATABASE_URL: this command copies SQLite files; back Postgres up with pg_dump (docs/operations.md)",
    );
  }
  try {
    await backUpSqlite(path, file);
  } catch (error) {
    const { name, code } = error as Error & { readonly code?: unknown };
    throw new FlagError(
      code === "EEXIST"
        ? `${file} is there already`
        : name === "NotCapable"
        ? `could not write ${file}: this command may write below ./data only`
        : `could not copy ${path} to ${file} (${
          error instanceof Error ? error.message : "unknown failure"
        })`,
    );
  }
  return `The store is in ${file}. The key that seals its secrets is not: keep ${path}-key elsewhere.`;
}
