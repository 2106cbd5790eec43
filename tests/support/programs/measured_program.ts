/**
 * The gateway's program with a measurement of its memory: for each line on standard input it
 * forces garbage collections and prints a line of figures. Needs `--v8-flags=--expose-gc`.
 */
import "../../../main.ts";

/** Memory in use after forced collections, in bytes. */
export interface KeptMemory {
  /** The JavaScript heap, including its external buffers. */
  readonly heap: number;
  /** Resident memory of the whole process. */
  readonly resident: number;
}

/** Finalizers, closing sockets and short timers release more between two collections. */
const FIRST_PAUSE_MS = 20;
/** The factor between two pauses. */
const LONGER = 1.4;
const MIN_COLLECTIONS = 3;
const MAX_COLLECTIONS = 8;

/**
 * Collects until the heap is at most the target or the maximum number of collections is reached,
 * and returns the smallest heap seen. Leaked memory stays above the target however often it is
 * collected.
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
    const pauseMs = FIRST_PAUSE_MS * LONGER ** n;
    await new Promise<void>((resolve) => void setTimeout(resolve, pauseMs));
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
