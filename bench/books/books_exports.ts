/**
 * Every export of the console and of the API over ten million ledger entries: lines a second, and
 * for how long the process answers nothing else meanwhile.
 */
import type { BenchContext } from "../bench.ts";
import { residentBytes } from "../measure/cpu_time.ts";
import { readLoopBlocks } from "../measure/loop_probe.ts";
import { readStoreTimes } from "../measure/store_probe.ts";

/** A running gateway, how it is observed, and what exports are read with. */
interface BooksExportsOptions {
  /** The gateway's address. */
  readonly url: string;
  readonly pid: number;
  /** The processor time that it has used so far. */
  readonly cpuMicros: () => number;
  /** Addresses of its probes. */
  readonly loopUrl: string;
  readonly storeUrl: string;
  /** Cookies of an account's session and of the operator's. */
  readonly accountCookie: string;
  readonly operatorCookie: string;
  /** Account token and admin token. */
  readonly accountToken: string;
  readonly adminToken: string;
  /** The account, and its first day with usage. */
  readonly accountId: string;
  readonly first: string;
  /** The store's file, whose pages the system forgets before each export; absent: it keeps them. */
  readonly coldFile?: string;
}

/** The goal. */
const MAX_BLOCK_MS = 20;
/** Longest time that one export is read, in milliseconds. */
const EXPORT_MS = 2000;
const LEDGER: readonly string[] = [
  "ledger.csv",
  "ledger.csv?format=focus",
  "ledger.csv?kind=top_up",
  "ledger.csv?user=nobody",
];
const CALLS: readonly string[] = [
  "calls.csv",
  "calls.csv?model=model_3",
  "calls.csv?user=nobody",
];
const FORMATS: readonly string[] = ["jsonl", "csv", "focus"];

function exportsOf(
  options: BooksExportsOptions,
): readonly (readonly [path: string, headers: Record<string, string>])[] {
  const { accountCookie, operatorCookie, accountToken, adminToken } = options;
  const { accountId, first } = options;
  const usage = [
    "usage.csv?by=day",
    `usage.csv?by=model&from=${first}`,
    "usage.csv?by=key",
    `usage.csv?by=key&from=${first}`,
    "changes.csv",
  ];
  const byUser = (of: string): readonly string[] => [
    `usage.csv?by=user${of}`,
    `usage.csv?by=user${of}&from=${first}`,
  ];
  const account = [
    ...LEDGER,
    ...CALLS,
    ...usage,
    ...byUser(""),
    "keys.csv",
    "models.csv",
  ];
  const operator = [
    ...LEDGER,
    ...CALLS,
    ...usage,
    ...byUser(`&account=${accountId}`),
    "usage.csv?by=account",
    "accounts.csv",
    "plans.csv",
    `keys.csv?account=${accountId}`,
  ];
  return [
    ...account.map((file) =>
      [`/console/${file}`, { cookie: accountCookie }] as const
    ),
    ...operator.map((file) =>
      [`/console/operator/${file}`, { cookie: operatorCookie }] as const
    ),
    ...[
      ["/v1/account", accountToken],
      ["/admin/v1", adminToken],
    ].flatMap(([base, token]) =>
      FORMATS.map((format) =>
        [`${base}/ledger/export?format=${format}`, {
          authorization: `Bearer ${token}`,
        }] as const
      )
    ),
  ];
}

/** Reads every export, and prints what it took. */
export async function measureExports(
  options: BooksExportsOptions,
  { print, record }: Pick<BenchContext, "print" | "record">,
): Promise<void> {
  const longest = { blockedMs: 0, busiestMs: 0, statementMs: 0 };
  for (const [path, headers] of exportsOf(options)) {
    if (options.coldFile !== undefined) await forgetPages(options.coldFile);
    const exported = await readSome(path, headers, options);
    const { blockedMs, busiestMs, longestStatementMs } = exported;
    longest.blockedMs = Math.max(longest.blockedMs, blockedMs);
    longest.busiestMs = Math.max(longest.busiestMs, busiestMs);
    longest.statementMs = Math.max(longest.statementMs, longestStatementMs);
    record?.({ file: path, ...exported });
    print(lineOf(path, exported));
  }
  print(
    `exports: longest block ${
      longest.blockedMs.toFixed(1)
    } ms (goal ${MAX_BLOCK_MS}), of processor time ${
      longest.busiestMs.toFixed(1)
    } ms, longest statement ${longest.statementMs.toFixed(1)} ms`,
  );
}

interface Exported {
  readonly lines: number;
  readonly megabytes: number;
  readonly tookMs: number;
  /** Processor time of the gateway: it hardly depends on other load. */
  readonly cpuMs: number;
  /** Until the status and the headers. */
  readonly headersMs: number;
  readonly blockedMs: number;
  readonly busiestMs: number;
  readonly longestStatementMs: number;
  readonly grownMegabytes: number;
}

/** Reads the beginning of an export. */
async function readSome(
  path: string,
  headers: Record<string, string>,
  { url, pid, cpuMicros, loopUrl, storeUrl }: BooksExportsOptions,
): Promise<Exported> {
  await readStoreTimes(storeUrl);
  await readLoopBlocks(loopUrl);
  const before = residentBytes(pid);
  const cpuBefore = cpuMicros();
  const startedMs = performance.now();
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), EXPORT_MS);
  let bytes = 0;
  let lines = 0;
  let headersMs = EXPORT_MS;
  try {
    const reply = await fetch(url + path, { headers, signal: stop.signal });
    headersMs = performance.now() - startedMs;
    if (reply.status !== 200 || reply.body === null) {
      await reply.body?.cancel();
      throw new Error(`${path} was answered with ${reply.status}`);
    }
    for await (const chunk of reply.body) {
      bytes += chunk.length;
      for (let at = -1; (at = chunk.indexOf(10, at + 1)) !== -1;) lines++;
      // While chunks have already arrived no timer runs, so the time is checked here.
      if (performance.now() - startedMs > EXPORT_MS) break;
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
  const tookMs = performance.now() - startedMs;
  const cpuMs = (cpuMicros() - cpuBefore) / 1000;
  const { longestMs, busiestMs = longestMs } = await readLoopBlocks(loopUrl);
  return {
    lines,
    megabytes: bytes / 1e6,
    tookMs,
    cpuMs,
    headersMs,
    blockedMs: longestMs,
    busiestMs,
    longestStatementMs: (await readStoreTimes(storeUrl)).longestMs,
    grownMegabytes: (residentBytes(pid) - before) / 1e6,
  };
}

/**
 * Has the system drop its cache of a file, so that the next reads come from the disk. Linux only.
 */
async function forgetPages(file: string): Promise<void> {
  const { code } = await new Deno.Command("dd", {
    args: [`if=${file}`, "iflag=nocache", "count=0"],
    stderr: "null",
  }).output();
  if (code !== 0) throw new Error(`dd could not drop the cache of ${file}`);
}

function lineOf(path: string, exported: Exported): string {
  const { lines, megabytes, tookMs, cpuMs, headersMs } = exported;
  const { blockedMs, busiestMs } = exported;
  const isOver = blockedMs > MAX_BLOCK_MS;
  return `${path.padEnd(64)} ${String(lines).padStart(7)} lines, ${
    (lines / tookMs * 1000).toFixed(0).padStart(6)
  } a second, ${
    (cpuMs * 1000 / Math.max(1, lines)).toFixed(0).padStart(4)
  } µs of processor time each, ${megabytes.toFixed(1).padStart(5)} MB in ${
    tookMs.toFixed(0).padStart(4)
  } ms, headers after ${headersMs.toFixed(0).padStart(4)} ms, blocks ${
    blockedMs.toFixed(1).padStart(5)
  } ms (processor ${busiestMs.toFixed(1).padStart(5)} ms), longest statement ${
    exported.longestStatementMs.toFixed(1).padStart(5)
  } ms, memory grew by ${exported.grownMegabytes.toFixed(0)} MB${
    isOver ? "  OVER" : ""
  }`;
}
