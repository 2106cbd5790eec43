/**
 * Changing top-level fields of a JSON object without reading it into memory and writing it anew: everything else keeps its
 * bytes, so key order, number text and unknown fields survive. The input must be valid JSON (it has been parsed before).
 *
 * @module
 */

/** Where a top-level field stands, in bytes: of every occurrence, for a reader may take the first of duplicates or the last. */
interface FieldSpan {
  readonly key: string;
  readonly valueStart: number;
  readonly valueEnd: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();

/**
 * The object with top-level fields set: the value of each occurrence replaced, or the field added at the end where there is
 * none. Gives the same array back where `fields` is empty.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * const body = new TextEncoder().encode('{"n": 1.0, "model": "a"}');
 * const spliced = spliceFields(body, { model: "b" });
 * assert.equal(new TextDecoder().decode(spliced), '{"n": 1.0, "model": "b"}');
 * ```
 */
export function spliceFields(
  json: Uint8Array,
  fields: Readonly<Record<string, unknown>>,
): Uint8Array {
  const wanted = new Map(Object.entries(fields));
  if (wanted.size === 0) return json;
  const { spans, closing } = topLevel(json, wanted);
  const pieces: Uint8Array[] = [];
  let done = 0;
  const missing = new Set(wanted.keys());
  for (const span of spans) {
    missing.delete(span.key);
    pieces.push(
      json.subarray(done, span.valueStart),
      ENCODER.encode(JSON.stringify(wanted.get(span.key))),
    );
    done = span.valueEnd;
  }
  if (missing.size > 0) {
    pieces.push(json.subarray(done, closing));
    done = closing;
    let comma = !isEmptyObject(json, closing);
    for (const key of missing) {
      pieces.push(
        ENCODER.encode(
          `${comma ? "," : ""}${JSON.stringify(key)}:${
            JSON.stringify(wanted.get(key))
          }`,
        ),
      );
      comma = true;
    }
  }
  pieces.push(json.subarray(done));
  return joined(pieces);
}

/** The first top-level key that stands a second time, escapes resolved; undefined where there is none. */
export function repeatedKey(json: Uint8Array): string | undefined {
  const seen = new Set<string>();
  let depth = 0;
  let keyIsNext = true;
  for (let i = 0; i < json.length; i++) {
    switch (json[i]) {
      case QUOTE: {
        const end = stringEnd(json, i);
        if (depth === 1 && keyIsNext) {
          const key = keyText(json, i, end);
          if (seen.has(key)) return key;
          seen.add(key);
          keyIsNext = false;
        }
        i = end - 1;
        break;
      }
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth++;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth--;
        break;
      case COMMA:
        if (depth === 1) keyIsNext = true;
        break;
    }
  }
  return undefined;
}

/** The pieces one after another in one array. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const only = pieces[0];
  if (pieces.length === 1 && only !== undefined) return only;
  let length = 0;
  for (const piece of pieces) length += piece.length;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function topLevel(
  json: Uint8Array,
  wanted: ReadonlyMap<string, unknown>,
): { readonly spans: readonly FieldSpan[]; readonly closing: number } {
  const spans: FieldSpan[] = [];
  let depth = 0;
  let key: string | undefined;
  let valueStart = -1;
  let i = 0;
  const endValue = (end: number): void => {
    if (key !== undefined && valueStart >= 0) {
      spans.push({ key, valueStart, valueEnd: trimmedEnd(json, end) });
    }
    key = undefined;
    valueStart = -1;
  };
  for (; i < json.length; i++) {
    const byte = json[i];
    switch (byte) {
      case QUOTE: {
        const end = stringEnd(json, i);
        if (depth === 1 && valueStart < 0 && key === undefined) {
          const name = keyText(json, i, end);
          const colon = json.indexOf(COLON, end);
          i = colon;
          if (wanted.has(name)) {
            key = name;
            valueStart = skipBlank(json, colon + 1);
          } else {
            key = undefined;
            valueStart = Number.MAX_SAFE_INTEGER;
          }
          break;
        }
        i = end - 1;
        break;
      }
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth++;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth--;
        if (depth === 0) {
          endValue(i);
          return { spans, closing: i };
        }
        break;
      case COMMA:
        if (depth === 1) endValue(i);
        break;
    }
  }
  return { spans, closing: json.length };
}

/** Strings up to this length are gone through byte by byte: a native search costs more to call. */
const SHORT_STRING = 64;

/** The position behind the closing quote of the string that opens at `start`. */
function stringEnd(json: Uint8Array, start: number): number {
  const near = Math.min(start + SHORT_STRING, json.length);
  let at = start + 1;
  while (at < near) {
    const byte = json[at];
    if (byte === QUOTE) return at + 1;
    at += byte === BACKSLASH ? 2 : 1;
  }
  let quote = json.indexOf(QUOTE, at);
  while (quote >= 0) {
    let backslashes = 0;
    while (
      quote - backslashes > at && json[quote - 1 - backslashes] === BACKSLASH
    ) backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
    quote = json.indexOf(QUOTE, quote + 1);
  }
  return json.length;
}

function keyText(json: Uint8Array, start: number, end: number): string {
  const raw = DECODER.decode(json.subarray(start, end));
  return raw.includes("\\") ? String(JSON.parse(raw)) : raw.slice(1, -1);
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

function skipBlank(json: Uint8Array, from: number): number {
  let at = from;
  while (isBlank(json[at])) at++;
  return at;
}

function trimmedEnd(json: Uint8Array, end: number): number {
  let at = end;
  while (isBlank(json[at - 1])) at--;
  return at;
}

function isEmptyObject(json: Uint8Array, closing: number): boolean {
  return json[trimmedEnd(json, closing) - 1] === OPEN_BRACE;
}
