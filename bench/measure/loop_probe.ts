/**
 * Measures how long the event loop of its process is blocked. Preloaded into a gateway, see
 * {@linkcode probeFlag}; run alone, an idle process: the baseline for delays that the machine
 * causes.
 */
import { exitWithStdin, sendMessage } from "../load/child.ts";

/** The blocks since the last request to the probe. */
interface LoopBlocks {
  /** The longest, in milliseconds. */
  readonly longestMs: number;
  /** Number of blocks of more than {@linkcode LONG_MS}. */
  readonly long: number;
  /**
   * The most processor time of the event loop's thread between two turns, in milliseconds: a block
   * without the time in which the machine ran other processes. Only if asked for, on Linux.
   */
  readonly busiestMs?: number;
}

/** A block of this many milliseconds counts as long. */
export const LONG_MS = 10;

/** The resolution: shorter turns are not observed. */
const TICK_MS = 2;

/**
 * The flag of `deno run` that starts a probe on a port of 127.0.0.1 before the program. Processor
 * time is read in every turn, which costs some itself.
 */
export function probeFlag(port: number, readsCpu: boolean): string {
  const query = `?port=${port}${readsCpu ? "&cpu" : ""}`;
  return `--preload=${new URL(query, import.meta.url)}`;
}

/** Reads the blocks since the last call. */
export async function readLoopBlocks(url: string): Promise<LoopBlocks> {
  const response = await fetch(url);
  // The reply's shape is that of `startProbe`.
  return await response.json() as LoopBlocks;
}

/** A running probe. Disposing of it stops it. */
interface LoopProbe extends AsyncDisposable {
  /** Port on 127.0.0.1. */
  readonly port: number;
}

/** Starts the probe. It does not keep the process alive. */
export function startProbe(
  port: number,
  readsCpu: boolean = false,
): LoopProbe {
  let turnMs = performance.now();
  let turnCpuMs = readsCpu ? threadCpuMs() : undefined;
  let longestMs = 0;
  let busiestMs = 0;
  let long = 0;
  const turn = (): void => {
    const nowMs = performance.now();
    const blockedMs = nowMs - turnMs - TICK_MS;
    turnMs = nowMs;
    longestMs = Math.max(longestMs, blockedMs);
    if (blockedMs > LONG_MS) long++;
    if (turnCpuMs === undefined) return;
    const cpuMs = threadCpuMs() ?? turnCpuMs;
    busiestMs = Math.max(busiestMs, cpuMs - turnCpuMs);
    turnCpuMs = cpuMs;
  };
  const timer = setInterval(turn, TICK_MS);
  Deno.unrefTimer(timer);
  const server = Deno.serve(
    { hostname: "127.0.0.1", port, onListen: () => {} },
    () => {
      turn();
      const blocks: LoopBlocks = {
        longestMs,
        long,
        ...turnCpuMs === undefined ? {} : { busiestMs },
      };
      longestMs = 0;
      busiestMs = 0;
      long = 0;
      return Response.json(blocks);
    },
  );
  server.unref();
  return {
    port: server.addr.port,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await server.shutdown();
    },
  };
}

/** Processor time of the process's first thread; undefined where it cannot be read. */
function threadCpuMs(): number | undefined {
  try {
    const text = Deno.readTextFileSync("/proc/self/schedstat");
    return Number(text.split(" ")[0]) / 1e6;
  } catch {
    return undefined;
  }
}

if (import.meta.main) {
  exitWithStdin();
  sendMessage({ port: startProbe(0).port });
}

// As a preloaded module, with the port in its address.
const { searchParams } = new URL(import.meta.url);
const preloadedPort = searchParams.get("port");
if (preloadedPort !== null) {
  startProbe(Number(preloadedPort), searchParams.has("cpu"));
}
