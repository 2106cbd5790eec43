/**
 * Changing the model that a frame of a stream tells, in the frame's own bytes. Formats tell it at the top of a frame's object or
 * in the `message` there; a key of that name anywhere deeper is the model's or a tool's data and stays.
 *
 * @module
 */
import { joinPieces } from "./slab.ts";

const DECODER = new TextDecoder();
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENERS: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSERS: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** The frame with its model replaced by `model`, a JSON string; the same bytes where it tells none or an empty one. */
export function withModel(frame: Uint8Array, model: Uint8Array): Uint8Array {
  const span = modelSpan(frame);
  return span === undefined ? frame : joinPieces([
    frame.subarray(0, span.start),
    model,
    frame.subarray(span.end),
  ]);
}

/** Where the model that a frame tells stands, quotes included; undefined where it tells none or an empty one. */
export function modelSpan(
  frame: Uint8Array,
): { readonly start: number; readonly end: number } | undefined {
  let depth = 0;
  let inMessage = false;
  let key = "";
  for (let at = 0; at < frame.length; at++) {
    const byte = frame[at] ?? 0;
    if (OPENERS.has(byte)) {
      depth++;
      if (depth === 2) inMessage = key === "message";
      key = "";
    } else if (CLOSERS.has(byte)) depth--;
    else if (byte === COMMA) key = "";
    else if (byte === QUOTE && depth > 0) {
      const end = stringEnd(frame, at);
      const told = depth === 1 || (depth === 2 && inMessage);
      if (key === "model" && told) {
        return end - at > 2 ? { start: at, end } : undefined;
      }
      key = told && frame[afterBlanks(frame, end)] === COLON
        ? DECODER.decode(frame.subarray(at + 1, end - 1))
        : "";
      at = end - 1;
    }
  }
  return undefined;
}

/** The position behind the closing quote of the string that opens at `start`. */
function stringEnd(frame: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < frame.length && frame[at] !== QUOTE) {
    at += frame[at] === BACKSLASH ? 2 : 1;
  }
  return Math.min(at + 1, frame.length);
}

function afterBlanks(frame: Uint8Array, from: number): number {
  let at = from;
  while (frame[at] === 0x20 || frame[at] === 0x09) at++;
  return at;
}
