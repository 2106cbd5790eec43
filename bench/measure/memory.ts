/**
 * Memory of 1,000 open streams, and the time that a start takes. Both need freshly started targets.
 */
import { startChild } from "../load/child.ts";
import { CAN_READ_PROCESSES, residentBytes } from "./cpu_time.ts";
import { MAX_START_MS, MAX_STREAM_BYTES } from "../report/goals.ts";
import type { LoadJob, LoadResult } from "../load/load_job.ts";
import { jobFor, runJob } from "./measure.ts";
import { DEFAULT_PLAN } from "../load/reply_plan.ts";
import { type ExchangeKind, scenarioOf } from "./scenarios.ts";
import { median, type Spread, spreadOf } from "../report/statistics.ts";
import type { InstalledTarget } from "./rounds.ts";
import { type Goal, goal, isOwnGateway } from "../report/summary.ts";
import type { Address } from "../targets/target.ts";

/** Memory of a target with and without open streams. */
export interface MemoryRow {
  /** Name of the target. */
  readonly target: string;
  /** Resident memory without open streams, after a few calls. */
  readonly idleBytes: number;
  /** Additional memory per open stream, two seconds after the last was opened. */
  readonly perStreamBytes: number;
  /** The same after another `laterSeconds`. */
  readonly perStreamLaterBytes: number;
  /** Seconds between the two samples. */
  readonly laterSeconds: number;
  /** Resident memory five seconds after the end of all streams; absent: not waited for. */
  readonly recoveredBytes?: number;
  /** Goals of this project's gateway; absent for other targets. */
  readonly goals?: readonly Goal[];
  /** Number of wrong streams. */
  readonly faults: number;
  /** The first distinct problems. */
  readonly problems: readonly string[];
}

/** Start times of a target. */
export interface StartRow {
  /** Name of the target. */
  readonly target: string;
  /** From the start of the process to the first success of its readiness probe, in milliseconds. */
  readonly readyMs: Spread;
  /** Goals of this project's gateway; absent for other targets. */
  readonly goals?: readonly Goal[];
}

const STREAMS = 1000;
const OPENED_WITHIN_MS = 3_000;
const FIRST_SAMPLE_MS = 2_000;
const RECOVERY_MS = 5_000;
/** Seconds between the two samples. */
export const LATER_SECONDS = 8;

/** Events of a stream that is still open at the last sample, a second apart. */
function heldEvents(laterSeconds: number): number {
  return (OPENED_WITHIN_MS + FIRST_SAMPLE_MS) / 1000 + laterSeconds + 5;
}

/** The least time in which memory is measured, in milliseconds. */
export function leastMemoryMs(laterSeconds: number): number {
  return OPENED_WITHIN_MS + heldEvents(laterSeconds) * 1000;
}

const HELD: ExchangeKind = {
  name: "memory",
  about: `${STREAMS} streams held open, one event a second`,
  unit: "event",
  plan: { ...DEFAULT_PLAN, perSecond: 1 },
  stream: true,
  promptBytes: 100,
  connections: STREAMS,
  measures: "cpu",
};

const WARM_UP: ExchangeKind = {
  ...HELD,
  plan: { ...DEFAULT_PLAN, events: 20 },
  connections: 10,
};

const DIRECTION = { caller: "messages", upstream: "messages" } as const;

/**
 * Measures the memory of a fresh process with open streams; undefined when its memory cannot be
 * read.
 */
export async function measureMemory(
  { name, site }: InstalledTarget,
  laterSeconds: number = LATER_SECONDS,
  recovers = false,
): Promise<MemoryRow | undefined> {
  await using target = await site.start();
  const address = target.address(DIRECTION);
  if (
    target.pid === undefined || address === undefined || !CAN_READ_PROCESSES
  ) {
    return undefined;
  }
  await using load = startChild("load/load.ts");
  await runJob(load, jobFor(address, scenarioOf(WARM_UP, DIRECTION), 1_000));
  await sleep(500);
  const idleBytes = residentBytes(target.pid);
  await load.send(heldJob(address, laterSeconds, target.lenient === true));
  const opened = await load.receive();
  if (!isOpen(opened)) {
    // The job ended before all streams were open; the message is its result.
    throw new Error(
      `${name} did not hold ${STREAMS} streams: ${JSON.stringify(opened)}`,
    );
  }
  await sleep(FIRST_SAMPLE_MS);
  const soonBytes = residentBytes(target.pid);
  await sleep(laterSeconds * 1000);
  const laterBytes = residentBytes(target.pid);
  // The message's shape is defined in load_job.ts.
  const held = await load.receive() as LoadResult;
  if (recovers) await sleep(RECOVERY_MS);
  const perStreamLaterBytes = (laterBytes - idleBytes) / STREAMS;
  return {
    target: name,
    idleBytes,
    perStreamBytes: (soonBytes - idleBytes) / STREAMS,
    perStreamLaterBytes,
    laterSeconds,
    ...recovers ? { recoveredBytes: residentBytes(target.pid) } : {},
    ...(isOwnGateway(name)
      ? { goals: [goal("per stream", perStreamLaterBytes, MAX_STREAM_BYTES)] }
      : {}),
    faults: held.faults,
    problems: held.problems,
  };
}

function heldJob(
  address: Address,
  laterSeconds: number,
  lenient: boolean,
): LoadJob {
  const events = heldEvents(laterSeconds);
  return {
    ...jobFor(
      address,
      scenarioOf({ ...HELD, plan: { ...HELD.plan, events } }, DIRECTION),
      0,
    ),
    spreadMs: OPENED_WITHIN_MS,
    reportsOpen: true,
    lenient,
  };
}

function isOpen(message: unknown): boolean {
  return typeof message === "object" && message !== null && "open" in message;
}

/** Starts a target `times` times, after one start that fills caches and does not count. */
export async function measureStart(
  { name, site }: InstalledTarget,
  times: number,
): Promise<StartRow | undefined> {
  const readyMs: number[] = [];
  for (let start = 0; start <= times; start++) {
    await using target = await site.start();
    if (start > 0 && target.readyMs !== undefined) readyMs.push(target.readyMs);
  }
  const spread = spreadOf(readyMs);
  return spread === undefined ? undefined : {
    target: name,
    readyMs: spread,
    ...(isOwnGateway(name)
      ? { goals: [goal("start", median(readyMs), MAX_START_MS)] }
      : {}),
  };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
