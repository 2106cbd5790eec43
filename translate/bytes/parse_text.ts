/**
 * `JSON.parse` that reads every key. V8 may take a key with an escape for a key of an earlier text
 * at the same place (https://github.com/nodejs/node/issues/63785, read November 2026): after
 * `{"a":1,"\\u0073":1}` it reads `{"a":1,"\u0073tream":1}` without `stream`.
 */
import { stringEnd } from "./string_end.ts";

/** A string with an escape that opens where a key may; some are entries of arrays. */
const ESCAPED_KEY = /[{,]\s*"[^"\\]*\\/;

/** The first character of a key that replaces another. */
const MARK = "~";
const COLON_AHEAD = /\s*:/y;

/**
 * The value of a JSON text.
 *
 * @throws {SyntaxError} for a text that is not JSON
 */
export function parseText(
  text: string,
  reviver?: Parameters<typeof JSON.parse>[1],
): unknown {
  if (!text.includes("\\") || !ESCAPED_KEY.test(text)) {
    return JSON.parse(text, reviver);
  }
  try {
    const { plain, names } = withPlainKeys(text);
    const value: unknown = JSON.parse(plain, reviver);
    if (names.size > 0) rename(value, names);
    return value;
  } catch {
    // The position in the error is that of the text.
    return JSON.parse(text, reviver);
  }
}

/** The text with other keys in place of those with escapes, and the names of those. */
function withPlainKeys(
  text: string,
): { readonly plain: string; readonly names: ReadonlyMap<string, string> } {
  const names = new Map<string, string>();
  const places = new Map<string, string>();
  let plain = "";
  let done = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    const end = stringEnd(text, at);
    COLON_AHEAD.lastIndex = end;
    const raw = text.slice(at + 1, end - 1);
    if (
      (raw.includes("\\") || raw.startsWith(MARK)) && COLON_AHEAD.test(text)
    ) {
      let place = places.get(raw);
      if (place === undefined) {
        place = MARK + places.size;
        places.set(raw, place);
        names.set(place, JSON.parse(`"${raw}"`));
      }
      plain += `${text.slice(done, at)}"${place}"`;
      done = end;
    }
    at = end;
  }
  return { plain: plain + text.slice(done), names };
}

/** Gives the objects in a value their own keys. */
function rename(value: unknown, names: ReadonlyMap<string, string>): void {
  const left = [value];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (typeof next !== "object" || next === null) continue;
    const entries = Object.entries(next);
    for (const [, inner] of entries) {
      if (typeof inner === "object" && inner !== null) left.push(inner);
    }
    if (Array.isArray(next) || !entries.some(([key]) => names.has(key))) {
      continue;
    }
    for (const [key] of entries) Reflect.deleteProperty(next, key);
    for (const [key, inner] of entries) {
      Object.defineProperty(next, names.get(key) ?? key, {
        value: inner,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
  }
}
