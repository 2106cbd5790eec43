/**
 * Changes top-level fields of a JSON object directly in its bytes. Everything else keeps its bytes,
 * so key order, number text and unknown fields survive. The input must be valid JSON (it has been
 * parsed before).
 */
import { encodeText, joinPieces } from "./buffers.ts";
import type { Edit } from "./apply_edits.ts";
import { mayRound } from "./exact_json.ts";
import { keyText, unescapeKey } from "./key_text.ts";
import { jsonPieces } from "./json_pieces.ts";
import { stringEnd } from "./string_end.ts";
import type { Steps } from "../steps.ts";

/** Byte positions of a top-level field. */
export interface FieldSpan {
  readonly key: string;
  /** Position of the key's opening quote. */
  readonly keyStart: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

/** Byte positions of the top level of a JSON object. */
export interface TopLevel {
  /** Every occurrence, in order: a JSON parser may use the first or the last of duplicate keys. */
  readonly fields: readonly FieldSpan[];
  /** The position of the object's closing brace. */
  readonly closing: number;
  /** Levels of nested objects and arrays; the object itself is the first. */
  readonly depth: number;
  /** Objects, arrays and commas: how much there is to read. */
  readonly parts: number;
  /** Keys of objects of every level, each occurrence. */
  readonly keys: number;
  /**
   * Whether a key, of any level, is another spelling of a known one. Set only with a {@linkcode
   * Look}.
   */
  readonly otherSpelling?: boolean;
  /** Whether a number is one that a double may round: `exactJson` reads it. Absent: unknown. */
  readonly hasLongNumber?: boolean;
  /**
   * The bound of the {@linkcode Look} that is exceeded; the rest of the bytes was not read. Absent:
   * none.
   */
  readonly exceeds?: keyof Look & `max${string}`;
}

/** What to look for on the way through an object that a client wrote. */
export interface Look {
  /** Whether a key is another spelling of a known one. */
  isOther?(key: string): boolean;
  /** Most fields of the top level. */
  readonly maxFields?: number;
  /** Most objects, arrays and commas. */
  readonly maxParts?: number;
  /** Most objects, arrays and keys; only `largeObject` reads it. */
  readonly maxValues?: number;
}

const NOTHING = new Uint8Array(0);
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;
const ZERO = 0x30;
const NINE = 0x39;
const POINT = 0x2e;
/** The letter `e`, and the bit in which it differs from `E`. */
const EXPONENT = 0x65;
const LOWER_CASE = 0x20;
/** The first letter of `null`. */
const SMALL_N = 0x6e;
/** An exponent that is beyond a double's range has that many characters at least: `e+400`. */
const EXPONENT_CHARS = 5;
/** The least digits of a whole number that a double may round. */
const LONG_NUMBER = 16;

/**
 * Decodes each byte to one character, so that text positions equal byte positions; ASCII is
 * unchanged.
 */
const BYTE_BY_BYTE = new TextDecoder("windows-1252");

/**
 * The object with top-level fields set and others left out: the value of each occurrence is
 * replaced, or the field is added at the end if it is absent. Returns the same array if nothing
 * changes.
 *
 * @param top the result of {@linkcode topLevelOf} for the same bytes, if it is known already
 * @param remove keys to leave out, every occurrence; must not be in `fields`
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
  top: TopLevel = topLevelOf(json),
  remove: readonly string[] = [],
): Uint8Array {
  const changes = changesOf(fields, top, remove);
  if (changes.length === 0) return json;
  const pieces: Uint8Array[] = [];
  let done = 0;
  for (const change of changes) {
    pieces.push(json.subarray(done, change.start));
    const text = textOf(change, fields);
    if (text !== "") pieces.push(encodeText(text));
    done = change.end;
  }
  pieces.push(json.subarray(done));
  return joinPieces(pieces);
}

/** As {@linkcode spliceFields}, for values of any size: they are written in steps. */
export function* spliceLong(
  json: Uint8Array,
  fields: Readonly<Record<string, unknown>>,
  top: TopLevel,
): Steps<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let done = 0;
  for (const { start, end, before, name } of changesOf(fields, top, [])) {
    pieces.push(json.subarray(done, start), encodeText(before));
    done = end;
    if (name === undefined) continue;
    for (const text of jsonPieces(fields[name])) {
      pieces.push(encodeText(text));
      yield;
    }
  }
  pieces.push(json.subarray(done));
  return joinPieces(pieces);
}

/**
 * As {@linkcode spliceFields}, for an object's text of ASCII.
 *
 * @param top the result of {@linkcode topLevelOf} for the text and its bytes
 */
export function spliceText(
  json: string,
  fields: Readonly<Record<string, unknown>>,
  top: TopLevel,
): string {
  let spliced = "";
  let done = 0;
  for (const change of changesOf(fields, top, [])) {
    spliced += json.slice(done, change.start) + textOf(change, fields);
    done = change.end;
  }
  return spliced + json.slice(done);
}

/** The edits that leave out the occurrences of a top-level field that are null. */
export function nullFieldEdits(
  json: Uint8Array,
  key: string,
): readonly Edit[] {
  const top = topLevelOf(json);
  const isNull = top.fields.some((field) =>
    field.key === key && json[field.valueStart] === SMALL_N
  );
  return isNull
    ? changesOf({}, top, [key]).map(({ start, end }) => ({
      start,
      end,
      bytes: NOTHING,
    }))
    : [];
}

/** A part of an object's text and what replaces it. */
interface Change {
  readonly start: number;
  readonly end: number;
  /** Precedes the value. */
  readonly before: string;
  /** The field whose value is written; absent: none. */
  readonly name?: string;
}

function textOf(
  { before, name }: Change,
  fields: Readonly<Record<string, unknown>>,
): string {
  return name === undefined ? before : before + JSON.stringify(fields[name]);
}

/** The changes that set some fields and leave out others, in order. */
function changesOf(
  fields: Readonly<Record<string, unknown>>,
  top: TopLevel,
  remove: readonly string[],
): readonly Change[] {
  const names = Object.keys(fields);
  const changes: Change[] = [];
  let kept = 0;
  let index = -1;
  for (const { key, keyStart, valueStart, valueEnd } of top.fields) {
    index++;
    if (remove.includes(key)) {
      // With the comma before it, or after it where no kept field precedes it.
      const last = top.fields[index - 1]?.valueEnd ?? keyStart;
      const next = top.fields[index + 1]?.keyStart ?? valueEnd;
      changes.push({
        start: kept > 0 ? last : keyStart,
        end: kept > 0 ? valueEnd : next,
        before: "",
      });
      continue;
    }
    kept++;
    if (!names.includes(key)) continue;
    changes.push({ start: valueStart, end: valueEnd, before: "", name: key });
  }
  const { closing } = top;
  for (const name of names) {
    if (top.fields.some(({ key }) => key === name)) continue;
    const before = `${kept > 0 ? "," : ""}${JSON.stringify(name)}:`;
    changes.push({ start: closing, end: closing, before, name });
    kept++;
  }
  return changes;
}

/**
 * Finds the top-level fields of an object. Bytes that are not JSON give a result without a meaning.
 *
 * @param text the decoded bytes, if known: saves a second decoding where all of it is ASCII
 * @param look absent: nothing is bounded or looked for
 */
export function topLevelOf(
  json: Uint8Array,
  text?: string,
  look?: Look,
): TopLevel {
  const isAscii = text?.length === json.length;
  const chars = isAscii ? text : BYTE_BY_BYTE.decode(json);
  const fields: FieldSpan[] = [];
  let depth = 0;
  let deepest = 0;
  let key: string | undefined;
  let keyStart = 0;
  let valueStart = 0;
  /**
   * The first character of the last string, and its closing quote; keys of the top level do not
   * count.
   */
  let stringStart = 0;
  let stringClose = 0;
  let otherSpelling = false;
  let hasLongNumber = false;
  const { maxFields = Infinity, maxParts = Infinity } = look ?? {};
  let parts = 0;
  let innerKeys = 0;
  const keyAt = (start: number, end: number): string => {
    const read = chars.slice(start, end);
    return isAscii || ASCII.test(read)
      ? unescapeKey(read)
      : keyText(json, start, end);
  };
  const endAt = (exceeds: "maxFields" | "maxParts"): TopLevel => ({
    fields,
    closing: chars.length,
    depth: deepest,
    parts,
    keys: fields.length + innerKeys,
    exceeds,
  });
  const endValue = (at: number): void => {
    if (key === undefined) return;
    fields.push({
      key,
      keyStart,
      valueStart: skipBlank(chars, valueStart),
      valueEnd: trimmedEnd(chars, at),
    });
    key = undefined;
  };
  for (let i = 0; i < chars.length; i++) {
    const code = chars.charCodeAt(i);
    switch (code) {
      case QUOTE: {
        const end = stringEnd(chars, i);
        if (depth === 1 && key === undefined) {
          key = keyAt(i + 1, end - 1);
          otherSpelling ||= look?.isOther?.(key) === true;
          if (fields.length >= maxFields) return endAt("maxFields");
          keyStart = i;
          i = chars.indexOf(":", end);
          if (i < 0) i = chars.length;
          valueStart = i + 1;
        } else {
          stringStart = i + 1;
          stringClose = end - 1;
          i = stringClose;
        }
        break;
      }
      case COLON:
        innerKeys++;
        if (look?.isOther === undefined || otherSpelling) break;
        otherSpelling = hasUnusual(chars, stringStart, stringClose) &&
          look.isOther(keyAt(stringStart, stringClose));
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth++;
        if (++parts > maxParts) return endAt("maxParts");
        if (depth > deepest) deepest = depth;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth--;
        if (depth > 0) break;
        endValue(i);
        return {
          fields,
          closing: i,
          depth: deepest,
          parts,
          keys: fields.length + innerKeys,
          otherSpelling,
          hasLongNumber,
        };
      case COMMA:
        if (++parts > maxParts) return endAt("maxParts");
        if (depth === 1) endValue(i);
        break;
      default: {
        if (!isDigit(code)) break;
        const end = numberEnd(chars, i);
        const isUnusual = end - i >= LONG_NUMBER ||
          (chars.charCodeAt(end) | LOWER_CASE) === EXPONENT;
        hasLongNumber ||= isUnusual &&
          mayRound(chars.slice(i, end + EXPONENT_CHARS));
        i = end - 1;
      }
    }
  }
  return {
    fields,
    closing: chars.length,
    depth: deepest,
    parts,
    keys: fields.length + innerKeys,
    otherSpelling,
    hasLongNumber,
  };
}

/** The position after the digits and points from `start` on. */
function numberEnd(chars: string, start: number): number {
  let at = start + 1;
  while (isDigit(chars.charCodeAt(at)) || chars.charCodeAt(at) === POINT) at++;
  return at;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** Whether a key is written with capitals, escapes or characters beyond ASCII. */
function hasUnusual(chars: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const code = chars.charCodeAt(i);
    if (code > 0x7e || (code >= 0x41 && code <= 0x5a) || code === BACKSLASH) {
      return true;
    }
  }
  return false;
}

/** One byte per character. */
const ASCII = /^[\x20-\x7e]*$/;

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;
}

function skipBlank(chars: string, from: number): number {
  let at = from;
  while (isBlank(chars.charCodeAt(at))) at++;
  return at;
}

function trimmedEnd(chars: string, end: number): number {
  let at = end;
  while (isBlank(chars.charCodeAt(at - 1))) at--;
  return at;
}
