/**
 * What 1,000 streams that are held open cost in memory, and how long a start takes. Both need targets that did nothing before.
 *
 * @module
 */
import { startChild } from "./child.ts";
import { CAN_LOOK, residentBytes } from "./cpu_time.ts";
import { MOST_START_MS, MOST_STREAM_BYTES } from "./goals.ts";
import type { LoadResult } from "./load_job.ts";
import { ask, jobFor } from "./measure.ts";
import { DEFAULT_PLAN } from "./reply_plan.ts";
import { type ExchangeKind, scenarioOf } from "./scenarios.ts";
import { median, type Spread, spreadOf } from "./statistics.ts";
import type { Entrant } from "./rounds.ts";
import { type Goal, goal, isOwn } from "./summary.ts";
import type { Address } from "./targets/target.ts";

/** What the streams of a target cost. */
export interface MemoryRow {
  /** As the tables call it. */
  readonly target: string;
  /** With nothing open, after a few calls. */
  readonly idleBytes: number;
  /** For each open stream, soon after the last was opened. */
  readonly perStreamBytes: number;
  /** The same, `laterSeconds` after that. */
  readonly perStreamLaterBytes: number;
  /** Time between the two samples. */
  readonly laterSeconds: number;
  /** What this project's gateway is to reach; absent for others. */
  readonly goals?: readonly Goal[];
  /** Wrong streams. */
  readonly faults: number;
  /** What was wrong with them, a few. */
  readonly told: readonly string[];
}

/** How long the starts of a target take. */
export interface StartRow {
  /** As the tables call it. */
  readonly target: string;
  /** From the start of the process to the first success of its readiness probe. */
  readonly readyMs: Spread;
  /** What this project's gateway is to reach; absent for others. */
  readonly goals?: readonly Goal[];
}

const STREAMS = 1000;
const OPENED_WITHIN_MS = 3_000;
const SOON_MS = 2_000;
const LATER_SECONDS = 8;

const HELD: ExchangeKind = {
  name: "memory",
  about: `${STREAMS} streams held open, one event a second`,
  unit: "event",
  // Long enough that the first is still open when the last sample is taken.
  plan: { ...DEFAULT_PLAN, events: 18, perSecond: 1 },
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

/** Holds streams open on a fresh target. */
export async function measureMemory(
  { name, site }: Entrant,
): Promise<MemoryRow | undefined> {
  await using target = await site.start();
  const address = target.address(DIRECTION);
  if (target.pid === undefined || address === undefined || !CAN_LOOK) {
    return undefined;
  }
  await using load = startChild("load.ts");
  await ask(load, jobFor(address, scenarioOf(WARM_UP, DIRECTION), 1_000));
  await sleep(500);
  const idleBytes = residentBytes(target.pid);
  await load.tell(heldJob(address, target.lenient === true));
  const opened = await load.next();
  if (!isOpen(opened)) {
    // It ended before all were open: what it said is the result.
    throw new Error(
      `${name} did not hold ${STREAMS} streams: ${JSON.stringify(opened)}`,
    );
  }
  await sleep(SOON_MS);
  const soonBytes = residentBytes(target.pid);
  await sleep(LATER_SECONDS * 1000);
  const laterBytes = residentBytes(target.pid);
  // What the load generator says is in load_job.ts.
  const { faults, told } = await load.next() as LoadResult;
  const perStreamBytes = (soonBytes - idleBytes) / STREAMS;
  return {
    target: name,
    idleBytes,
    perStreamBytes,
    perStreamLaterBytes: (laterBytes - idleBytes) / STREAMS,
    laterSeconds: LATER_SECONDS,
    ...(isOwn(name)
      ? { goals: [goal("per stream", perStreamBytes, MOST_STREAM_BYTES)] }
      : {}),
    faults,
    told,
  };
}

function heldJob(address: Address, lenient: boolean) {
  return {
    ...jobFor(address, scenarioOf(HELD, DIRECTION), 0),
    spreadMs: OPENED_WITHIN_MS,
    tellsOpen: true,
    lenient,
  };
}

function isOpen(said: unknown): boolean {
  return typeof said === "object" && said !== null && "open" in said;
}

/** Starts a target again and again. The first start, which may have to fill caches, does not count. */
export async function measureStart(
  { name, site }: Entrant,
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
    ...(isOwn(name)
      ? { goals: [goal("start", median(readyMs), MOST_START_MS)] }
      : {}),
  };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
