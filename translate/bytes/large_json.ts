/**
 * Reads a JSON object of any size in steps, so that other work can run between two of them: one
 * pass finds the top level and the values that are long, then the text is parsed in segments. What
 * is read equals what `exactJson` and `topLevelOf` read at once.
 */
import { duplicateKey } from "./duplicate_key.ts";
import { exactJson } from "./exact_json.ts";
import { isObject, type JsonDraft, type JsonObject } from "./json.ts";
import { unescapeKey } from "./key_text.ts";
import type { FieldSpan, Look, TopLevel } from "./json_splice.ts";

/** Bytes of a step, about: a millisecond's work. */
const STEP_BYTES = 128 * 1024;

/** A segment is cut at a comma: what is left of it are a key and a value that are not long. */
const MAX_SEGMENT_BYTES = 4 * STEP_BYTES;

/** Bytes that are no JSON; the message names the place. */
export class LargeJsonError extends Error {}

/** What is found at once by one pass over the bytes. */
interface LargeObject {
  readonly top: TopLevel;
  /** Parses the object in steps; only if the {@linkcode Look} is not exceeded, and once. */
  parse(): Generator<void, JsonObject, void>;
  /** As {@linkcode duplicateKey}, in steps; only after `parse`. */
  duplicateKey(
    freeForm: ReadonlySet<string>,
  ): Generator<void, string | undefined, void>;
}

/** A value that is longer than a step, with its brackets or quotes. */
interface LongValue {
  readonly start: number;
  readonly end: number;
  readonly open: number;
  /** The segments of a container; empty for other values. */
  readonly segments: readonly Segment[];
}

/** A part of a container between two commas, or its whole inside. */
interface Segment {
  readonly from: number;
  readonly to: number;
  /** The only value of the segment, if it is long. */
  readonly long: LongValue | undefined;
  /** Number of values; known after parsing. */
  size: number;
  /** The long value's key, if the container is an object; known after parsing. */
  key: string;
}

/** A container that is being read. */
interface Level {
  readonly start: number;
  readonly open: number;
  readonly segments: Segment[];
  /** Where the next segment begins. */
  from: number;
  lastComma: number;
  long: LongValue | undefined;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;
const LETTER_U = 0x75;

const LENIENT = new TextDecoder("utf-8", { ignoreBOM: true });
const STRICT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const REPLACEMENT = "\ufffd";

/**
 * Finds the top level of an object and its long values.
 *
 * @param look absent: nothing is bounded or looked for
 * @throws {LargeJsonError} for bytes that are no object; not all of them are noticed before parsing
 */
export function* largeObject(
  bytes: Uint8Array,
  look?: Look,
): Generator<void, LargeObject, void> {
  const start = afterBlank(bytes, 0);
  if (bytes[start] !== OPEN_BRACE) {
    throw new LargeJsonError("the body must be a JSON object");
  }
  const { maxFields = Infinity, maxParts = Infinity, maxValues = Infinity } =
    look ?? {};
  let values = 0;
  const fields: FieldSpan[] = [];
  const levels: Level[] = [];
  let level: Level | undefined;
  let root: LongValue | undefined;
  let deepest = 0;
  let parts = 0;
  let keys = 0;
  let otherSpelling = false;
  /** The last string. */
  let stringStart = start;
  let stringEnd = start;
  let inString = false;
  /** Key of the field of the top level that is being read. */
  let key: string | undefined;
  let keyStart = 0;
  let valueStart = 0;

  const topLevel = (exceeds?: TopLevel["exceeds"]): TopLevel => ({
    fields,
    closing: (root?.end ?? bytes.length) - 1,
    depth: deepest,
    parts,
    keys,
    otherSpelling,
    ...(exceeds === undefined ? {} : { exceeds }),
  });
  const tooLarge = (exceeds: TopLevel["exceeds"]): LargeObject => ({
    top: topLevel(exceeds),
    // deno-lint-ignore require-yield
    *parse() {
      throw new Error("too much to parse");
    },
    // deno-lint-ignore require-yield
    *duplicateKey() {
      return undefined;
    },
  });
  const endField = (at: number): void => {
    if (key === undefined) return;
    fields.push({
      key,
      keyStart,
      valueStart: afterBlank(bytes, valueStart),
      valueEnd: beforeBlank(bytes, at),
    });
    key = undefined;
  };
  const endSegment = (of: Level, to: number): void => {
    const longBytes = of.long === undefined ? 0 : of.long.end - of.long.start;
    if (to - of.from - longBytes > MAX_SEGMENT_BYTES) {
      throw new LargeJsonError(
        `the body has a number or blanks of more than ${STEP_BYTES} bytes`,
      );
    }
    of.segments.push({ from: of.from, to, long: of.long, size: 0, key: "" });
    of.from = to + 1;
    of.long = undefined;
  };
  /** Gives a long value a segment of its own. */
  const isolate = (value: LongValue): void => {
    if (level === undefined) return;
    if (level.lastComma >= level.from) endSegment(level, level.lastComma);
    if (level.long !== undefined) throw brokenAt(value.start);
    level.long = value;
  };

  let at = start;
  scan:
  while (at < bytes.length) {
    const stop = Math.min(at + STEP_BYTES, bytes.length);
    for (; at < stop; at++) {
      const byte = bytes[at];
      if (inString) {
        if (byte === BACKSLASH) at++;
        else if (byte === QUOTE) {
          inString = false;
          stringEnd = at + 1;
          if (stringEnd - stringStart > STEP_BYTES) {
            isolate({
              start: stringStart,
              end: stringEnd,
              open: QUOTE,
              segments: [],
            });
          }
        }
        continue;
      }
      switch (byte) {
        case QUOTE:
          inString = true;
          stringStart = at;
          break;
        case COLON: {
          keys++;
          if (stringEnd - stringStart > STEP_BYTES) {
            throw new LargeJsonError(
              `the body has a key of more than ${STEP_BYTES} bytes`,
            );
          }
          const isTop = levels.length === 1 && key === undefined;
          if (isTop) {
            if (fields.length >= maxFields) return tooLarge("maxFields");
            key = keyOf(bytes, stringStart, stringEnd);
            keyStart = stringStart;
            valueStart = at + 1;
            otherSpelling ||= look?.isOther?.(key) === true;
          } else if (
            look?.isOther !== undefined && !otherSpelling &&
            hasUnusual(bytes, stringStart + 1, stringEnd - 1)
          ) {
            otherSpelling = look.isOther(keyOf(bytes, stringStart, stringEnd));
          }
          break;
        }
        case OPEN_BRACE:
        case OPEN_BRACKET:
          if (++parts > maxParts) return tooLarge("maxParts");
          if (++values > maxValues) return tooLarge("maxValues");
          level = {
            start: at,
            open: byte,
            segments: [],
            from: at + 1,
            lastComma: 0,
            long: undefined,
          };
          levels.push(level);
          if (levels.length > deepest) deepest = levels.length;
          break;
        case CLOSE_BRACE:
        case CLOSE_BRACKET: {
          const closed = levels.pop();
          // The codes of a closing bracket and of its opening one differ by two.
          if (closed === undefined || closed.open !== byte - 2) {
            throw brokenAt(at);
          }
          level = levels.at(-1);
          const isLong = at + 1 - closed.start > STEP_BYTES;
          if (isLong || level === undefined) {
            endSegment(closed, at);
            const { open, segments } = closed;
            const value = { start: closed.start, end: at + 1, open, segments };
            isolate(value);
            if (level === undefined) {
              endField(at);
              root = value;
              break scan;
            }
          }
          break;
        }
        case COMMA:
          if (++parts > maxParts) return tooLarge("maxParts");
          if (levels.length === 1) endField(at);
          if (level === undefined) throw brokenAt(at);
          if (level.open === OPEN_BRACE && ++values > maxValues) {
            return tooLarge("maxValues");
          }
          if (level.long !== undefined || at - level.from > STEP_BYTES) {
            endSegment(level, at);
          }
          level.lastComma = at;
          break;
      }
    }
    yield;
  }
  if (root === undefined) {
    throw new LargeJsonError("the body is not valid JSON: it ends too early");
  }
  if (afterBlank(bytes, root.end) < bytes.length) throw brokenAt(root.end);
  const whole = root;
  return {
    top: topLevel(),
    *parse() {
      // The root is an object.
      return (yield* parseLong(bytes, whole)) as JsonObject;
    },
    duplicateKey: (freeForm) => duplicateIn(bytes, whole, freeForm, ""),
  };
}

function* parseLong(
  bytes: Uint8Array,
  value: LongValue,
): Generator<void, unknown, void> {
  if (value.open === QUOTE) return yield* parseString(bytes, value);
  const isArray = value.open === OPEN_BRACKET;
  const list: unknown[] = [];
  const object: JsonDraft = {};
  for (const segment of value.segments) {
    const { long, from } = segment;
    const read = parseAt(segmentText(bytes, segment, value.open), from);
    const inner = long === undefined ? undefined : yield* parseLong(
      bytes,
      long,
    );
    if (isArray && Array.isArray(read)) {
      segment.size = read.length;
      const isBlank = read.length === 0 && value.segments.length > 1;
      const isWrong = long !== undefined &&
        (read.length !== 1 || read[0] !== null);
      if (isBlank || isWrong) throw brokenAt(from);
      if (long !== undefined) list.push(inner);
      else for (const one of read) list.push(one);
    } else if (!isArray && isObject(read)) {
      const names = Object.keys(read);
      segment.size = names.length;
      const isBlank = names.length === 0 && value.segments.length > 1;
      const [name = ""] = names;
      const isWrong = long !== undefined &&
        (names.length !== 1 || read[name] !== null);
      if (isBlank || isWrong) throw brokenAt(from);
      segment.key = name;
      for (const key of names) {
        put(object, key, long === undefined ? read[key] : inner);
      }
    }
    yield;
  }
  return isArray ? list : object;
}

/** The text of a segment as a container; a long value is null in it. */
function segmentText(
  bytes: Uint8Array,
  { from, to, long }: Segment,
  open: number,
): string {
  const inside = long === undefined
    ? decode(bytes, from, to)
    : `${decode(bytes, from, long.start)}null${decode(bytes, long.end, to)}`;
  return open === OPEN_BRACKET ? `[${inside}]` : `{${inside}}`;
}

function* parseString(
  bytes: Uint8Array,
  { start, end }: LongValue,
): Generator<void, string, void> {
  let text = "";
  const close = end - 1;
  for (let from = start + 1; from < close;) {
    const to = characterEnd(bytes, from, close);
    const read = parseAt(`"${decode(bytes, from, to)}"`, from);
    // A quoted text is a string.
    text += read as string;
    from = to;
    yield;
  }
  return text;
}

/** A position about a step further that is inside no character and no escape. */
function characterEnd(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  const stop = Math.min(from + STEP_BYTES, end);
  while (at < stop) {
    at += bytes[at] !== BACKSLASH ? 1 : bytes[at + 1] === LETTER_U ? 6 : 2;
  }
  while (at < end && ((bytes[at] ?? 0) & 0xc0) === 0x80) at++;
  return Math.min(at, end);
}

/** The first repeated key of a long value's objects, with its path. */
function* duplicateIn(
  bytes: Uint8Array,
  { open, segments }: LongValue,
  freeForm: ReadonlySet<string>,
  at: string,
): Generator<void, string | undefined, void> {
  const isArray = open === OPEN_BRACKET;
  const seen = new Set<string>();
  let index = 0;
  for (const segment of segments) {
    const { long, key, size } = segment;
    const text = segmentText(bytes, segment, open);
    if (!isArray) {
      for (const name of Object.keys(exactJson(text) as JsonObject)) {
        if (seen.has(name)) return joinPath(at, name);
        seen.add(name);
      }
    }
    const found = duplicateKey(text, freeForm);
    if (found !== undefined) {
      // An array's path begins with the index within the segment.
      const [, within, rest = ""] = /^\[(\d+)\](.*)$/s.exec(found) ?? [];
      return isArray && within !== undefined
        ? `${at}[${index + Number(within)}]${rest}`
        : joinPath(at, found);
    }
    yield;
    if (long !== undefined && long.open !== QUOTE) {
      const isFree = !isArray && long.open === OPEN_BRACE && freeForm.has(key);
      const inner = isFree ? undefined : yield* duplicateIn(
        bytes,
        long,
        freeForm,
        isArray ? `${at}[${index}]` : joinPath(at, key),
      );
      if (inner !== undefined) return inner;
    }
    index += size;
  }
  return undefined;
}

function joinPath(at: string, key: string): string {
  return at === "" ? key : `${at}.${key}`;
}

/** Sets a key that may be `__proto__`. */
function put(object: JsonDraft, key: string, value: unknown): void {
  if (key !== "__proto__") object[key] = value;
  else {
    Object.defineProperty(object, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
}

function parseAt(text: string, from: number): unknown {
  const value = exactJson(text);
  if (value === undefined) throw brokenAt(from);
  return value;
}

function brokenAt(at: number): LargeJsonError {
  return new LargeJsonError(`the body is not valid JSON after byte ${at}`);
}

/**
 * The strict decoder takes seven times as long: it runs only where the other replaced something.
 */
function decode(bytes: Uint8Array, from: number, to: number): string {
  const piece = bytes.subarray(from, to);
  const text = LENIENT.decode(piece);
  if (!text.includes(REPLACEMENT)) return text;
  try {
    return STRICT.decode(piece);
  } catch {
    throw new LargeJsonError("the body is not valid UTF-8");
  }
}

/** The key whose text with its quotes is between two positions. */
function keyOf(bytes: Uint8Array, start: number, end: number): string {
  return unescapeKey(decode(bytes, start + 1, end - 1));
}

/** Whether a key is written with capitals, escapes or characters beyond ASCII. */
function hasUnusual(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = bytes[at] ?? 0;
    if (code > 0x7e || (code >= 0x41 && code <= 0x5a) || code === BACKSLASH) {
      return true;
    }
  }
  return false;
}

function isBlank(code: number | undefined): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;
}

function afterBlank(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isBlank(bytes[at])) at++;
  return at;
}

function beforeBlank(bytes: Uint8Array, end: number): number {
  let at = end;
  while (isBlank(bytes[at - 1])) at--;
  return at;
}
