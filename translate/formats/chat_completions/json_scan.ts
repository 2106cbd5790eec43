/**
 * Detects when JSON text that arrives in fragments is complete, without parsing the text again
 * for each fragment.
 */

/** Scans the fragments of one JSON object or array. */
export interface JsonScan {
  /** Scans the next fragment. */
  feed(text: string): void;
  /** True after the outermost bracket was closed. */
  complete(): boolean;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENERS: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSERS: ReadonlySet<number> = new Set([0x5d, 0x7d]);

export function jsonScan(): JsonScan {
  let depth = 0;
  let began = false;
  let inString = false;
  let escaped = false;
  return {
    feed(text) {
      for (let at = 0; at < text.length; at += 1) {
        const code = text.charCodeAt(at);
        if (escaped) escaped = false;
        else if (inString) {
          if (code === BACKSLASH) escaped = true;
          else if (code === QUOTE) inString = false;
        } else if (code === QUOTE) inString = true;
        else if (OPENERS.has(code)) {
          depth += 1;
          began = true;
        } else if (CLOSERS.has(code)) depth -= 1;
      }
    },
    complete: () => began && depth <= 0,
  };
}
