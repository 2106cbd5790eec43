/**
 * The gateway of the soak test: its process, its accounts, its gauges and its ledger.
 */
import { homedir } from "node:os";
import { ADMIN_TOKEN, adminPost } from "../load/admin_post.ts";
import type { KeptBytes } from "./soak_program.ts";
import { startProgram } from "../targets/programs.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** The running gateway. */
export interface SoakGateway {
  /** Its address. */
  readonly url: string;
  /** Ends after a SIGTERM. */
  readonly process: Deno.ChildProcess;
  /** Number of calls in the log so far. */
  lines(): number;
  /** Leaves its output unread for a while. */
  stallLog(ms: number): void;
  /** Memory in use after forced collections. */
  kept(): Promise<KeptBytes>;
  /** Resolves at the end of the log. */
  readonly allRead: Promise<void>;
}

function environment(folder: string): Record<string, string> {
  return {
    PATH: "/usr/bin:/bin",
    HOME: homedir(),
    DATABASE_URL: `sqlite:${folder}/gateway.sqlite3`,
  };
}

/** Starts a gateway with a ledger in `folder`; vendor D has an upstream of its own. */
export async function startGateway(
  folder: string,
  upstreamPort: number,
  besidePort: number = upstreamPort,
): Promise<SoakGateway> {
  const upstream = `http://127.0.0.1:${upstreamPort}`;
  const config = `${folder}/gateway.json`;
  // Its upstream shares the machine with everything else, and never stalls on purpose.
  await Deno.writeTextFile(
    config,
    '{"models":{"vendord-m3":{"timeouts":{"first_byte_seconds":30,"idle_seconds":30}}}}',
  );
  const process = startProgram(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--no-check",
      "-A",
      "--v8-flags=--expose-gc",
      `--lock=${ROOT}deno.lock`,
      `${ROOT}bench/soak/soak_program.ts`,
    ],
    clearEnv: true,
    env: {
      ...environment(folder),
      PORT: "0",
      VENDORA_API_KEY: "a",
      VENDORA_BASE_URL: upstream,
      VENDORB_API_KEY: "b",
      VENDORB_BASE_URL: `${upstream}/v1`,
      VENDORC_API_KEY: "c",
      VENDORC_BASE_URL: upstream,
      VENDORD_API_KEY: "d",
      VENDORD_BASE_URL: `http://127.0.0.1:${besidePort}`,
      GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN,
      GATEWAY_CONFIG: config,
      GATEWAY_FIRST_BYTE_TIMEOUT_SECONDS: "2",
      GATEWAY_IDLE_TIMEOUT_SECONDS: "2",
      GATEWAY_PING_SECONDS: "1",
    },
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  });
  const asking = process.stdin.getWriter();
  let answered: (kept: KeptBytes) => void = () => {};
  let lines = 0;
  let stalled: Promise<void> | undefined;
  const address = Promise.withResolvers<string>();
  const read = async (): Promise<void> => {
    let rest = "";
    for await (
      const piece of process.stdout.pipeThrough(new TextDecoderStream())
    ) {
      await stalled;
      const all = (rest + piece).split("\n");
      rest = all.pop() ?? "";
      for (const line of all) {
        if (line.includes('"request_id":')) lines++;
        const kept = /^KEPT (.+)$/.exec(line)?.[1];
        // Its output is in its log file.
        if (kept !== undefined) answered(JSON.parse(kept) as KeptBytes);
        const url = /^Model gateway at (http\S+)/.exec(line)?.[1];
        if (url !== undefined) address.resolve(url);
      }
    }
    await asking.close().catch(() => {});
    address.reject(new Error("the gateway did not start"));
  };
  const allRead = read();
  return {
    url: await address.promise,
    process,
    lines: () => lines,
    stallLog(ms) {
      stalled = new Promise((resolve) => void setTimeout(resolve, ms));
    },
    async kept() {
      const answer = new Promise<KeptBytes>((resolve) => {
        answered = resolve;
      });
      await asking.write(new TextEncoder().encode("?\n"));
      return await answer;
    },
    allRead,
  };
}

/**
 * Opens the callers' accounts: three with everything, one with little money, one with tight limits.
 */
export async function openAccounts(url: string): Promise<readonly string[]> {
  const post = (path: string, body: unknown) => adminPost(url, path, body);
  const plan = await post("plans", {
    requests_per_minute: 1_000_000,
    tokens_per_minute: 1_000_000_000,
    concurrent_requests: 5_000,
    spend_per_day_micro_usd: 1_000_000_000_000,
  });
  const tight = await post("plans", {
    requests_per_minute: 60,
    concurrent_requests: 2,
  });
  const keys: string[] = [];
  for (
    const [planId, microUsd] of [
      [plan.id, 1_000_000_000_000],
      [plan.id, 1_000_000_000_000],
      [plan.id, 1_000_000_000_000],
      [plan.id, 200_000],
      [tight.id, 1_000_000_000],
      // For the clients that leave.
      [plan.id, 1_000_000_000_000],
    ] as const
  ) {
    const account = await post("accounts", { plan: planId });
    await post(`accounts/${account.id}/top-ups`, { micro_usd: microUsd });
    keys.push((await post("keys", { account: account.id })).key);
  }
  return keys;
}

/** The sum of a metric over its labels; NaN if it is not reported. */
export async function gaugeOf(url: string, name: string): Promise<number> {
  const response = await fetch(`${url}/metrics`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  const found = [
    ...(await response.text()).matchAll(
      new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, "gm"),
    ),
  ];
  return found.length === 0
    ? NaN
    : found.reduce((sum, [, count]) => sum + Number(count), 0);
}

/** The balance of every account, in micro-dollars. */
export async function balancesOf(url: string): Promise<readonly number[]> {
  const response = await fetch(`${url}/admin/v1/accounts`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  const { data }: { data: { balance_micro_usd: number }[] } = await response
    .json();
  return data.map((account) => account.balance_micro_usd);
}

/** The output of the audit of the ledger. */
export async function auditOf(folder: string): Promise<string> {
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--no-check",
      "-A",
      `--lock=${ROOT}deno.lock`,
      `${ROOT}gateway/cli/cli.ts`,
      "ledger",
      "audit",
    ],
    clearEnv: true,
    env: environment(folder),
  }).output();
  const text = new TextDecoder();
  return `${text.decode(stdout)}${text.decode(stderr)}`.trim();
}
