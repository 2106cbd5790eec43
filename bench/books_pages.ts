/**
 * The console over ten million ledger entries: how long each page takes, and for how long the process
 * answers nothing else meanwhile.
 *
 * @module
 */
import type { Admin } from "../gateway/accounts/repositories/admin.ts";
import { openCpuClock } from "./cpu_time.ts";
import {
  freePort,
  readToEnd,
  startProgram,
  stop,
  waitUntilReady,
} from "./targets/programs.ts";

/** The store, and the account, key, call and days whose pages are measured. */
export interface BooksPagesOptions {
  /** Address of the store. */
  readonly databaseUrl: string;
  /** An account with much usage, one of its keys, and one of its calls. */
  readonly accountId: string;
  readonly keyId: string;
  readonly callId: string;
  /** First and last day of a month in the middle. */
  readonly from: string;
  readonly to: string;
}

const ADMIN_TOKEN = "an-admin-token-of-a-benchmark";
const ROUNDS = 3;
/** Goals of a page. */
const MAX_MS = 200;
const MAX_BLOCK_MS = 20;

function pagesOf(
  { accountId, keyId, callId, from, to }: BooksPagesOptions,
  isOperator: boolean,
): readonly string[] {
  const month = `from=${from}&to=${to}`;
  const both = [
    "",
    "usage",
    "usage?by=model",
    "usage?by=key",
    `usage?by=user&account=${accountId}`,
    `usage?by=model&model=model_3&${month}`,
    `usage?by=day&account=${accountId}&at=vendorb-5`,
    "calls",
    "calls?ended=refused",
    `calls?model=model_3&${month}`,
    `calls?key=${keyId}`,
    `calls/${callId}`,
    "ledger",
    "ledger?kind=top_up",
    `ledger?kind=charge&model=model_3&${month}`,
    `ledger?key=${keyId}`,
    `ledger?request_id=${callId}`,
    "keys",
  ];
  return isOperator
    ? [
      ...both,
      "accounts",
      `accounts/${accountId}`,
      "plans",
      "upstreams",
      "changes",
      "reconcile",
    ]
    : [...both, "models", "connect", "try", "access"];
}

/** Asks every page of a gateway that runs on the store, and prints what it took. */
export async function measurePages(
  admin: Admin,
  options: BooksPagesOptions,
  print: (line: string) => void,
): Promise<void> {
  const { text: token = "" } = await admin.tokens.issue({
    accountId: options.accountId,
    scope: "manage",
  });
  using clock = openCpuClock();
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  const process = startProgram(Deno.execPath(), {
    args: ["run", "--allow-all", new URL("../main.ts", import.meta.url).href],
    env: {
      HOST: "127.0.0.1",
      PORT: String(port),
      DATABASE_URL: options.databaseUrl,
      GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN,
      GATEWAY_CONSOLE: "all",
      NO_COLOR: "1",
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
  const output = Promise.all([
    readToEnd(process.stdout),
    readToEnd(process.stderr),
  ]);
  try {
    await waitUntilReady(`${url}/healthz`, process);
    for (
      const [area, credential] of [
        ["/console/", token],
        ["/console/operator/", ADMIN_TOKEN],
      ] as const
    ) {
      const cookie = await signIn(url, area, credential);
      let slowestMs = 0;
      let longestMs = 0;
      for (const page of pagesOf(options, credential === ADMIN_TOKEN)) {
        const { tookMs, cpuMs, blockedMs } = await measurePage(
          url,
          `${area}${page}`,
          cookie,
          () => clock.microsOf(process.pid),
        );
        slowestMs = Math.max(slowestMs, tookMs);
        longestMs = Math.max(longestMs, blockedMs);
        print(
          `${`${area}${page}`.padEnd(70)} ${
            tookMs.toFixed(0).padStart(6)
          } ms, ${cpuMs.toFixed(0).padStart(5)} ms of processor, blocks ${
            blockedMs.toFixed(0).padStart(5)
          } ms${tookMs > MAX_MS || blockedMs > MAX_BLOCK_MS ? "  OVER" : ""}`,
        );
      }
      print(
        `${area}: slowest ${
          slowestMs.toFixed(0)
        } ms (goal ${MAX_MS}), longest block ${
          longestMs.toFixed(0)
        } ms (goal ${MAX_BLOCK_MS})`,
      );
    }
  } finally {
    await stop(process, "SIGTERM");
    await output;
  }
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

interface Measured {
  readonly tookMs: number;
  /** Processor time of the gateway: it hardly depends on other load. */
  readonly cpuMs: number;
  readonly blockedMs: number;
}

/** The best of some rounds, so that other load on the machine counts least. */
async function measurePage(
  url: string,
  path: string,
  cookie: string,
  cpuMicros: () => number,
): Promise<Measured> {
  const ask = async (): Promise<number> => {
    const startedMs = performance.now();
    const reply = await fetch(`${url}${path}`, { headers: { cookie } });
    await reply.arrayBuffer();
    if (reply.status !== 200) {
      throw new Error(`${path} was answered with ${reply.status}`);
    }
    return performance.now() - startedMs;
  };
  let best: Measured = {
    tookMs: Infinity,
    cpuMs: Infinity,
    blockedMs: Infinity,
  };
  // Reads the file.
  await ask();
  for (let round = 0; round < ROUNDS; round++) {
    const before = cpuMicros();
    const tookMs = await ask();
    const cpuMs = (cpuMicros() - before) / 1000;
    const probe = probeBlocks(`${url}/healthz`);
    await ask();
    const blockedMs = await probe.end();
    best = {
      tookMs: Math.min(best.tookMs, tookMs),
      cpuMs: Math.min(best.cpuMs, cpuMs),
      blockedMs: Math.min(best.blockedMs, blockedMs),
    };
  }
  return best;
}

/** Asks for a reply without work again and again: the longest wait is the longest block. */
function probeBlocks(url: string): { end(): Promise<number> } {
  let isEnded = false;
  const longest = (async () => {
    let longestMs = 0;
    while (!isEnded) {
      const startedMs = performance.now();
      const reply = await fetch(url);
      await reply.body?.cancel();
      longestMs = Math.max(longestMs, performance.now() - startedMs);
    }
    return longestMs;
  })();
  return {
    end() {
      isEnded = true;
      return longest;
    },
  };
}
