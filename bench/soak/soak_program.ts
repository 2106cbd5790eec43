/**
 * The gateway of the soak: answers each line on its standard input, after forced collections, with
 * a line of figures. To be run with `--v8-flags=--expose-gc`.
 */
import "../../main.ts";

/** What is in use after forced collections, in bytes. */
export interface KeptBytes {
  /** JavaScript's heap, with the buffers that hang on it. */
  readonly heap: number;
  /** The whole process. */
  readonly resident: number;
}

const COLLECTIONS = 5;
/** Finalizers, closing sockets and short timers let go of more between two collections. */
const PAUSE_MS = 20;

async function kept(): Promise<KeptBytes> {
  const gc: unknown = Reflect.get(globalThis, "gc");
  if (typeof gc !== "function") {
    throw new Error("cannot collect: --v8-flags=--expose-gc is missing");
  }
  let heap = Infinity;
  for (let n = 0; n < COLLECTIONS; n++) {
    await new Promise<void>((resolve) => void setTimeout(resolve, PAUSE_MS));
    gc();
    const { heapUsed, external } = Deno.memoryUsage();
    heap = Math.min(heap, heapUsed + external);
  }
  return { heap, resident: Deno.memoryUsage().rss };
}

for await (
  const _ of Deno.stdin.readable.pipeThrough(new TextDecoderStream())
) {
  const line = `KEPT ${JSON.stringify(await kept())}\n`;
  Deno.stdout.writeSync(new TextEncoder().encode(line));
}
