/**
 * Permissions of the store's files. The store has every balance and the secrets of webhooks, so
 * only the gateway's own user may read it. Windows has no such permissions.
 */
import { closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";

const OWN_FOLDER = 0o700;
const OWN_FILE = 0o600;
const OTHERS = 0o077;

/**
 * Creates the file and its folders for this user alone, unless they are there. SQLite gives its
 * other files the permissions of this one.
 *
 * @throws {Error} if it cannot be written
 */
export function createOwnFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: OWN_FOLDER });
  closeSync(openSync(path, "a", OWN_FILE));
}

/** The files among these that other users can reach; missing and unreadable ones are left out. */
export function exposedFiles(paths: readonly string[]): readonly string[] {
  return paths.filter((path) =>
    modeOf(path) & OTHERS && modeOf(dirname(path)) & OTHERS
  );
}

function modeOf(path: string): number {
  if (Deno.build.os === "windows") return 0;
  try {
    return statSync(path).mode;
  } catch {
    return 0;
  }
}
