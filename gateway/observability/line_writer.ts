/**
 * Buffers lines briefly and writes them together, one write at a time: under load, one write per
 * line costs more than creating the line. A reader that stalls costs lines, never the callers: what
 * exceeds the buffer is dropped and counted, and one line names the count once writing works again.
 */

/** A buffered writer of lines. */
export interface LineWriter {
  /** Adds a line, without its line end. It is written soon, in order, or dropped. */
  line(text: string): void;
  /** Number of lines that were dropped so far. */
  dropped(): number;
  /** Writes the buffered lines; resolves when they are written, or after `withinMs`. */
  close(withinMs: number): Promise<void>;
}

interface LineWriterOptions {
  /** Writes whole lines, each with its line end. Called again only after it has settled. */
  readonly write: (lines: string) => Promise<void>;
  /** The line that stands in the place of dropped ones. */
  readonly gap: (dropped: number) => string;
}

/** Longest time that a line is buffered while writing works, in milliseconds. */
const WAIT_MS = 50;
/** Buffered characters that cause a write at once. */
const WRITE_CHARS = 64 * 1024;
/** Buffered characters beyond which lines are dropped: about two thousand lines of the log. */
const MAX_CHARS = 1024 * 1024;

export function lineWriter({ write, gap }: LineWriterOptions): LineWriter {
  let waiting = "";
  let waitingLines = 0;
  let full = false;
  /** Lines dropped since the last line that named their number. */
  let missing = 0;
  let dropped = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let writing: Promise<void> | undefined;
  const drop = (lines: number): void => {
    missing += lines;
    dropped += lines;
  };
  const writeOnce = async (): Promise<void> => {
    const text = missing === 0 ? waiting : `${waiting}${gap(missing)}\n`;
    const lines = waitingLines;
    [waiting, waitingLines, full] = ["", 0, false];
    const reported = missing;
    missing = 0;
    try {
      await write(text);
    } catch {
      // Without a reader: the next line tries again.
      missing += reported;
      drop(lines);
    }
  };
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (writing !== undefined || waiting === "") return;
    writing = writeOnce().finally(() => {
      writing = undefined;
      flush();
    });
  };
  return {
    line(text) {
      full ||= waiting !== "" && waiting.length + text.length > MAX_CHARS;
      if (full) return drop(1);
      waiting += `${text}\n`;
      waitingLines++;
      if (writing !== undefined) return;
      if (waiting.length >= WRITE_CHARS) return flush();
      timer ??= setTimeout(flush, WAIT_MS);
    },
    dropped: () => dropped,
    async close(withinMs) {
      flush();
      const late = Promise.withResolvers<void>();
      const limit = setTimeout(late.resolve, withinMs);
      const written = async (): Promise<void> => {
        while (writing !== undefined) await writing;
      };
      await Promise.race([written(), late.promise]);
      clearTimeout(limit);
    },
  };
}
