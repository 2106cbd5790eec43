/**
 * Notes what a caller's request says beyond the neutral request: advice that another dialect drops and reports, and demands that
 * it must refuse. Which fields are which is decided where they are read.
 *
 * @module
 */
import type { JsonObject } from "../json.ts";

/** Paths in the caller's words, each once, in order of discovery. */
export interface Unread {
  /** Lost wherever the dialect changes. */
  readonly unmapped: Set<string>;
  /** Like `unmapped`, but their loss changes the meaning. */
  readonly essential: Set<string>;
}

/** An {@linkcode Unread} with nothing in it. */
export function nothingUnread(): Unread {
  return { unmapped: new Set(), essential: new Set() };
}

/** Notes the fields of an object that nobody reads. Null and `[]` are how client libraries echo "nothing". */
export function noteUnknown(
  object: object,
  known: ReadonlySet<string>,
  prefix: string,
  unread: Unread,
): void {
  for (const [key, value] of Object.entries(object)) {
    if (known.has(key) || value === null || value === undefined) continue;
    if (Array.isArray(value) && value.length === 0) continue;
    unread.unmapped.add(`${prefix}${key}`);
  }
}

/** A checked object seen as plain JSON, to look for what its type does not name. */
export function asJson(object: object): JsonObject {
  return { ...object };
}
