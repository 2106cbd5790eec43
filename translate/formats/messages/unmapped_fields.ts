/**
 * Collects the fields of a request that have no neutral counterpart: they are dropped wherever the
 * dialect changes, and their paths reported.
 *
 * @module
 */
import { isObject, objectOr } from "../../bytes/json.ts";
import { MAX_UNMAPPED } from "../../model/unmapped_fields.ts";

/** Collects paths of fields without a neutral counterpart, each once. */
export interface UnmappedPaths {
  /** Records the fields of the object that are set but not in `known`. */
  note(object: unknown, known: ReadonlySet<string>, prefix: string): void;
  /** The paths, in order of discovery. */
  paths(): readonly string[];
}

/** Creates an empty collection for one request. */
export function unmappedPaths(): UnmappedPaths {
  const found = new Set<string>();
  return {
    note(object, known, prefix) {
      if (!isObject(object)) return;
      // An array of all entries would cost more than reading them.
      for (const key of Object.keys(object)) {
        if (found.size >= MAX_UNMAPPED) return;
        const value = object[key];
        if (value === null || value === undefined || known.has(key)) continue;
        if (saysNothing(key, value)) continue;
        found.add(prefix + key);
      }
    },
    paths: () => [...found],
  };
}

/**
 * Replies state in every call that the model itself made it, and in every text that it cites
 * nothing; clients send both back.
 */
function saysNothing(key: string, value: unknown): boolean {
  return key === "caller"
    ? objectOr(value)["type"] === "direct"
    : key === "citations" && Array.isArray(value) && value.length === 0;
}
