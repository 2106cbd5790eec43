/**
 * Reads the file that `GATEWAY_CONFIG` names.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { parseCatalogueFile } from "./upstream/catalogue/catalogue_file.ts";
import type { CatalogueOverrides } from "./upstream/catalogue/catalogue_shape.ts";

/** The file's content, and what identifies its version. */
export interface OverridesFile {
  /** Empty for a file with a problem. */
  readonly overrides: CatalogueOverrides;
  /** The first 12 hexadecimal digits of the text's SHA-256; absent where it could not be read. */
  readonly hash?: string;
}

const HASH_CHARS = 12;

/** Reads the file; each problem with it is added to `problems` and begins with the setting's name. */
export function readOverrides(
  path: string,
  readFile: (path: string) => string,
  problems: string[],
): OverridesFile {
  let text: string;
  try {
    text = readFile(path);
  } catch (error) {
    problems.push(`GATEWAY_CONFIG: ${unreadable(path, error)}`);
    return { overrides: {} };
  }
  const hash = createHash("sha256").update(text).digest("hex").slice(
    0,
    HASH_CHARS,
  );
  const file = parseCatalogueFile(text);
  if (file.ok) return { overrides: file.overrides, hash };
  for (const problem of file.problems) {
    problems.push(`GATEWAY_CONFIG: ${path}: ${problem}`);
  }
  return { overrides: {}, hash };
}

function unreadable(path: string, error: unknown): string {
  const { name, code } = error instanceof Error
    ? error as Error & { readonly code?: unknown }
    : { name: "", code: undefined };
  if (name === "NotCapable") {
    return `${path} is outside what this process may read, which is the working directory under deno task start: ` +
      "copy the file into it, or start main.ts by deno run with the flags of that task and the file's folder in --allow-read";
  }
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return `there is no file ${path}; a relative path is resolved from the working directory`;
    case "EISDIR":
      return `${path} is a folder: set it to the JSON file`;
    case "EACCES":
    case "EPERM":
      return `the process's user is not permitted to read ${path}`;
  }
  return `could not read ${path}`;
}
