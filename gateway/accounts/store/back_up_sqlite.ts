/**
 * Copies the file of a SQLite store while it is used.
 *
 * @module
 */
import { DatabaseSync } from "node:sqlite";
import { writeFileSync } from "node:fs";

/** The `beat` of a process in a copy that lacks nothing: it ran when the copy was made. */
export const IN_BACKUP = -1;

/**
 * Copies the committed state of the store at `path` into a new file. Processes go on reading and writing
 * meanwhile.
 *
 * @throws {Error} if the file is there already, or cannot be written
 */
export function backUpSqlite(path: string, target: string): void {
  // SQLite writes into an empty file; this one is for its owner alone.
  writeFileSync(target, "", { flag: "wx", mode: 0o600 });
  const source = new DatabaseSync(path, { readOnly: true });
  try {
    source.exec("PRAGMA busy_timeout = 5000");
    source.prepare("VACUUM INTO ?").run(target);
  } finally {
    source.close();
  }
  const copy = new DatabaseSync(target);
  try {
    copy.exec(
      `PRAGMA journal_mode = DELETE; UPDATE owners SET beat = ${IN_BACKUP}`,
    );
  } finally {
    copy.close();
  }
}
