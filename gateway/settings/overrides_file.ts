import { createHash } from "node:crypto";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { unreadable } from "./unreadable_file.ts";
import { parseCatalogueFile } from "../upstream/catalogue/catalogue_file.ts";
import type { CatalogueOverrides } from "../upstream/catalogue/catalogue_shape.ts";

/** The file's content, and what identifies its version. */
export interface OverridesFile {
  /** Empty for a file with a problem. */
  readonly overrides: CatalogueOverrides;
  /** The JSON as written; absent if the file is absent or has a problem. */
  readonly content?: JsonObject;
  /** The first 12 hexadecimal digits of the text's SHA-256; absent where it could not be read. */
  readonly hash?: string;
}

const HASH_CHARS = 12;

/** Reads the file; each problem is added to `problems` and begins with the setting's name. */
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
  if (file.ok) {
    const { overrides, content } = file;
    return { overrides, content, hash };
  }
  for (const problem of file.problems) {
    problems.push(`GATEWAY_CONFIG: ${path}: ${problem}`);
  }
  return { overrides: {}, hash };
}
