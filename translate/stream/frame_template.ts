/**
 * Matches a frame with the one before. In a long answer nearly all frames differ from their
 * neighbours only in the delta's text, and perhaps in padding and token counts. Such a frame is
 * matched by comparing bytes, and its text and counts are found without parsing it. All its other
 * bytes equal the parsed frame's, so nothing is guessed.
 */
import { applyEdits, type Edit } from "../bytes/apply_edits.ts";

/** The values of a dialect's frames that may differ. */
export interface VariableKeys {
  /** Keys whose value is a delta's text. */
  readonly texts: ReadonlySet<string>;
  /** Keys whose value is padding of random length. */
  readonly padding: ReadonlySet<string>;
  /** Keys whose value is a count, inside an object that the frame's decoder remembers. */
  readonly counts?: ReadonlySet<string>;
}

export interface MatchedFrame {
  /** The delta's text. */
  text(): string;
  /** Passes each count with its key. */
  eachCount(visit: (key: string, count: number) => void): void;
  /** The count of a key; undefined where the frame has none. */
  count(key: string): number | undefined;
}

/**
 * Matches frames with the learned one. The members describe the frame that {@linkcode
 * FrameTemplate.matchEnd} found last.
 */
export interface FrameTemplate extends MatchedFrame {
  /**
   * The position after the frame that starts at `at`, if it matches the learned one and is
   * complete; else -1.
   */
  matchEnd(chunk: Uint8Array, at: number): number;
  /**
   * The position in the chunk up to which {@linkcode FrameTemplate.head} replaces the frame's own
   * bytes.
   */
  headEnd(): number;
  /** The start of the frame with its changes; undefined where it stays. */
  readonly head: Uint8Array | undefined;
  /**
   * The position in the chunk from which {@linkcode FrameTemplate.foot} replaces the frame's own
   * bytes.
   */
  footStart(): number;
  /** The end of the frame with its changes; undefined where it stays. */
  readonly foot: Uint8Array | undefined;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const SPACE = 0x20;
const SMALL_U = 0x75;
/** Characters that may follow a backslash in JSON, except `u`. */
const ESCAPES: ReadonlySet<number> = new Set(
  new TextEncoder().encode('"\\/bfnrt'),
);
/**
 * A frame of one data line and at most an event line: only there is every quoted string a JSON
 * string.
 */
const PLAIN_FRAME =
  /^(?:event: ?[^\r\n]*(?:\r\n|\n|\r))?data: ?\{[^\r\n]*\}[ \t]*(?:\r\n|\n|\r){2}$/;

/** Characters that may follow a count: a comma, a closing brace, a space. */
const COUNT_ENDS: ReadonlySet<number> = new Set([0x2c, 0x7d, SPACE]);

/** Keeps a byte order mark: in the middle of a stream it is an ordinary character. */
const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

/** Up to this length, ASCII is decoded faster here than by the platform's decoder. */
const MAX_SHORT_TEXT = 48;

/** A double represents every integer of this many digits. */
const MAX_DIGITS = 15;

/** Start and end of a value that may differ, without its quotes. */
interface Slot {
  readonly kind: "text" | "padding" | "count";
  readonly key: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Learns from a frame whose only event was a delta of `text`; undefined where the text does not
 * occur exactly once, or where a change is between values that differ.
 *
 * @param edits the changes of the frame, in order
 */
export function frameTemplate(
  frame: Uint8Array,
  text: string,
  varying: VariableKeys,
  edits: readonly Edit[] = [],
): FrameTemplate | undefined {
  if (!PLAIN_FRAME.test(DECODER.decode(frame))) return undefined;
  const slots = slotsOf(frame, text, varying);
  const first = slots[0];
  const last = slots.at(-1);
  if (
    first === undefined || last === undefined ||
    slots.filter((slot) => slot.kind === "text").length !== 1
  ) return undefined;
  const before = edits.filter((edit) => edit.end <= first.start);
  const behind = edits.filter((edit) => edit.start >= last.end);
  if (before.length + behind.length < edits.length) return undefined;
  const segments: Uint8Array[] = [];
  let from = 0;
  for (const slot of slots) {
    segments.push(frame.slice(from, slot.start));
    from = slot.end;
  }
  return new Template(
    slots,
    segments,
    frame.slice(from),
    before.length === 0 ? undefined : applyEdits(frame, before, 0, first.start),
    behind.length === 0 ? undefined : applyEdits(frame, behind, last.end),
  );
}

class Template implements FrameTemplate {
  readonly head: Uint8Array | undefined;
  readonly foot: Uint8Array | undefined;
  readonly #slots: readonly Slot[];
  /** The bytes before each value that may differ. */
  readonly #segments: readonly Uint8Array[];
  /** The bytes after the last one. */
  readonly #tail: Uint8Array;
  /** Some vendors pad with spaces between the closing brackets. */
  readonly #blanksInTail: boolean;
  #chunk: Uint8Array = new Uint8Array(0);
  #headEnd = 0;
  #footStart = 0;
  #start = 0;
  #end = 0;
  #isPlain = true;
  #isAscii = true;
  /** Whether the last string that was scanned has no escapes. */
  #sawPlain = true;
  /** Whether the last string that was scanned is ASCII. */
  #sawAscii = true;
  /** The number that the last digits that were scanned form. */
  #sawCount = 0;
  /** One per slot; meaningless for slots that are not counts. */
  readonly #counts: number[];

  constructor(
    slots: readonly Slot[],
    segments: readonly Uint8Array[],
    tail: Uint8Array,
    head: Uint8Array | undefined,
    foot: Uint8Array | undefined,
  ) {
    this.head = head;
    this.foot = foot;
    this.#slots = slots;
    this.#counts = slots.map(() => 0);
    this.#segments = segments;
    this.#tail = tail;
    this.#blanksInTail = tail.indexOf(QUOTE, 1) < 0;
  }

  matchEnd(chunk: Uint8Array, from: number): number {
    let at = from;
    for (let n = 0; n < this.#segments.length; n++) {
      const segment = this.#segments[n];
      const kind = this.#slots[n]?.kind;
      if (segment === undefined) return -1;
      const stop = at + segment.length;
      if (stop > chunk.length) return -1;
      for (let i = 0; at < stop; i++, at++) {
        if (chunk[at] !== segment[i]) return -1;
      }
      if (n === 0) this.#headEnd = at;
      const end = kind === "count"
        ? this.#digitsEnd(chunk, at)
        : this.#stringEnd(chunk, at);
      if (end < 0) return -1;
      if (kind === "count") this.#counts[n] = this.#sawCount;
      else if (kind === "text") {
        this.#chunk = chunk;
        this.#start = at;
        this.#end = end;
        this.#isPlain = this.#sawPlain;
        this.#isAscii = this.#sawAscii;
      }
      at = end;
    }
    this.#footStart = at;
    return this.#blanksInTail
      ? paddedTailEnd(chunk, at, this.#tail)
      : tailEnd(chunk, at, this.#tail);
  }

  text(): string {
    const text = this.#isAscii && this.#end - this.#start <= MAX_SHORT_TEXT
      ? asciiText(this.#chunk, this.#start, this.#end)
      : DECODER.decode(this.#chunk.subarray(this.#start, this.#end));
    return this.#isPlain ? text : String(JSON.parse(`"${text}"`));
  }

  eachCount(visit: (key: string, count: number) => void): void {
    for (let n = 0; n < this.#slots.length; n++) {
      const slot = this.#slots[n];
      if (slot?.kind === "count") visit(slot.key, this.#counts[n] ?? 0);
    }
  }

  count(key: string): number | undefined {
    for (let n = 0; n < this.#slots.length; n++) {
      const slot = this.#slots[n];
      if (slot?.kind === "count" && slot.key === key) return this.#counts[n];
    }
    return undefined;
  }

  headEnd(): number {
    return this.#headEnd;
  }

  footStart(): number {
    return this.#footStart;
  }

  /** The position after the digits that start at `from`; -1 where they are no valid count. */
  #digitsEnd(chunk: Uint8Array, from: number): number {
    let count = 0;
    let at = from;
    while (isDigit(chunk[at] ?? 0)) {
      count = count * 10 + (chunk[at++] ?? 0) - 0x30;
    }
    const digits = at - from;
    if (digits === 0 || digits > MAX_DIGITS) return -1;
    // JSON has no leading zeros.
    if (digits > 1 && chunk[from] === 0x30) return -1;
    this.#sawCount = count;
    return at;
  }

  /**
   * The position of the closing quote of the string whose first character is at `from`; -1 where
   * there is none.
   */
  #stringEnd(chunk: Uint8Array, from: number): number {
    let isPlain = true;
    let bits = 0;
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      if (byte === QUOTE) {
        this.#sawPlain = isPlain;
        this.#sawAscii = bits < 0x80;
        return at;
      }
      bits |= byte;
      if (byte < SPACE) return -1;
      if (byte === BACKSLASH) {
        isPlain = false;
        const next = chunk[++at] ?? 0;
        if (next === SMALL_U) {
          for (let digit = 0; digit < 4; digit++) {
            if (!isHex(chunk[++at] ?? 0)) return -1;
          }
        } else if (!ESCAPES.has(next)) return -1;
      }
    }
    return -1;
  }
}

/** Decodes ASCII. */
function asciiText(bytes: Uint8Array, start: number, end: number): string {
  let text = "";
  let at = start;
  for (; at + 8 <= end; at += 8) {
    text += String.fromCharCode(
      bytes[at] ?? 0,
      bytes[at + 1] ?? 0,
      bytes[at + 2] ?? 0,
      bytes[at + 3] ?? 0,
      bytes[at + 4] ?? 0,
      bytes[at + 5] ?? 0,
      bytes[at + 6] ?? 0,
      bytes[at + 7] ?? 0,
    );
  }
  for (; at < end; at++) text += String.fromCharCode(bytes[at] ?? 0);
  return text;
}

function tailEnd(chunk: Uint8Array, from: number, tail: Uint8Array): number {
  const stop = from + tail.length;
  if (stop > chunk.length) return -1;
  for (let i = 0, at = from; at < stop; i++, at++) {
    if (chunk[at] !== tail[i]) return -1;
  }
  return stop;
}

/**
 * Like {@linkcode tailEnd}, but ignores spaces. The tail ends in a line end, so spaces of the next
 * frame are not included.
 */
function paddedTailEnd(
  chunk: Uint8Array,
  from: number,
  tail: Uint8Array,
): number {
  let at = from;
  for (let i = 0; i < tail.length; i++) {
    if (tail[i] === SPACE) continue;
    while (chunk[at] === SPACE) at++;
    if (chunk[at] !== tail[i]) return -1;
    at++;
  }
  return at;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function isHex(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) ||
    (byte >= 0x61 && byte <= 0x66);
}

/**
 * The values of the frame's JSON that may differ, in order: those of the named keys, a text only
 * where it is the delta's. None where a count's key occurs twice, because either could be the one
 * that the decoder reads.
 */
function slotsOf(
  frame: Uint8Array,
  text: string,
  varying: VariableKeys,
): readonly Slot[] {
  const slots: Slot[] = [];
  const counted = new Set<string>();
  let key = "";
  for (let at = frame.indexOf(0x7b); at < frame.length; at++) {
    if (frame[at] !== QUOTE) continue;
    const start = at + 1;
    at = start;
    while (at < frame.length && frame[at] !== QUOTE) {
      at += frame[at] === BACKSLASH ? 2 : 1;
    }
    if (at >= frame.length) return [];
    const raw = DECODER.decode(frame.subarray(start, at));
    if (frame[at + 1] === COLON) {
      key = raw;
      if (varying.counts?.has(key) !== true) continue;
      if (counted.has(key)) return [];
      counted.add(key);
      const from = at + 2 + (frame[at + 2] === SPACE ? 1 : 0);
      let end = from;
      while (isDigit(frame[end] ?? 0)) end++;
      // Anything that is not an integer must match exactly.
      if (end > from && COUNT_ENDS.has(frame[end] ?? 0)) {
        slots.push({ kind: "count", key, start: from, end });
      }
      continue;
    }
    const isText = varying.texts.has(key) && JSON.parse(`"${raw}"`) === text;
    if (isText || varying.padding.has(key)) {
      const kind = isText ? "text" : "padding";
      slots.push({ kind, key, start, end: at });
    }
    key = "";
  }
  return slots;
}
