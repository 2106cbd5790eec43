/**
 * The fields of a request that have no neutral place: lost wherever the dialect changes, so their paths are told.
 *
 * @module
 */
import { isObject, objectOr } from "../json.ts";

/** Collects the paths of fields without a neutral place, each once. */
export interface Unmapped {
  /** Notes those fields of the object that are told and not known. */
  note(object: unknown, known: ReadonlySet<string>, prefix: string): void;
  /** The paths, in order of discovery. */
  paths(): readonly string[];
}

/** Makes an {@linkcode Unmapped} for one request. */
export function unmappedFields(): Unmapped {
  const found = new Set<string>();
  return {
    note(object, known, prefix) {
      if (!isObject(object)) return;
      for (const [key, value] of Object.entries(object)) {
        if (value === null || value === undefined || known.has(key)) continue;
        // Every call of a newer reply says that the model itself made it; only other callers mean something.
        if (key === "caller" && objectOr(value)["type"] === "direct") continue;
        found.add(prefix + key);
      }
    },
    paths: () => [...found],
  };
}
