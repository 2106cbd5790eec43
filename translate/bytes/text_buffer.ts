/**
 * Collects a long text from many short pieces. A string that grows by concatenation keeps every
 * piece and an object per piece until it is read, and the garbage collector moves all of them.
 */

/** Pieces that are joined at a time. */
const JOINED_PIECES = 16;

export class TextBuffer {
  #text = "";
  #pieces: string[] = [];
  #length = 0;

  /** The length of the text, in UTF-16 code units. */
  get length(): number {
    return this.#length;
  }

  push(piece: string): void {
    this.#length += piece.length;
    if (this.#pieces.push(piece) === JOINED_PIECES) this.#join();
  }

  /** The text so far. */
  toString(): string {
    this.#join();
    return this.#text;
  }

  #join(): void {
    if (this.#pieces.length === 0) return;
    this.#text += this.#pieces.join("");
    this.#pieces = [];
  }
}
