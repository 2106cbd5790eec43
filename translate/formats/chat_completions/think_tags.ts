/**
 * Splits the text of a reply that begins with its reasoning in `<think>` tags, as servers without a
 * parser for it send it. Tags may come in pieces; one that is not at the beginning is text.
 */

const OPENING = "<think>";
const CLOSING = "</think>";

/** A piece of a reply's text. */
export interface SplitText {
  readonly kind: "text" | "reasoning";
  readonly text: string;
}

/** Splits the text of one reply. */
export interface ThinkTags {
  /** The pieces that are certain with the next text; what may be a part of a tag waits. */
  push(text: string): readonly SplitText[];
  /** What still waits; no text may follow. */
  end(): readonly SplitText[];
}

export function thinkTags(): ThinkTags {
  let state: "before" | "inside" | "behind" | "after" = "before";
  let waiting = "";
  const step = (): SplitText | undefined => {
    if (state === "before") {
      const start = waiting.trimStart();
      if (start.length < OPENING.length && OPENING.startsWith(start)) {
        return undefined;
      }
      state = start.startsWith(OPENING) ? "inside" : "after";
      if (state === "inside") waiting = start.slice(OPENING.length);
    }
    if (state === "behind") {
      waiting = waiting.trimStart();
      if (waiting !== "") state = "after";
    }
    if (state !== "inside") return take("text", waiting.length);
    const end = waiting.indexOf(CLOSING);
    if (end < 0) return take("reasoning", waiting.length - partOfTag(waiting));
    const piece = take("reasoning", end);
    waiting = waiting.slice(CLOSING.length);
    state = "behind";
    return piece;
  };
  const take = (kind: SplitText["kind"], length: number): SplitText => {
    const text = waiting.slice(0, length);
    waiting = waiting.slice(length);
    return { kind, text };
  };
  return {
    push(text) {
      waiting += text;
      const pieces: SplitText[] = [];
      let before: string;
      do {
        before = waiting;
        const piece = step();
        if (piece !== undefined && piece.text !== "") pieces.push(piece);
      } while (before !== waiting);
      return pieces;
    },
    end() {
      const text = waiting;
      waiting = "";
      return text === ""
        ? []
        : [{ kind: state === "inside" ? "reasoning" : "text", text }];
    },
  };
}

/** How many characters at the end may begin the closing tag. */
function partOfTag(text: string): number {
  for (let length = CLOSING.length - 1; length > 0; length--) {
    if (text.endsWith(CLOSING.slice(0, length))) return length;
  }
  return 0;
}
