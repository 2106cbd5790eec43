/**
 * Measures how long the event loop of its process is blocked. Preloaded into a gateway, see
 * {@linkcode probeFlag}; as a program, an idle process that shows how long the machine lets any
 * process wait.
 *
 * @module
 */
import { exitWithStdin, sendMessage } from "./child.ts";

/** The blocks since the last request to the probe. */
export interface LoopBlocks {
  /** The longest, in milliseconds. */
  readonly longestMs: number;
  /** Number of blocks of more than {@linkcode LONG_MS}. */
  readonly long: number;
}

/** A block of this many milliseconds counts as long. */
export const LONG_MS = 10;

/** The resolution: shorter turns are not observed. */
const TICK_MS = 2;

/** The flag of `deno run` that starts a probe on a port of 127.0.0.1 before the program. */
export function probeFlag(port: number): string {
  return `--preload=${new URL(`?port=${port}`, import.meta.url)}`;
}

/** Reads the blocks since the last call. */
export async function readLoopBlocks(url: string): Promise<LoopBlocks> {
  const response = await fetch(url);
  // The reply's shape is that of `startProbe`.
  return await response.json() as LoopBlocks;
}

/** A running probe. Disposing of it stops it. */
export interface LoopProbe extends AsyncDisposable {
  /** Port on 127.0.0.1. */
  readonly port: number;
}

/** Starts the probe. It does not keep the process alive. */
export function startProbe(port: number): LoopProbe {
  let turnMs = performance.now();
  let longestMs = 0;
  let long = 0;
  const turn = (): void => {
    const nowMs = performance.now();
    const blockedMs = nowMs - turnMs - TICK_MS;
    turnMs = nowMs;
    longestMs = Math.max(longestMs, blockedMs);
    if (blockedMs > LONG_MS) long++;
  };
  const timer = setInterval(turn, TICK_MS);
  Deno.unrefTimer(timer);
  const server = Deno.serve(
    { hostname: "127.0.0.1", port, onListen: () => {} },
    () => {
      turn();
      const blocks: LoopBlocks = { longestMs, long };
      longestMs = 0;
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

if (import.meta.main) {
  exitWithStdin();
  sendMessage({ port: startProbe(0).port });
}

// As a preloaded module, with the port in its address.
const preloadedPort = new URL(import.meta.url).searchParams.get("port");
if (preloadedPort !== null) startProbe(Number(preloadedPort));
