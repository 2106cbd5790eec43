/**
 * Finds the model id in a stream's frame. The id is at the top of the
 * frame's object or of the `message` in it; a deeper key of that name is the model's or a tool's
 * data and is unchanged.
 */
import { keyText } from "./key_text.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENERS: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSERS: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/**
 * The position of the frame's model id, quotes included; undefined where there is none or an empty
 * one.
 */
export function modelSpan(
  frame: Uint8Array,
  modelKey = "model",
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
      const isModelLevel = depth === 1 || (depth === 2 && inMessage);
      if (key === modelKey && isModelLevel) {
        return end - at > 2 ? { start: at, end } : undefined;
      }
      key = isModelLevel && frame[afterBlanks(frame, end)] === COLON
        ? keyText(frame, at + 1, end - 1)
        : "";
      at = end - 1;
    }
  }
  return undefined;
}

/** The position after the closing quote of the string that opens at `start`. */
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
