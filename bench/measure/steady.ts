/**
 * A steady rate of calls to an upstream that takes its time, as in production: the time that a
 * target adds to a call, how long its event loop is blocked, and its memory over the run.
 */
import { compact } from "../../replay/compact.ts";
import { startChild } from "../load/child.ts";
import { CAN_READ_PROCESSES, residentBytes } from "./cpu_time.ts";
import { MAX_BLOCK_MS, MAX_STEADY_ADDED_MS } from "../report/goals.ts";
import type { LoadJob } from "../load/load_job.ts";
import { readLoopBlocks } from "./loop_probe.ts";
import {
  type Instruments,
  jobFor,
  measureJob,
  type Sample,
} from "./measure.ts";
import { DEFAULT_PLAN } from "../load/reply_plan.ts";
import type { InstalledTarget, RunningTarget } from "./rounds.ts";
import { type ExchangeKind, scenarioOf } from "./scenarios.ts";
import { median, type Spread, spreadOf } from "../report/statistics.ts";
import { type Goal, goal, isOwnGateway } from "../report/summary.ts";

/** A target under a steady rate of calls. An absent figure could not be measured. */
export interface SteadyRow {
  /** Name of the target. */
  readonly target: string;
  /** Calls per second of real time, median over the rounds. */
  readonly perSecond: number;
  /** Microseconds of processor time per call. */
  readonly cpuMicros?: Spread;
  /** From a call to the end of its reply, in milliseconds; medians over the rounds. */
  readonly waitMs: { readonly p50: number; readonly p99: number };
  /** The same, minus the direct connection's in the same round; absent for that one. */
  readonly addedMs?: { readonly p50: Spread; readonly p99: Spread };
  /** The longest block of the event loop in each round, in milliseconds. */
  readonly blockMs?: Spread;
  /** Number of blocks of more than ten milliseconds, in all rounds. */
  readonly longBlocks?: number;
  /** Resident memory after each round, in bytes. */
  readonly residentBytes: readonly number[];
  /** Goals of this project's gateway; absent for other targets. */
  readonly goals?: readonly Goal[];
  /** Number of wrong replies. */
  readonly faults: number;
  /** The first distinct problems. */
  readonly problems: readonly string[];
}

/** Number and length of the rounds. */
export interface SteadyOptions {
  /** Number of rounds, not counting the warm-up before them. */
  readonly rounds: number;
  /** Length of a round of a target. */
  readonly ms: number;
}

const PER_SECOND = 500;
const UPSTREAM_MS = 50;

/** Name of the row of an idle process: how long the machine keeps any process waiting. */
export const IDLE = "idle process";

const STEADY: ExchangeKind = {
  name: "steady",
  about:
    `whole replies, ${PER_SECOND} calls a second, the upstream answers after ${UPSTREAM_MS} ms`,
  unit: "request",
  plan: { ...DEFAULT_PLAN, waitMs: UPSTREAM_MS },
  stream: false,
  promptBytes: 100,
  // Twice the connections that are busy if nothing but the upstream takes time.
  connections: 2 * PER_SECOND * UPSTREAM_MS / 1000,
  measures: "wait",
};

const DIRECTION = { caller: "messages", upstream: "messages" } as const;
const SCENARIO = scenarioOf(STEADY, DIRECTION);
/** Length of the warm-up of a target; a round's if that is shorter. */
export const WARM_UP_MS = 2_000;

interface Measured extends RunningTarget {
  readonly samples: Sample[];
  readonly blocks: { readonly longestMs: number; readonly long: number }[];
  readonly resident: number[];
}

/** Measures all targets in turns. The first must be the direct connection. */
export async function measureSteady(
  instruments: Instruments,
  installed: readonly InstalledTarget[],
  { rounds, ms }: SteadyOptions,
): Promise<readonly SteadyRow[]> {
  await using stack = new AsyncDisposableStack();
  const all: Measured[] = [];
  for (const { name, site } of installed) {
    const target = stack.use(await site.start({ probed: true }));
    if (target.address(DIRECTION) === undefined) continue;
    all.push({ name, target, samples: [], blocks: [], resident: [] });
  }
  const idle = stack.use(startChild("measure/loop_probe.ts"));
  // The message's shape is defined in loop_probe.ts.
  const { port } = await idle.receive() as { readonly port: number };
  const idleUrl = `http://127.0.0.1:${port}/`;
  const idleBlocks: Measured["blocks"] = [];
  for (let round = 0; round <= rounds; round++) {
    const isWarmUp = round === 0;
    for (const one of all) {
      const urls = [idleUrl, one.target.probeUrl].filter((url) =>
        url !== undefined
      );
      for (const url of urls) await readLoopBlocks(url);
      const sample = await measureSteadily(
        instruments,
        one,
        isWarmUp ? Math.min(WARM_UP_MS, ms) : ms,
      );
      if (isWarmUp) continue;
      one.samples.push(sample);
      const [idleBlock, ...own] = await Promise.all(urls.map(readLoopBlocks));
      one.blocks.push(...own);
      if (idleBlock !== undefined) idleBlocks.push(idleBlock);
      if (one.target.pid !== undefined && CAN_READ_PROCESSES) {
        one.resident.push(residentBytes(one.target.pid));
      }
    }
  }
  const direct = all[0]?.samples ?? [];
  return [
    ...all.map((one, at) => rowOf(one, at === 0 ? undefined : direct)),
    {
      target: IDLE,
      perSecond: 0,
      waitMs: { p50: 0, p99: 0 },
      ...blocksOf(idleBlocks),
      residentBytes: [],
      faults: 0,
      problems: [],
    },
  ];
}

async function measureSteadily(
  instruments: Instruments,
  { target }: RunningTarget,
  ms: number,
): Promise<Sample> {
  const address = target.address(DIRECTION);
  if (address === undefined) throw new Error("the target has no address");
  const job: LoadJob = {
    ...jobFor(address, SCENARIO, ms),
    until: { ms, perSecond: PER_SECOND },
    lenient: target.lenient === true,
  };
  return await measureJob(instruments, target, job, STEADY.unit);
}

function blocksOf(
  blocks: Measured["blocks"],
): Pick<SteadyRow, "blockMs" | "longBlocks"> {
  const blockMs = spreadOf(blocks.map(({ longestMs }) => longestMs));
  return blockMs === undefined ? {} : {
    blockMs,
    longBlocks: blocks.reduce((sum, { long }) => sum + long, 0),
  };
}

function rowOf(
  { name, samples, blocks, resident }: Measured,
  direct: readonly Sample[] | undefined,
): SteadyRow {
  const cpuMicros = spreadOf(samples.flatMap((one) => one.cpuMicros ?? []));
  const added = (part: "p50" | "p99"): Spread | undefined =>
    spreadOf(
      samples.flatMap(({ result }, at) => {
        const base = direct?.[at];
        return base === undefined
          ? []
          : [result.waits[part] - base.result.waits[part]];
      }),
    );
  const p50 = added("p50");
  const p99 = added("p99");
  const row = {
    target: name,
    perSecond: median(samples.map((one) => one.perSecond)),
    ...compact({ cpuMicros }),
    waitMs: {
      p50: median(samples.map(({ result }) => result.waits.p50)),
      p99: median(samples.map(({ result }) => result.waits.p99)),
    },
    ...(p50 === undefined || p99 === undefined
      ? {}
      : { addedMs: { p50, p99 } }),
    ...blocksOf(blocks),
    residentBytes: resident,
    faults: samples.reduce((sum, { result }) => sum + result.faults, 0),
    problems: [...new Set(samples.flatMap(({ result }) => result.problems))],
  };
  return isOwnGateway(name) ? { ...row, goals: goalsOf(row) } : row;
}

function goalsOf(
  { addedMs, blockMs }: Pick<SteadyRow, "addedMs" | "blockMs">,
): readonly Goal[] {
  return [
    ...(addedMs === undefined ? [] : [
      goal("added p50", addedMs.p50.median, MAX_STEADY_ADDED_MS.p50),
      goal("added p99", addedMs.p99.median, MAX_STEADY_ADDED_MS.p99),
    ]),
    ...(blockMs === undefined
      ? []
      : [goal("block", blockMs.high, MAX_BLOCK_MS)]),
  ];
}
