/**
 * JSON values shared by all dialects, and safe access to values that have not been validated. What
 * a field means is defined in each dialect's `wire.ts`.
 */
import { parseText } from "./parse_text.ts";

/** A JSON object whose fields have not been validated. */
export type JsonObject = { readonly [key: string]: unknown };

/** A JSON object under construction. Never the client's own object, which is not modified. */
export type JsonDraft = { [key: string]: unknown };

/** Whether a value is a JSON object; arrays and null are not. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The value as an object; an empty object if it is not one. For upstream data, never for client
 * data.
 */
export function objectOr(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The value as an array; an empty array if it is not one. */
export function arrayOr(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The entries of a list; what is none is read as its only entry, null and undefined as none. */
export function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
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

/** Whether there is something in the place of a count that is none: a text, a negative number. */
export function isNoCount(value: unknown): boolean {
  return value !== undefined && value !== null && countIn(value) === undefined;
}

/**
 * A count of generated tokens. What is no count reads as 0, in the place of an earlier count, too:
 * beside a text that was received, 0 is no count.
 */
export function outputCountIn(value: unknown): number | undefined {
  return isNoCount(value) ? 0 : countIn(value);
}

/**
 * `JSON.parse` that returns undefined for text that is not JSON. JSON has no undefined, so the
 * result is unambiguous.
 */
export function parseJson(text: string): unknown {
  try {
    return parseText(text);
  } catch {
    return undefined;
  }
}

/**
 * Whether a JSON value nests at most `levels` levels of objects and arrays. Iterative, so deep
 * values cannot exhaust the stack.
 */
export function nestsWithin(value: unknown, levels: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= levels; depth++) {
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item !== "object" || item === null) continue;
      for (const child of Object.values(item)) next.push(child);
    }
    if (next.length === 0) return true;
    level = next;
  }
  return false;
}

/**
 * Most levels of a JSON value that is written again: V8 writes recursively, and its stack overflows
 * beyond some 4,000.
 */
export const MAX_LEVELS: number = 2_000;
