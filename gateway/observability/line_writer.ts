/**
 * Buffers lines briefly and writes them together: under load, one write per line costs more than
 * creating the line.
 *
 * @module
 */

/** A buffered writer of lines. */
export interface LineWriter {
  /** Adds a line, without its line end. It is written soon, in order. */
  line(text: string): void;
  /** Writes the buffered lines now. */
  flush(): void;
}

/** Longest time that a line is buffered, in milliseconds. */
const WAIT_MS = 10;
/** Buffered characters that cause a write at once. */
const MAX_CHARS = 64 * 1024;

/**
 * Creates a {@linkcode LineWriter}. `write` receives whole lines, the last one without its line
 * end, and must not throw.
 */
export function lineWriter(write: (lines: string) => void): LineWriter {
  let waiting = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting === "") return;
    const lines = waiting;
    waiting = "";
    write(lines);
  };
  return {
    line(text) {
      waiting = waiting === "" ? text : `${waiting}\n${text}`;
      if (waiting.length >= MAX_CHARS) return flush();
      timer ??= setTimeout(flush, WAIT_MS);
    },
    flush,
  };
}
