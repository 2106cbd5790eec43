/**
 * Measures the statements that a process runs on SQLite beside those of reports. Each one blocks
 * its event loop. Preloaded into a gateway, see {@linkcode storeProbeFlag}.
 */
import { StatementSync } from "node:sqlite";

/** The statements since the last request to the probe. */
interface StoreTimes {
  readonly statements: number;
  /** Time of all statements together, in milliseconds. */
  readonly totalMs: number;
  /** Time of the longest statement, in milliseconds. */
  readonly longestMs: number;
}

/** The flag of `deno run` that starts the probe on a port of 127.0.0.1 before the program. */
export function storeProbeFlag(port: number): string {
  return `--preload=${new URL(`?port=${port}`, import.meta.url)}`;
}

/** Reads the statements since the last call. */
export async function readStoreTimes(url: string): Promise<StoreTimes> {
  const response = await fetch(url);
  // The reply's shape is that of `startProbe`.
  return await response.json() as StoreTimes;
}

function startProbe(port: number): void {
  const none: StoreTimes = { statements: 0, totalMs: 0, longestMs: 0 };
  let times = none;
  const { all } = StatementSync.prototype;
  StatementSync.prototype.all = function (...values: unknown[]) {
    const startedMs = performance.now();
    try {
      return Reflect.apply(all, this, values);
    } finally {
      const tookMs = performance.now() - startedMs;
      times = {
        statements: times.statements + 1,
        totalMs: times.totalMs + tookMs,
        longestMs: Math.max(times.longestMs, tookMs),
      };
    }
  };
  Deno.serve({ hostname: "127.0.0.1", port, onListen: () => {} }, () => {
    const reply = Response.json(times);
    times = none;
    return reply;
  }).unref();
}

// As a preloaded module, with the port in its address.
const preloadedPort = new URL(import.meta.url).searchParams.get("port");
if (preloadedPort !== null) startProbe(Number(preloadedPort));
