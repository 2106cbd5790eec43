/**
 * The JSON values that every dialect is made of, and how to look into one that nobody has checked yet.
 * What a field means is not known here: that is each dialect's `wire.ts`.
 *
 * @module
 */

/** A JSON object whose fields have not been looked at. */
export type JsonObject = { readonly [key: string]: unknown };

/** A JSON object under construction. Never the caller's own: that one is not written to. */
export type JsonDraft = { [key: string]: unknown };

/** Tells a JSON object from every other value: arrays and null are none. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value as an object; an empty one where it is none. For reading what vendors send, never what callers write. */
export function objectOr(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The value as an array; an empty one where it is none. */
export function arrayOr(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value if it is a string, else undefined. */
export function stringIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The value if it is a string with at least one character, else undefined. */
export function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The value if it is a count (a finite number, not below zero; rounded down), else undefined. */
export function countIn(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0
    ? Math.floor(value)
    : undefined;
}

/** `JSON.parse` that answers undefined for text that is not JSON. JSON itself has no undefined, so nothing is lost. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A copy without the fields whose value is undefined: on the wire, absent and null are two things. */
export function compact(fields: JsonObject): JsonDraft {
  const out: JsonDraft = {};
  for (const [key, value] of Object.entries(fields)) {
    if (value !== undefined) out[key] = value;
  }
  return out;
}
