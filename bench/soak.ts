/**
 * `deno task bench soak`: a gateway under thousands of calls, a third of them with faults of all
 * kinds, then with a thousand slow streams. Afterwards it must have returned to its initial state:
 * leaked memory, slots, connections, missing log lines and a ledger that does not balance fail the
 * run.
 *
 * @module
 */
import { homedir } from "node:os";
import { residentBytes } from "./cpu_time.ts";
import type { Bench, BenchContext } from "./bench.ts";
import { runClient, type SoakTally, type SoakTarget } from "./soak_clients.ts";
import { KEPT_KINDS, keptByKind } from "./soak_kept.ts";
import type { KeptBytes } from "./soak_program.ts";
import {
  behaviourTag,
  type SoakUpstream,
  startSoakUpstream,
} from "./soak_upstream.ts";
import { tableLines } from "./table.ts";
import { startProgram } from "./targets/programs.ts";

const ROOT = new URL("../", import.meta.url).pathname;
const ADMIN_TOKEN = "soak-admin-token-0123456789";
const LANES = 48;
const STREAMS = 1_000;
const MAX_HELD_SECONDS = 8;

/** Memory is flat when the end is at most `GROWTH` times the warm value plus `SLACK_BYTES`. */
const GROWTH = 1.35;
const SLACK_BYTES = 48 * 1024 * 1024;

/** The soak test. */
export const soak: Bench = {
  about:
    "leaks after thousands of calls, a third of them with faults; --seconds=60 --streams=1000",
  takesFlags: true,
  run: runSoak,
};

async function runSoak(
  { print }: BenchContext,
  flags: readonly string[],
): Promise<number> {
  const size = flagsOf(flags);
  if (size === undefined) {
    print(
      "deno task bench soak [--seconds=5…3600] [--streams=0…5000] [--kinds=good,cut,…]",
    );
    return 2;
  }
  const folder = await Deno.makeTempDir();
  const upstream = await startSoakUpstream();
  const findings: string[] = [];
  let made = 0;
  let before = 0;
  try {
    const gateway = await startGateway(folder, upstream.port);
    try {
      const keys = await openAccounts(gateway.url);
      const address = { url: gateway.url, keys, upstream };
      before = gateway.lines();
      const tally = await runFaultyCalls(
        address,
        gateway,
        size.seconds,
        print,
        findings,
      );
      const held = await slowStreams(
        address,
        gateway,
        size,
        print,
        findings,
      );
      await checkLeaks(gateway, upstream, findings);
      const each: SoakTally = {
        calls: tally.calls,
        outcomes: new Map(),
        wrong: findings,
      };
      const kept = await keptByKind({
        address,
        kinds: size.kinds,
        seconds: size.seconds,
        measure: async () => {
          await checkLeaks(gateway, upstream, findings);
          return await gateway.kept();
        },
        tally: each,
      });
      for (const line of kept.lines) print(line);
      findings.push(...kept.findings);
      made = each.calls + held;
    } finally {
      gateway.process.kill("SIGTERM");
    }
    const { code } = await gateway.process.status;
    if (code !== 0) findings.push(`the gateway ended with ${code}`);
    await gateway.allRead;
    const logged = gateway.lines() - before;
    if (logged !== made) {
      findings.push(`${made} calls but ${logged} lines in the log`);
    }
    print(`calls ${made}, lines in the log ${logged}`);
    const audit = await auditOf(folder);
    print(`ledger audit: ${audit}`);
    if (audit !== "The books balance.") findings.push(audit);
  } finally {
    upstream.close();
    await Deno.remove(folder, { recursive: true });
  }
  for (const finding of findings.slice(0, 20)) print(`WRONG: ${finding}`);
  print(
    findings.length === 0 ? "no leaks" : `${findings.length} findings`,
  );
  return findings.length === 0 ? 0 : 1;
}

interface SoakSize {
  /** Length of the part with faults. */
  readonly seconds: number;
  /** Number of streams that are then held open. */
  readonly streams: number;
  /** Kinds of calls whose kept memory is measured. */
  readonly kinds: readonly string[];
}

function flagsOf(
  flags: readonly string[],
): SoakSize | undefined {
  let seconds = 60;
  let streams = STREAMS;
  let kinds = KEPT_KINDS;
  for (const flag of flags) {
    const listed = /^--kinds=(.+)$/.exec(flag)?.[1]?.split(",");
    if (listed?.every((kind) => KEPT_KINDS.includes(kind)) === true) {
      kinds = listed;
      continue;
    }
    const [, name, digits] = /^--(seconds|streams)=(\d{1,4})$/.exec(flag) ?? [];
    if (name === "seconds") seconds = Number(digits);
    else if (name === "streams") streams = Number(digits);
    else return undefined;
  }
  return seconds >= 5 && seconds <= 3600 && streams <= 5000
    ? { seconds, streams, kinds }
    : undefined;
}

interface SoakGateway {
  readonly url: string;
  readonly process: Deno.ChildProcess;
  /** Number of calls in the log so far. */
  lines(): number;
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

async function startGateway(
  folder: string,
  upstreamPort: number,
): Promise<SoakGateway> {
  const upstream = `http://127.0.0.1:${upstreamPort}`;
  const process = startProgram(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--no-check",
      "-A",
      "--v8-flags=--expose-gc",
      `${ROOT}bench/soak_program.ts`,
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
      GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN,
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
  const address = Promise.withResolvers<string>();
  const read = async (): Promise<void> => {
    let rest = "";
    for await (
      const piece of process.stdout.pipeThrough(new TextDecoderStream())
    ) {
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

async function openAccounts(url: string): Promise<readonly string[]> {
  const post = async (
    path: string,
    body: unknown,
  ): Promise<{ id: string; key: string }> => {
    const response = await fetch(`${url}/admin/v1/${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${ADMIN_TOKEN}`,
        "content-type": "application/json",
      },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return await response.json();
  };
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
    ] as const
  ) {
    const account = await post("accounts", { plan: planId });
    await post(`accounts/${account.id}/top-ups`, { micro_usd: microUsd });
    keys.push((await post("keys", { account: account.id })).key);
  }
  return keys;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MiB`;
}

/** Prints the memory of a phase, and adds a finding when it grew. */
function checkMemory(
  what: string,
  warm: number,
  end: number,
  print: (line: string) => void,
  findings: string[],
): void {
  print(
    `${what}: memory ${mebibytes(warm)} warm, ${mebibytes(end)} at the end`,
  );
  if (end > warm * GROWTH + SLACK_BYTES) {
    findings.push(
      `${what}: memory grew from ${mebibytes(warm)} to ${mebibytes(end)}`,
    );
  }
}

async function runFaultyCalls(
  address: SoakTarget,
  { process }: SoakGateway,
  seconds: number,
  print: (line: string) => void,
  findings: string[],
): Promise<SoakTally> {
  const tally: SoakTally = { calls: 0, outcomes: new Map(), wrong: [] };
  const endMs = performance.now() + seconds * 1000;
  const lanes = Array.from(
    { length: LANES },
    () => runClient(address, tally, () => performance.now() > endMs),
  );
  const samples: number[] = [];
  const sampler = setInterval(
    () => samples.push(residentBytes(process.pid)),
    seconds * 1000 / 40,
  );
  try {
    await Promise.all(lanes);
  } finally {
    clearInterval(sampler);
  }
  print(`${tally.calls} calls in ${seconds} s by ${LANES} callers at once`);
  const rows = [...tally.outcomes].toSorted(([a], [b]) => a < b ? -1 : 1);
  for (
    const line of tableLines([
      ["behaviour and outcome", "calls"],
      ...rows.map(([what, count]) => [what, String(count)]),
    ])
  ) print(line);
  findings.push(...tally.wrong);
  // The process is warm in the second quarter. Medians, because garbage collection makes samples
  // vary.
  checkMemory(
    "faults",
    middle(samples.slice(10, 20)),
    middle(samples.slice(30)),
    print,
    findings,
  );
  return tally;
}

function middle(samples: readonly number[]): number {
  return samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? 0;
}

/** Holds all streams open at the same time; returns the number of calls. */
async function slowStreams(
  { url, keys }: SoakTarget,
  { process }: SoakGateway,
  { streams, seconds }: SoakSize,
  print: (line: string) => void,
  findings: string[],
): Promise<number> {
  if (streams === 0) return 0;
  const heldSeconds = Math.min(MAX_HELD_SECONDS, Math.ceil(seconds / 5));
  const controllers: AbortController[] = [];
  const readers: Promise<void>[] = [];
  for (let n = 0; n < streams; n++) {
    const controller = new AbortController();
    controllers.push(controller);
    const response = await fetch(`${url}/v1/messages`, {
      method: "POST",
      headers: {
        "x-api-key": keys[0] ?? "",
        "content-type": "application/json",
      },
      body: JSON.stringify({
        model: n % 2 === 0 ? "vendora-opus-4-8" : "vendorb-5",
        max_tokens: 10,
        stream: true,
        messages: [{
          role: "user",
          content: behaviourTag("hold", `held-${n}`),
        }],
      }),
      signal: controller.signal,
    });
    if (response.status !== 200) {
      findings.push(`a held stream got ${response.status}`);
    }
    const read = async (): Promise<void> => {
      for await (const _ of response.body ?? []) {
        // The client reads slowly.
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      findings.push("a held stream ended by itself");
    };
    readers.push(read().catch(() => {}));
  }
  const open = residentBytes(process.pid);
  await new Promise((resolve) => setTimeout(resolve, heldSeconds * 1000));
  const gauge = await gaugeOf(url, "gateway_open_streams");
  if (gauge !== streams) {
    findings.push(`${gauge} streams are open, not ${streams}`);
  }
  checkMemory(
    `${streams} slow streams for ${heldSeconds} s`,
    open,
    residentBytes(process.pid),
    print,
    findings,
  );
  for (const controller of controllers) controller.abort();
  await Promise.all(readers);
  return streams;
}

async function gaugeOf(url: string, name: string): Promise<number> {
  const response = await fetch(`${url}/metrics`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  const found = new RegExp(`^${name} (\\d+)$`, "m").exec(await response.text());
  return Number(found?.[1] ?? NaN);
}

/**
 * Waits up to 20 seconds until no call, stream or connection is open; those that remain are leaks.
 */
async function checkLeaks(
  { url }: SoakGateway,
  upstream: SoakUpstream,
  findings: string[],
): Promise<void> {
  const endMs = performance.now() + 20_000;
  let taken = NaN;
  let streams = NaN;
  while (performance.now() < endMs) {
    taken = await gaugeOf(url, "gateway_calls_under_way");
    streams = await gaugeOf(url, "gateway_open_streams");
    if (taken === 0 && streams === 0 && upstream.open() === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  findings.push(
    `leaked: ${taken} concurrency slots, ${streams} streams, ${upstream.open()} connections to the upstream`,
  );
}

async function auditOf(folder: string): Promise<string> {
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--no-check",
      "-A",
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
