/**
 * Starts gateway processes, sends them commands and kills them.
 */
import assert from "node:assert/strict";

export type ProcessCommand =
  /** Replies whether the key is valid. */
  | { readonly do: "authenticate"; readonly key: string }
  /** Makes calls until one is refused; replies with the micro-dollars spent. */
  | { readonly do: "spend"; readonly key: string }
  /** Serves calls without end; prints a line per reply. */
  | { readonly do: "load"; readonly keys: readonly string[] }
  /** The same, with calls that take a while, also while the store cannot be reached. */
  | { readonly do: "serve"; readonly keys: readonly string[] }
  /** Writes what calls owe; prints `flushing` before it and `flushed` after it. */
  | { readonly do: "flush" }
  | { readonly do: "end" };

/** A process. Disposing of it kills it. */
export interface GatewayProcess extends AsyncDisposable {
  send(command: ProcessCommand): Promise<void>;
  /** The next line of output; undefined at the end. An incomplete last line is ignored. */
  next(): Promise<unknown>;
  /** Sends SIGKILL. Lines written before can still be read. */
  kill(): Promise<void>;
  /** Sends SIGSTOP: the process does nothing until {@linkcode GatewayProcess.thaw}. */
  freeze(): void;
  /** Sends SIGCONT. */
  thaw(): void;
}

/** Starts a process on a database and waits until it is ready. */
export async function startProcess(url: string): Promise<GatewayProcess> {
  const program = new URL("./gateway_process.ts", import.meta.url);
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--quiet", "--no-check", "-A"],
      `--lock=${new URL("../../../deno.lock", import.meta.url).pathname}`,
      program.href,
      url,
    ],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  const lines = linesOf(child.stdout);
  let dead = false;
  const kill = async (): Promise<void> => {
    if (dead) return;
    dead = true;
    child.kill("SIGKILL");
    await child.status;
    await writer.abort().catch(() => {});
  };
  const next = async (): Promise<unknown> => {
    const { value, done } = await lines.next();
    return done ? undefined : JSON.parse(value);
  };
  const ready = await next();
  if (ready !== "ready") throw new Error("the process did not start");
  return {
    next,
    kill,
    freeze: () => child.kill("SIGSTOP"),
    thaw: () => child.kill("SIGCONT"),
    send: (command) =>
      writer.write(new TextEncoder().encode(`${JSON.stringify(command)}\n`)),
    async [Symbol.asyncDispose]() {
      await kill();
      await lines.return(undefined);
    },
  };
}

/** Reads a line that a process printed for a call: its id, and the tokens of its output. */
export function readReply(
  line: unknown,
): readonly [id: string, output: number] {
  assert.ok(typeof line === "object" && line !== null, String(line));
  assert.ok("requestId" in line && typeof line.requestId === "string");
  assert.ok("output" in line && typeof line.output === "number");
  return [line.requestId, line.output];
}

async function* linesOf(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<string, void, void> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
