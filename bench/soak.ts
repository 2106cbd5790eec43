/**
 * The soak: a gateway under thousands of calls of which a third go wrong in every way at once, then under a thousand slow streams.
 * Unlike the other benchmarks it judges: whatever is left behind is a failure.
 *
 * @module
 */
import { homedir } from "node:os";
import { residentBytes } from "./cpu_time.ts";
import type { Bench, BenchContext } from "./mod.ts";
import { lane, type SoakAddress, type SoakTally } from "./soak_callers.ts";
import {
  marked,
  type SoakUpstream,
  startSoakUpstream,
} from "./soak_upstream.ts";
import { tableLines } from "./table.ts";
import { startProgram } from "./targets/listening.ts";

const ROOT = new URL("../", import.meta.url).pathname;
const ADMIN_TOKEN = "soak-admin-token-0123456789";
const LANES = 48;
const STREAMS = 1_000;
const MOST_HELD_SECONDS = 8;

/** Memory at the end beside memory once warm: this many times as much, and so much more, is still flat. */
const GROWTH = 1.35;
const SLACK_BYTES = 48 * 1024 * 1024;

/** The benchmark. */
export const soak: Bench = {
  about:
    "thousands of calls, a third of them gone wrong: what is left behind? --seconds=60 --streams=1000",
  takesFlags: true,
  run: runSoak,
};

async function runSoak(
  { print }: BenchContext,
  flags: readonly string[],
): Promise<number> {
  const given = flagsOf(flags);
  if (given === undefined) {
    print("deno task bench soak [--seconds=5…3600] [--streams=0…5000]");
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
      const tally = await faults(
        address,
        gateway,
        given.seconds,
        print,
        findings,
      );
      const held = await slowStreams(
        address,
        gateway,
        given,
        print,
        findings,
      );
      await left(gateway, upstream, findings);
      made = tally.calls + held;
    } finally {
      gateway.process.kill("SIGTERM");
    }
    const { code } = await gateway.process.status;
    if (code !== 0) findings.push(`the gateway ended with ${code}`);
    await gateway.allRead;
    const logged = gateway.lines() - before;
    if (logged !== made) {
      findings.push(`${made} calls have ${logged} lines in the log`);
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
    findings.length === 0
      ? "nothing is left behind"
      : `${findings.length} findings`,
  );
  return findings.length === 0 ? 0 : 1;
}

interface SoakSize {
  /** How long calls go wrong. */
  readonly seconds: number;
  /** Streams that are held open afterwards. */
  readonly streams: number;
}

function flagsOf(
  flags: readonly string[],
): SoakSize | undefined {
  let seconds = 60;
  let streams = STREAMS;
  for (const flag of flags) {
    const [, name, digits] = /^--(seconds|streams)=(\d{1,4})$/.exec(flag) ?? [];
    if (name === "seconds") seconds = Number(digits);
    else if (name === "streams") streams = Number(digits);
    else return undefined;
  }
  return seconds >= 5 && seconds <= 3600 && streams <= 5000
    ? { seconds, streams }
    : undefined;
}

interface SoakGateway {
  readonly url: string;
  readonly process: Deno.ChildProcess;
  /** Lines of the log so far. */
  lines(): number;
  /** Resolves when there will be no more lines. */
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
    args: ["run", "--no-prompt", "--no-check", "-A", `${ROOT}main.ts`],
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
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  });
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
        const url = /^Model gateway at (http\S+)/.exec(line)?.[1];
        if (url !== undefined) address.resolve(url);
      }
    }
    address.reject(new Error("the gateway did not start"));
  };
  const allRead = read();
  return {
    url: await address.promise,
    process,
    lines: () => lines,
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

/** Judges memory, and says it. */
function judgeMemory(
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

async function faults(
  address: SoakAddress,
  { process }: SoakGateway,
  seconds: number,
  print: (line: string) => void,
  findings: string[],
): Promise<SoakTally> {
  const tally: SoakTally = { calls: 0, outcomes: new Map(), wrong: [] };
  const endMs = performance.now() + seconds * 1000;
  const lanes = Array.from(
    { length: LANES },
    () => lane(address, tally, () => performance.now() > endMs),
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
      ["what was done, what came", "calls"],
      ...rows.map(([what, count]) => [what, String(count)]),
    ])
  ) print(line);
  findings.push(...tally.wrong);
  // The second quarter is warm; both are medians, for the collector comes and goes.
  judgeMemory(
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

/** Holds streams open, all at once; gives how many calls that were. */
async function slowStreams(
  { url, keys }: SoakAddress,
  { process }: SoakGateway,
  { streams, seconds }: SoakSize,
  print: (line: string) => void,
  findings: string[],
): Promise<number> {
  if (streams === 0) return 0;
  const heldSeconds = Math.min(MOST_HELD_SECONDS, Math.ceil(seconds / 5));
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
        messages: [{ role: "user", content: marked("hold", `held-${n}`) }],
      }),
      signal: controller.signal,
    });
    if (response.status !== 200) {
      findings.push(`a held stream got ${response.status}`);
    }
    const read = async (): Promise<void> => {
      for await (const _ of response.body ?? []) {
        // A caller that takes its time.
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
  judgeMemory(
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

/** Waits, for a while, until nothing is under way; what still is then was leaked. */
async function left(
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
    `left behind: ${taken} places, ${streams} streams, ${upstream.open()} connections to the upstream`,
  );
}

async function auditOf(folder: string): Promise<string> {
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--no-check",
      "-A",
      `${ROOT}gateway/cli.ts`,
      "ledger",
      "audit",
    ],
    clearEnv: true,
    env: environment(folder),
  }).output();
  const text = new TextDecoder();
  return `${text.decode(stdout)}${text.decode(stderr)}`.trim();
}
