/**
 * `deno task bench soak`: a gateway under thousands of calls, a third of them with faults of all
 * kinds, then with a thousand slow streams. Afterwards it must have returned to its initial state:
 * leaked memory, slots, connections, missing log lines and a ledger that does not balance fail the
 * run.
 */
import { residentBytes } from "../measure/cpu_time.ts";
import type { Bench, BenchContext } from "../bench.ts";
import { startChild } from "../load/child.ts";
import { runClient, type SoakTally, type SoakTarget } from "./soak_clients.ts";
import { KEPT_KINDS, keptByKind } from "./soak_kept.ts";
import { runLeavers } from "./soak_leavers.ts";
import { runHostile } from "./soak_hostile.ts";
import {
  auditOf,
  balancesOf,
  gaugeOf,
  openAccounts,
  type SoakGateway,
  startGateway,
} from "./soak_gateway.ts";
import {
  behaviourTag,
  type SoakUpstream,
  startSoakUpstream,
} from "./soak_upstream.ts";
import { tableLines } from "../report/table.ts";

const LANES = 48;
/** Lanes beside hostile parties, which need processor time too. */
const LANES_BESIDE = 4;
/** An account may owe what the calls under way cost more than they reserved. */
const MAX_DEBT_MICRO_USD = 100_000;
const STREAMS = 1_000;
const MAX_HELD_SECONDS = 8;
/** Longest part that measures kept memory, over all kinds: a longer one shows nothing new. */
const MAX_KEPT_SECONDS = 300;

/** Memory is flat when the end is at most `GROWTH` times the warm value plus `SLACK_BYTES`. */
const GROWTH = 1.35;
const SLACK_BYTES = 48 * 1024 * 1024;

/** The soak test. */
export const soak: Bench = {
  about:
    "leaks after thousands of calls, a third of them with faults; --seconds=60 (--minutes=N) --streams=1000 --hostile",
  takesFlags: true,
  run: runSoak,
};

async function runSoak(
  { print, record }: BenchContext,
  flags: readonly string[],
): Promise<number> {
  const size = flagsOf(flags);
  if (size === undefined) {
    print(
      "deno task bench soak [--seconds=5…3600] [--minutes=1…600] [--streams=0…5000] [--kinds=good,cut,…|none] [--hostile]",
    );
    return 2;
  }
  const folder = await Deno.makeTempDir();
  const upstream = await startSoakUpstream();
  const findings: string[] = [];
  let made = 0;
  let before = 0;
  let unlogged = 0;
  await using rightCalls = size.isHostile
    ? startChild("load/right_calls.ts")
    : undefined;
  try {
    // The message's shape is defined in right_calls.ts.
    const beside = await rightCalls?.receive() as { port: number } | undefined;
    const gateway = await startGateway(folder, upstream.port, beside?.port);
    try {
      const allKeys = await openAccounts(gateway.url);
      const keys = allKeys.slice(0, -1);
      const address = { url: gateway.url, keys, upstream };
      before = gateway.lines();
      const [tally, hostile, leavers] = await Promise.all([
        runFaultyCalls(address, gateway, size, print, findings),
        rightCalls !== undefined
          ? runHostile({
            gateway,
            rightCalls,
            keys: [keys[0] ?? "", keys[1] ?? ""],
            file: `${folder}/gateway.sqlite3`,
            seconds: size.seconds,
          })
          : undefined,
        size.isHostile
          ? runLeavers({
            url: gateway.url,
            key: allKeys.at(-1) ?? "",
            upstream,
            seconds: size.seconds,
          })
          : undefined,
      ]);
      for (const line of leavers?.lines ?? []) print(line);
      findings.push(...leavers?.findings ?? []);
      for (const line of hostile?.lines ?? []) print(line);
      findings.push(...hostile?.findings ?? []);
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
        seconds: Math.min(size.seconds, MAX_KEPT_SECONDS),
        measure: async () => {
          await checkLeaks(gateway, upstream, findings);
          return await gateway.kept();
        },
        tally: each,
      });
      for (const line of kept.lines) print(line);
      for (const row of kept.figures) record?.(row);
      findings.push(...kept.findings);
      made = each.calls + held + (hostile?.calls ?? 0) +
        (leavers?.calls ?? 0);
      unlogged = await gaugeOf(gateway.url, "gateway_log_lines_dropped_total");
      if (hostile !== undefined) {
        const least = Math.min(...await balancesOf(gateway.url));
        const bounded = await gaugeOf(
          gateway.url,
          "gateway_bounded_calls_total",
        );
        print(
          `least balance ${least} micro-dollars, bounded calls ${bounded}, lines dropped ${unlogged}`,
        );
        if (least < -MAX_DEBT_MICRO_USD || !(bounded > 0)) {
          findings.push("what an upstream claimed was charged");
        }
      }
    } finally {
      gateway.process.kill("SIGTERM");
    }
    const { code } = await gateway.process.status;
    if (code !== 0) findings.push(`the gateway ended with ${code}`);
    await gateway.allRead;
    const logged = gateway.lines() - before;
    // Refused reports have lines, too.
    if (size.isHostile ? logged + unlogged < made : logged !== made) {
      findings.push(`${made} calls but ${logged} lines in the log`);
    }
    print(`calls ${made}, lines in the log ${logged}`);
    const audit = await auditOf(folder);
    print(`ledger audit: ${audit}`);
    record?.({ calls: made, logged, audit });
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
  /** Whether hostile parties run beside the calls; there are fewer calls then. */
  readonly isHostile: boolean;
}

function flagsOf(
  flags: readonly string[],
): SoakSize | undefined {
  let seconds = 60;
  let streams = STREAMS;
  let kinds = KEPT_KINDS;
  let isHostile = false;
  for (const flag of flags) {
    if (flag === "--hostile") {
      isHostile = true;
      continue;
    }
    const minutes = Number(/^--minutes=([1-9]\d{0,2})$/.exec(flag)?.[1]);
    if (minutes <= 600) {
      seconds = minutes * 60;
      continue;
    }
    if (flag === "--kinds=none") {
      kinds = [];
      continue;
    }
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
  return seconds >= 5 && seconds <= 36_000 && streams <= 5000
    ? { seconds, streams, kinds, isHostile }
    : undefined;
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
  { seconds, isHostile }: Pick<SoakSize, "seconds" | "isHostile">,
  print: (line: string) => void,
  findings: string[],
): Promise<SoakTally> {
  const laneCount = isHostile ? LANES_BESIDE : LANES;
  const tally: SoakTally = { calls: 0, outcomes: new Map(), wrong: [] };
  const endMs = performance.now() + seconds * 1000;
  const lanes = Array.from(
    { length: laneCount },
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
  print(`${tally.calls} calls in ${seconds} s by ${laneCount} callers at once`);
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
