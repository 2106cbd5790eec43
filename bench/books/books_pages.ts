/**
 * The console over ten million ledger entries: how long each page takes, and for how long the
 * process answers nothing else meanwhile.
 */
import { ADMIN_TOKEN } from "../load/admin_post.ts";
import type { Admin } from "../../gateway/accounts/repositories/admin.ts";
import { openCpuClock } from "../measure/cpu_time.ts";
import type { BenchContext } from "../bench.ts";
import { startBooksGateway } from "./books_gateway.ts";
import { measureExports } from "./books_exports.ts";
import { readLoopBlocks } from "../measure/loop_probe.ts";
import { readStoreTimes } from "../measure/store_probe.ts";

/** The store, and the account, key, call and days whose pages and exports are measured. */
interface BooksPagesOptions {
  /** Address of the store. */
  readonly databaseUrl: string;
  /** An account with much usage, one of its keys, and one of its calls. */
  readonly accountId: string;
  readonly keyId: string;
  readonly callId: string;
  /** The first day with usage. */
  readonly first: string;
  /** First and last day of a month in the middle. */
  readonly from: string;
  readonly to: string;
  /** What alone is measured; undefined: pages and exports. */
  readonly only: "pages" | "exports" | undefined;
  /** See `BooksExportsOptions.coldFile`. */
  readonly coldFile?: string;
}

const DAY_MS = 86_400_000;
const ROUNDS = 3;
/** Goals of a page. */
const MAX_MS = 200;
const MAX_BLOCK_MS = 20;

function day(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function pagesOf(
  { accountId, keyId, callId, first, from, to }: BooksPagesOptions,
  isOperator: boolean,
): readonly string[] {
  const month = `from=${from}&to=${to}`;
  const lastMs = Date.now() - DAY_MS;
  const both = [
    "",
    "usage",
    "usage?by=model",
    "usage?by=key",
    `usage?by=user&account=${accountId}`,
    `usage?from=${first}`,
    `usage?by=model&from=${first}`,
    `usage?by=key&from=${first}`,
    `usage?by=user&account=${accountId}&from=${first}`,
    `usage?by=day&account=${accountId}&user=user_7`,
    `usage?by=model&model=model_3&${month}`,
    `usage?by=day&account=${accountId}&at=vendorb-5`,
    "usage?show=errors",
    "usage?show=calls&by=model",
    "usage?show=first_token&by=key",
    `usage?show=errors&key=${keyId}`,
    `usage?show=errors&by=day&account=${accountId}&model=model_3`,
    `usage?show=calls&from=${day(lastMs - 2 * DAY_MS)}&to=${day(lastMs)}`,
    "calls",
    "calls?outcome=failed",
    "calls?outcome=limited&model=model_3",
    "calls?code=none",
    "calls?status=502",
    "calls?ended=refused",
    "calls?user=nobody",
    `calls?model=model_3&${month}`,
    `calls?key=${keyId}`,
    `calls/${callId}`,
    "ledger",
    "ledger?kind=top_up",
    "ledger?user=nobody",
    `ledger?kind=charge&model=model_3&${month}`,
    `ledger?key=${keyId}`,
    `ledger?request_id=${callId}`,
    "keys",
    `keys/${keyId}`,
    "changes",
    "find?q=user_77",
    "find?q=key_7",
    `statement?account=${accountId}&month=${from.slice(0, "2026-11".length)}`,
  ];
  return isOperator
    ? [
      ...both,
      "?show=calls",
      "usage?by=account&show=errors",
      `usage?by=account&from=${first}`,
      "accounts",
      "accounts?sort=-spent",
      `accounts/${accountId}`,
      "keys?sort=-used",
      "plans",
      "models",
      "attempts",
      "attempts?upstream=upstream_3&error=503",
      "attempts?model=none",
      "webhooks",
      "live",
      "settings",
      "upstreams",
      "reconcile",
    ]
    : [
      // An account's own pages have no such parameter.
      ...both.map((page) =>
        page.replace(`account=${accountId}&`, "")
          .replace(`&account=${accountId}`, "")
      ),
      "models",
      "connect",
      "try",
      "access",
    ];
}

/** Asks every page and export of a gateway that runs on the store, and prints what it took. */
export async function measurePages(
  admin: Admin,
  options: BooksPagesOptions,
  { print, record }: Pick<BenchContext, "print" | "record">,
): Promise<void> {
  const { text: token = "" } = await admin.tokens.issue({
    accountId: options.accountId,
    scope: "manage",
  });
  using clock = openCpuClock();
  await using gateway = await startBooksGateway(options.databaseUrl, {
    GATEWAY_CONSOLE: "all",
  });
  const { url, pid, loopUrl, storeUrl } = gateway;
  const probes: Probes = {
    cpuMicros: () => clock.microsOf(pid),
    loopUrl,
    storeUrl,
  };
  const cookies: string[] = [];
  for (
    const [area, credential] of [
      ["/console/", token],
      ["/console/operator/", ADMIN_TOKEN],
    ] as const
  ) {
    const cookie = await signIn(url, area, credential);
    cookies.push(cookie);
    if (options.only === "exports") continue;
    let slowestMs = 0;
    let longestMs = 0;
    let busiestMs = 0;
    for (const page of pagesOf(options, credential === ADMIN_TOKEN)) {
      const measured = await measurePage(
        `${url}${area}${page}`,
        cookie,
        probes,
      );
      slowestMs = Math.max(slowestMs, measured.tookMs);
      longestMs = Math.max(longestMs, measured.blockedMs);
      busiestMs = Math.max(busiestMs, measured.busiestMs);
      record?.({ page: `${area}${page}`, ...measured });
      print(lineOf(`${area}${page}`, measured));
    }
    print(
      `${area}: slowest ${
        slowestMs.toFixed(0)
      } ms (goal ${MAX_MS}), longest block ${
        longestMs.toFixed(0)
      } ms (goal ${MAX_BLOCK_MS}), of processor time ${
        busiestMs.toFixed(0)
      } ms`,
    );
  }
  if (options.only === "pages") return;
  const [accountCookie = "", operatorCookie = ""] = cookies;
  const { accountId, first, coldFile } = options;
  await measureExports({
    url,
    pid,
    cpuMicros: probes.cpuMicros,
    loopUrl: probes.loopUrl,
    storeUrl: probes.storeUrl,
    accountCookie,
    operatorCookie,
    accountToken: token,
    adminToken: ADMIN_TOKEN,
    accountId,
    first,
    ...coldFile === undefined ? {} : { coldFile },
  }, { print, ...record === undefined ? {} : { record } });
}

async function signIn(
  url: string,
  area: string,
  credential: string,
): Promise<string> {
  const reply = await fetch(`${url}${area}sign-in`, {
    method: "POST",
    redirect: "manual",
    headers: { "sec-fetch-site": "same-origin" },
    body: new URLSearchParams({ credential }),
  });
  await reply.body?.cancel();
  const cookie = reply.headers.get("set-cookie")?.split(";")[0];
  if (cookie === undefined) {
    throw new Error(`the sign-in at ${area} was refused: ${reply.status}`);
  }
  return cookie;
}

/** How a gateway is observed. */
interface Probes {
  readonly cpuMicros: () => number;
  readonly loopUrl: string;
  readonly storeUrl: string;
}

/** A page, each figure the best of some rounds, so that other load on the machine counts least. */
interface Measured {
  readonly tookMs: number;
  /** Processor time of the gateway: it hardly depends on other load. */
  readonly cpuMs: number;
  /** All statements of the page, and the longest one. */
  readonly storeMs: number;
  readonly longestStatementMs: number;
  /** The longest time between two turns of the event loop. */
  readonly blockedMs: number;
  /** The same as processor time, without that of other processes. */
  readonly busiestMs: number;
  readonly kilobytes: number;
}

async function measurePage(
  url: string,
  cookie: string,
  { cpuMicros, loopUrl, storeUrl }: Probes,
): Promise<Measured> {
  const ask = async (): Promise<number> => {
    const reply = await fetch(url, { headers: { cookie } });
    const { byteLength } = await reply.arrayBuffer();
    if (reply.status !== 200) {
      throw new Error(`${url} was answered with ${reply.status}`);
    }
    return byteLength;
  };
  let best: Measured | undefined;
  // Reads the file.
  await ask();
  for (let round = 0; round < ROUNDS; round++) {
    await readStoreTimes(storeUrl);
    await readLoopBlocks(loopUrl);
    const before = cpuMicros();
    const startedMs = performance.now();
    const bytes = await ask();
    const tookMs = performance.now() - startedMs;
    const cpuMs = (cpuMicros() - before) / 1000;
    const { longestMs: blockedMs, busiestMs = blockedMs } =
      await readLoopBlocks(loopUrl);
    const store = await readStoreTimes(storeUrl);
    best = {
      tookMs: Math.min(best?.tookMs ?? Infinity, tookMs),
      cpuMs: Math.min(best?.cpuMs ?? Infinity, cpuMs),
      storeMs: Math.min(best?.storeMs ?? Infinity, store.totalMs),
      longestStatementMs: Math.min(
        best?.longestStatementMs ?? Infinity,
        store.longestMs,
      ),
      blockedMs: Math.min(best?.blockedMs ?? Infinity, blockedMs),
      busiestMs: Math.min(best?.busiestMs ?? Infinity, busiestMs),
      kilobytes: bytes / 1000,
    };
  }
  if (best === undefined) throw new Error("there is no round");
  return best;
}

function lineOf(page: string, measured: Measured): string {
  const ms = (value: number, width: number): string =>
    value.toFixed(0).padStart(width);
  const { tookMs, cpuMs, storeMs, longestStatementMs, kilobytes } = measured;
  const { blockedMs, busiestMs } = measured;
  return `${page.padEnd(66)} ${ms(tookMs, 5)} ms, processor ${
    ms(cpuMs, 4)
  } ms, of it statements ${ms(storeMs, 4)} ms (longest ${
    longestStatementMs.toFixed(1).padStart(5)
  }), blocks ${ms(blockedMs, 4)} ms (processor ${ms(busiestMs, 3)} ms), ${
    ms(kilobytes, 4)
  } kB${tookMs > MAX_MS || blockedMs > MAX_BLOCK_MS ? "  OVER" : ""}`;
}
