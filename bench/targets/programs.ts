/**
 * Server programs: starts them on free ports, waits until they answer, stops them.
 */

const running = new Set<Deno.ChildProcess>();

/**
 * Starts a program. Stop it with {@linkcode stop}; {@linkcode killAll} stops it when the benchmark
 * is interrupted.
 */
export function startProgram(
  program: string,
  options: Deno.CommandOptions,
): Deno.ChildProcess {
  const process = new Deno.Command(program, options).spawn();
  running.add(process);
  void process.status.then(() => running.delete(process));
  return process;
}

/** A program that answers. Disposing of it ends it. */
interface Server extends AsyncDisposable {
  /** Process id. */
  readonly pid: number;
  /** From the start to the first success of its readiness probe, in milliseconds. */
  readonly readyMs: number;
}

/**
 * Starts a program and waits until `readyUrl` answers with a success status.
 *
 * @throws {Error} with the program's output, if it does not
 */
export async function startServer(
  program: string,
  options: Deno.CommandOptions,
  readyUrl: string,
  endSignal: "SIGTERM" | "SIGKILL" = "SIGTERM",
): Promise<Server> {
  const startedMs = performance.now();
  const process = startProgram(program, {
    ...options,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
  const output = Promise.all([
    readToEnd(process.stdout),
    readToEnd(process.stderr),
  ]);
  try {
    await waitUntilReady(readyUrl, process);
  } catch (error) {
    await stop(process, "SIGKILL");
    throw new Error(
      `could not start ${program}:\n${(await output).join("")}`,
      { cause: error },
    );
  }
  return {
    pid: process.pid,
    readyMs: performance.now() - startedMs,
    async [Symbol.asyncDispose]() {
      await stop(process, endSignal);
      await output;
    },
  };
}

/** Kills all running programs. */
export function killAll(): void {
  for (const process of running) process.kill("SIGKILL");
}

/** A port of 127.0.0.1 that is free at the moment. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** Time limit for a start, in milliseconds. */
const START_TIMEOUT_MS = 30_000;

/**
 * Waits until a URL answers with a success status.
 *
 * @throws {Error} when it does not within 30 seconds, or the program ends before
 */
export async function waitUntilReady(
  url: string,
  process: Deno.ChildProcess,
): Promise<void> {
  let ended = false;
  void process.status.then(() => ended = true);
  const startedMs = performance.now();
  while (!ended && performance.now() - startedMs < START_TIMEOUT_MS) {
    try {
      const response = await fetch(url);
      await response.body?.cancel();
      if (response.ok) return;
    } catch {
      // The program does not listen yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  throw new Error(`${ended ? "it ended" : "no answer"} before it was ready`);
}

/** Sends a signal to a program and waits for its exit. */
export async function stop(
  process: Deno.ChildProcess,
  signal: "SIGTERM" | "SIGKILL",
): Promise<void> {
  try {
    process.kill(signal);
  } catch {
    // The program has already exited.
  }
  await process.status;
}

/**
 * Reads a program's output until its end, so that a full pipe never blocks the program. Returns the
 * last part.
 */
export async function readToEnd(
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
