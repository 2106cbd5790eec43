/**
 * A child process whose output is collected while it runs.
 */

/** A running process; disposing of it kills it. */
export interface CollectedProgram extends AsyncDisposable {
  output(): string;
  /** Resolves with the match once the output has one; rejects if the process ends before. */
  printed(wanted: RegExp): Promise<RegExpExecArray>;
  signal(signal: Deno.Signal): void;
  isOver(): boolean;
  /** Exit code; resolves once the process has ended and its output has been read. */
  readonly ended: Promise<number>;
}

/** @param child with both outputs piped */
export function collected(child: Deno.ChildProcess): CollectedProgram {
  let text = "";
  let over = false;
  const looks = new Set<() => void>();
  const look = (): void => {
    for (const one of [...looks]) one();
  };
  const read = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
      text += piece;
      look();
    }
  };
  const ended = Promise.all([
    child.status,
    read(child.stdout),
    read(child.stderr),
  ]).then(([{ code }]) => {
    over = true;
    look();
    return code;
  });
  return {
    output: () => text,
    printed: (wanted) =>
      new Promise((resolve, reject) => {
        const one = (): void => {
          const found = wanted.exec(text);
          if (found === null && !over) return;
          looks.delete(one);
          if (found === null) reject(new Error(`no ${wanted}:\n${text}`));
          else resolve(found);
        };
        looks.add(one);
        one();
      }),
    signal: (signal) => child.kill(signal),
    isOver: () => over,
    ended,
    async [Symbol.asyncDispose]() {
      if (!over) {
        try {
          child.kill("SIGKILL");
        } catch {
          // It has just ended.
        }
      }
      await ended;
    },
  };
}
