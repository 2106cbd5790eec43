/**
 * The benchmark's own processes: what they say is a JSON value a line, and they end when their input does, so that none outlives
 * the benchmark.
 *
 * @module
 */

const encoder = new TextEncoder();

/** Says something to the process that started this one. */
export function say(value: unknown): void {
  const bytes = encoder.encode(`${JSON.stringify(value)}\n`);
  let written = 0;
  while (written < bytes.length) {
    written += Deno.stdout.writeSync(bytes.subarray(written));
  }
}

/** The lines that this process is told, until its input ends. */
export async function* told(
  input: ReadableStream<Uint8Array>,
): AsyncGenerator<unknown> {
  let rest = "";
  for await (const text of input.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line);
  }
}

/** Ends this process when its input ends. For programs that are told nothing. */
export function endWithInput(): void {
  void (async () => {
    for await (const _ of Deno.stdin.readable);
    Deno.exit(0);
  })();
}

/** A process of the benchmark's own, as whoever started it sees it. */
export interface Child extends AsyncDisposable {
  /** Of the process. */
  readonly pid: number;
  /** Tells it something, in a line. */
  tell(value: unknown): Promise<void>;
  /**
   * The next thing that it says.
   *
   * @throws {Error} where it ended
   */
  next(): Promise<unknown>;
}

/** Starts a program of this folder. */
export function startChild(
  program: string,
  args: readonly string[] = [],
): Child {
  const process = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--allow-all",
      "--no-check",
      "--no-prompt",
      new URL(program, import.meta.url).pathname,
      ...args,
    ],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const input = process.stdin.getWriter();
  const output = told(process.stdout);
  return {
    pid: process.pid,
    tell: (value) => input.write(encoder.encode(`${JSON.stringify(value)}\n`)),
    async next() {
      const { done, value } = await output.next();
      if (done === true) throw new Error(`${program} ended before its time`);
      return value;
    },
    async [Symbol.asyncDispose]() {
      await input.close().catch(() => {});
      await output.return(undefined);
      await process.status;
    },
  };
}
