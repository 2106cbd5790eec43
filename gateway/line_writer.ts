/**
 * Lines gathered for a moment and written together: under load a write of its own for each costs more than making it.
 *
 * @module
 */

/** Takes lines. */
export interface LineWriter {
  /** A line without its end. It is written soon, after those before it. */
  line(text: string): void;
  /** Writes now what waits. */
  flush(): void;
}

/** How long a line may wait, in milliseconds. */
const WAIT_MS = 10;
/** Characters after which nothing waits for more. */
const MAX_CHARS = 64 * 1024;

/** Makes a {@linkcode LineWriter}; `write` gets whole lines, the last one without its end, and does not throw. */
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
