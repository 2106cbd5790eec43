/**
 * The benchmark's own processes. They exchange one JSON value per line over stdin and stdout, and
 * exit at the end of stdin, so that none outlives the benchmark.
 */

const encoder = new TextEncoder();

/** Sends a message to the parent process. */
export function sendMessage(value: unknown): void {
  const bytes = encoder.encode(`${JSON.stringify(value)}\n`);
  let written = 0;
  while (written < bytes.length) {
    written += Deno.stdout.writeSync(bytes.subarray(written));
  }
}

/** The messages on a stream, until it ends. */
export async function* receiveMessages(
  input: ReadableStream<Uint8Array>,
): AsyncGenerator<unknown> {
  let rest = "";
  for await (const text of input.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line);
  }
}

/** Exits at the end of stdin. For programs that receive no messages. */
export function exitWithStdin(): void {
  void (async () => {
    for await (const _ of Deno.stdin.readable);
    Deno.exit(0);
  })();
}

/** A child process. Disposing of it closes its stdin and waits for its exit. */
export interface Child extends AsyncDisposable {
  /** Process id. */
  readonly pid: number;
  /** Sends it a message. */
  send(value: unknown): Promise<void>;
  /**
   * Its next message.
   *
   * @throws {Error} when the process ended before
   */
  receive(): Promise<unknown>;
}

/** Starts a program of `bench/`. */
export function startChild(
  program: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Child {
  const process = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--allow-all",
      "--no-check",
      "--no-prompt",
      `--lock=${new URL("../../deno.lock", import.meta.url).pathname}`,
      new URL(`../${program}`, import.meta.url).pathname,
      ...args,
    ],
    env,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const input = process.stdin.getWriter();
  const output = receiveMessages(process.stdout);
  return {
    pid: process.pid,
    send: (value) => input.write(encoder.encode(`${JSON.stringify(value)}\n`)),
    async receive() {
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
