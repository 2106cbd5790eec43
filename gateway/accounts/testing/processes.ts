/**
 * Starts gateway processes, gives them orders and kills them.
 *
 * @module
 */

/** What a process can be told to do. */
export type Order =
  /** Answers whether the key is valid. */
  | { readonly do: "authenticate"; readonly key: string }
  /** Answers how many micro-dollars it could spend before it was refused. */
  | { readonly do: "spend"; readonly key: string }
  /** Serves calls without end; each reply is a line. */
  | { readonly do: "load"; readonly keys: readonly string[] }
  | { readonly do: "end" };

/** A process. Disposing of it kills it. */
export interface GatewayProcess extends AsyncDisposable {
  /** Gives an order. */
  tell(order: Order): Promise<void>;
  /** The next line that it says; undefined when it says nothing any more. A line that was cut off is none. */
  next(): Promise<unknown>;
  /** SIGKILL. What it had said before can still be read. */
  kill(): Promise<void>;
}

/** Starts a process on a database, and waits until it is ready. */
export async function startProcess(url: string): Promise<GatewayProcess> {
  const program = new URL("./gateway_process.ts", import.meta.url);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-check", "-A", program.href, url],
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
    tell: (order) =>
      writer.write(new TextEncoder().encode(`${JSON.stringify(order)}\n`)),
    async [Symbol.asyncDispose]() {
      await kill();
      await lines.return(undefined);
    },
  };
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
