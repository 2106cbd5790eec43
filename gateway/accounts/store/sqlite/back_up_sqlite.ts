/**
 * Copies the file of a SQLite store while it is used.
 */
import * as sqlite from "node:sqlite";
import { unlinkSync, writeFileSync } from "node:fs";

/** The `beat` of a process in a copy that lacks nothing: it ran when the copy was made. */
export const IN_BACKUP = -1;

/** All pages in one step: between two steps another process's write would begin the copy again. */
const ALL_PAGES = 0x7fffffff;

/**
 * Copies the committed state of the store at `path` into a new file. Processes go on reading and
 * writing meanwhile. `VACUUM INTO` would need all permissions: Deno permits attached databases only
 * with all of them.
 *
 * @throws {Error} if the file is there already, or cannot be written
 */
export async function backUpSqlite(
  path: string,
  target: string,
): Promise<void> {
  // A named import would fail the start of the whole program on versions without it.
  if (!("backup" in sqlite)) {
    throw new Error("a backup needs Deno 2.6 or newer");
  }
  // SQLite writes into an empty file; this one is for its owner alone.
  writeFileSync(target, "", { flag: "wx", mode: 0o600 });
  try {
    const source = new sqlite.DatabaseSync(path, { readOnly: true });
    try {
      source.exec("PRAGMA busy_timeout = 5000");
      await sqlite.backup(source, target, { rate: ALL_PAGES });
    } finally {
      source.close();
    }
    const copy = new sqlite.DatabaseSync(target);
    try {
      copy.exec(
        `PRAGMA journal_mode = DELETE; UPDATE owners SET beat = ${IN_BACKUP}`,
      );
    } finally {
      copy.close();
    }
  } catch (error) {
    unlinkSync(target);
    throw error;
  }
}
