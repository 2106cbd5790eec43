/**
 * Programs that listen: starting them at free ports, waiting until they answer, ending them.
 *
 * @module
 */

const running = new Set<Deno.ChildProcess>();

/** Starts a program that is ended with {@linkcode end}, or with {@linkcode endAll} where the benchmark is broken off. */
export function startProgram(
  program: string,
  options: Deno.CommandOptions,
): Deno.ChildProcess {
  const process = new Deno.Command(program, options).spawn();
  running.add(process);
  void process.status.then(() => running.delete(process));
  return process;
}

/** Ends every program at once. */
export function endAll(): void {
  for (const process of running) process.kill("SIGKILL");
}

/** A port that nobody listens at just now. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** How long a program has to come up. */
const MOST_MS = 30_000;

/**
 * Waits until a program answers with a success.
 *
 * @throws {Error} where it does not within half a minute, or ended
 */
export async function answers(
  url: string,
  process: Deno.ChildProcess,
): Promise<void> {
  let ended = false;
  void process.status.then(() => ended = true);
  const startedMs = performance.now();
  while (!ended && performance.now() - startedMs < MOST_MS) {
    try {
      const response = await fetch(url);
      await response.body?.cancel();
      if (response.ok) return;
    } catch {
      // It does not listen yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  throw new Error(`${ended ? "it ended" : "no answer"} before it was ready`);
}

/** Ends a program and waits until it is gone. */
export async function end(
  process: Deno.ChildProcess,
  signal: "SIGTERM" | "SIGKILL",
): Promise<void> {
  try {
    process.kill(signal);
  } catch {
    // It is gone already.
  }
  await process.status;
}

/** Reads what a program prints until it ends, so that it is never held up. Gives the last of it. */
export async function drained(
  output: ReadableStream<Uint8Array>,
): Promise<string> {
  let last = "";
  for await (const text of output.pipeThrough(new TextDecoderStream())) {
    last = text.length > KEPT_CHARS ? text.slice(-KEPT_CHARS) : last + text;
    if (last.length > 2 * KEPT_CHARS) last = last.slice(-KEPT_CHARS);
  }
  return last;
}

const KEPT_CHARS = 4_000;
