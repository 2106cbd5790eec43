/**
 * Parses JSON without rounding numbers: an id of twenty digits in a call's arguments is the
 * client's data, and a double would round it; `1e400` would become null. Such numbers become
 * objects that `JSON.stringify` writes back digit by digit (ECMAScript's `JSON.rawJSON`).
 */
import {
  isObject,
  type JsonObject,
  MAX_LEVELS,
  nestsWithin,
  parseJson,
} from "./json.ts";
import { parseText } from "./parse_text.ts";
import { unreadableReply } from "../model/reply_faults.ts";

/**
 * A number that a double may round, at the start of a JSON value. A match inside a string only
 * costs the slower parse. The sixteen digits are written out, not as `\d{16}`: then V8 skips
 * sixteen characters at a time. The sign is one of the characters before them, not an optional
 * part, because an id with many digits would be searched a second time.
 */
const LONG_NUMBER = /(?:^|[-:,[\s])\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d/;

/** A number that may exceed a double's range, at the start of a JSON value. */
const LARGE_EXPONENT = /(?:^|[:,[\s])-?\d[\d.]*[eE]\+?\d{3}/;

/** The end of such a number: cheaper to search for, and rare. */
const THREE_DIGIT_EXPONENT = /\d[eE]\+?\d\d\d/;

/** Whether a double may round a number in the text, or lies beyond a double's range. */
export function mayRound(text: string): boolean {
  return LONG_NUMBER.test(text) ||
    THREE_DIGIT_EXPONENT.test(text) && LARGE_EXPONENT.test(text);
}

/**
 * Like `parseJson`, but integers beyond a double's precision and numbers beyond its range keep
 * their text when they are written again.
 */
export function exactJson(text: string): unknown {
  if (!mayRound(text)) return parseJson(text);
  const rawJson: unknown = Reflect.get(JSON, "rawJSON");
  if (typeof rawJson !== "function") return parseJson(text);
  const keepExact = (...[, value, context]: unknown[]): unknown => {
    const source = isObject(context) ? context["source"] : undefined;
    const isInexact = typeof value === "number" &&
      !Number.isSafeInteger(value) &&
      (Number.isInteger(value) || !Number.isFinite(value));
    return isInexact && typeof source === "string" ? rawJson(source) : value;
  };
  try {
    return parseText(text, keepExact);
  } catch {
    // Not JSON, or nested too deep for the reviver.
    return parseJson(text);
  }
}

/**
 * The object with its own numbers as doubles, those in deeper values unchanged: for fields that are
 * read as numbers.
 */
export function withDoubles(object: JsonObject): JsonObject {
  const isRaw: unknown = Reflect.get(JSON, "isRawJSON");
  if (typeof isRaw !== "function") return object;
  let read: Record<string, unknown> | undefined;
  for (const key in object) {
    const value = object[key];
    if (!isRaw(value)) continue;
    read ??= { ...object };
    read[key] = Number(JSON.stringify(value));
  }
  return read ?? object;
}

/**
 * The JSON text of a value that {@linkcode exactJson} parsed from an upstream's bytes.
 *
 * @throws {ApiError} `upstream` for values nested deeper than {@linkcode MAX_LEVELS}, which V8 can
 * parse but not write
 */
export function upstreamJson(value: unknown): string {
  if (!nestsWithin(value, MAX_LEVELS)) {
    throw unreadableReply("its JSON nests too deep");
  }
  return JSON.stringify(value);
}
