/** Readers for JSON from outside: they accept any value and never throw. */

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | JsonObject;

export interface JsonObject {
  /** The fields; undefined when absent. */
  readonly [key: string]: Json | undefined;
}

/** The value of a JSON text; undefined when the text is not JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** The value when it is an object, otherwise an empty one. */
export function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** True for an object, not for null or an array. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value when it is an array, otherwise an empty one. */
export function arrayOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** The value when it is a string, otherwise undefined. */
export function stringOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The value when it is a number, otherwise undefined. */
export function numberOf(value: Json | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}
