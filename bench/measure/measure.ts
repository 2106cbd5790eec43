/**
 * One measurement: a scenario on a target, with the target's processor time.
 */
import type { Child } from "../load/child.ts";
import { CAN_READ_PROCESSES, type CpuClock } from "./cpu_time.ts";
import type { LoadJob, LoadResult } from "../load/load_job.ts";
import {
  type ExchangeKind,
  requestBody,
  requestPath,
  type Scenario,
} from "./scenarios.ts";
import type { Address, Target } from "../targets/target.ts";

/** The processes and clocks that a measurement uses. */
export interface Instruments {
  /** The load generator's process. */
  readonly load: Child;
  /** Reads the targets' processor time. */
  readonly clock: CpuClock;
}

/** The result of one measurement. */
export interface Sample {
  /**
   * Microseconds of the target's processor time per request or event; absent when its process is
   * unknown or every reply failed.
   */
  readonly cpuMicros?: number;
  /** Requests or events per second of real time. */
  readonly perSecond: number;
  /** The load generator's result. */
  readonly result: LoadResult;
}

/**
 * Work after the end of a reply, such as writing the ledger and the log, is part of the target's
 * cost.
 */
export const SETTLE_MS = 50;

/** Measures one scenario for `ms` milliseconds; a paced scenario takes as long as its streams. */
export async function measure(
  instruments: Instruments,
  target: Target,
  address: Address,
  scenario: Scenario,
  ms: number,
): Promise<Sample> {
  return await measureJob(
    instruments,
    target,
    { ...jobFor(address, scenario, ms), lenient: target.lenient === true },
    scenario.kind.unit,
  );
}

/** Runs a job on a target. */
export async function measureJob(
  { load, clock }: Instruments,
  target: Target,
  job: LoadJob,
  unit: ExchangeKind["unit"],
): Promise<Sample> {
  const cpu = (): number | undefined =>
    target.pid === undefined || !CAN_READ_PROCESSES
      ? undefined
      : clock.microsOf(target.pid);
  const before = cpu();
  const result = await runJob(load, job);
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const after = cpu();
  const units = unit === "event" ? result.events : result.requests;
  return {
    ...(before === undefined || after === undefined || units === 0
      ? {}
      : { cpuMicros: (after - before) / units }),
    perSecond: units / result.tookMs * 1000,
    result,
  };
}

/** Runs a job on the load generator. */
export async function runJob(load: Child, job: LoadJob): Promise<LoadResult> {
  await load.send(job);
  // The message's shape is defined in load_job.ts.
  return await load.receive() as LoadResult;
}

/** The job that measures a scenario on a target. */
export function jobFor(
  address: Address,
  { kind, direction: { caller } }: Scenario,
  ms: number,
): LoadJob {
  const { host, port, headers, model } = address;
  const { plan, stream, connections } = kind;
  const isPaced = plan.perSecond > 0;
  return {
    host,
    port,
    path: requestPath(address, kind),
    headers,
    body: requestBody(caller, model, kind),
    connections,
    until: isPaced ? { requestsEach: 1 } : { ms },
    // Streams that start together would also send their events together.
    spreadMs: isPaced ? 5 * 1000 / plan.perSecond : 0,
    expected: { plan, dialect: caller, stream },
  };
}
