/**
 * Reads keys of a JSON text from its bytes exactly as `JSON.parse` does: what sets or leaves out a
 * field must find the field that others read.
 */
import { type JsonObject, parseJson } from "./json.ts";

/** A byte order mark is a character of the key, not of the encoding. */
const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

/** The key between two positions of UTF-8, without its quotes. */
export function keyText(json: Uint8Array, start: number, end: number): string {
  return unescapeKey(DECODER.decode(json.subarray(start, end)));
}

/** The key that is written as `raw`, without its quotes. */
export function unescapeKey(raw: string): string {
  return raw.includes("\\") ? String(parseJson(`"${raw}"`) ?? raw) : raw;
}

/**
 * The first key that only one of two readings of an object has; undefined if they have the same.
 *
 * @param fields the fields that splicing finds
 * @param json the object as it was parsed
 */
export function unsharedKey(
  fields: readonly { readonly key: string }[],
  json: JsonObject,
): string | undefined {
  const own = fields.find(({ key }) => !Object.hasOwn(json, key))?.key;
  if (own !== undefined) return own;
  const names = Object.keys(json);
  if (names.length === fields.length) return undefined;
  const spliced = new Set(fields.map(({ key }) => key));
  return names.find((name) => !spliced.has(name));
}
