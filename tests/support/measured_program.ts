/**
 * The gateway as it is started, with a way to ask what its heap holds: each line on its standard input is answered, after forced
 * collections, with a line of figures. To be run with `--v8-flags=--expose-gc`.
 *
 * @module
 */
import "../../main.ts";

/** What is in use after forced collections, in bytes. */
export interface KeptMemory {
  /** JavaScript's heap, with the buffers that hang on it. */
  readonly heap: number;
  /** The whole process. */
  readonly resident: number;
}

/** Finalizers, closing sockets and short timers let go of more between two collections. */
const PAUSE_MS = 20;
const MIN_COLLECTIONS = 3;
const MAX_COLLECTIONS = 40;

/**
 * Collects until no more than the target is in use, or the collections are used up, and gives the least that was in use. Memory that
 * calls keep stays above the target, however often it is collected.
 */
async function kept(targetBytes: number): Promise<KeptMemory> {
  const gc: unknown = Reflect.get(globalThis, "gc");
  if (typeof gc !== "function") {
    throw new Error("cannot collect: --v8-flags=--expose-gc is missing");
  }
  let least = Infinity;
  for (
    let n = 0;
    n < MIN_COLLECTIONS || least > targetBytes && n < MAX_COLLECTIONS;
    n++
  ) {
    await new Promise<void>((resolve) => void setTimeout(resolve, PAUSE_MS));
    gc();
    const { heapUsed, external } = Deno.memoryUsage();
    least = Math.min(least, heapUsed + external);
  }
  return { heap: least, resident: Deno.memoryUsage().rss };
}

for await (
  const target of Deno.stdin.readable.pipeThrough(new TextDecoderStream())
) {
  const line = `KEPT ${JSON.stringify(await kept(Number(target)))}\n`;
  Deno.stdout.writeSync(new TextEncoder().encode(line));
}
