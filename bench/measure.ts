/**
 * One measurement: a scenario on a target, with the processor time that the target took for it.
 *
 * @module
 */
import type { Child } from "./child.ts";
import { CAN_LOOK, type CpuClock } from "./cpu_time.ts";
import type { LoadJob, LoadResult } from "./load_job.ts";
import { requestBody, type Scenario } from "./scenarios.ts";
import type { Address, Target } from "./targets/target.ts";

/** What a measurement needs. */
export interface Instruments {
  /** The load generator's process. */
  readonly load: Child;
  /** Reads the targets' processor time. */
  readonly clock: CpuClock;
}

/** What came of one. */
export interface Sample {
  /** Microseconds of the target's processor time for each request or event; absent: its process is not known, or it failed. */
  readonly cpuMicros?: number;
  /** Requests or events per second of real time. */
  readonly perSecond: number;
  /** What the load generator told. */
  readonly result: LoadResult;
}

/** What a target does after a reply has left (writing the ledger, the log) is its cost, too. */
const AFTERWARDS_MS = 50;

/** Measures for a while; a paced scenario takes as long as its streams do. */
export async function measure(
  { load, clock }: Instruments,
  target: Target,
  address: Address,
  scenario: Scenario,
  ms: number,
): Promise<Sample> {
  const cpu = (): number | undefined =>
    target.pid === undefined || !CAN_LOOK
      ? undefined
      : clock.microsOf(target.pid);
  const before = cpu();
  const result = await ask(load, {
    ...jobFor(address, scenario, ms),
    lenient: target.lenient === true,
  });
  await new Promise((resolve) => setTimeout(resolve, AFTERWARDS_MS));
  const after = cpu();
  const { kind } = scenario;
  const units = kind.unit === "event" ? result.events : result.requests;
  return {
    ...(before === undefined || after === undefined || units === 0
      ? {}
      : { cpuMicros: (after - before) / units }),
    perSecond: units / result.tookMs * 1000,
    result,
  };
}

/** Has a job done. */
export async function ask(load: Child, job: LoadJob): Promise<LoadResult> {
  await load.tell(job);
  // What the load generator says is in load_job.ts.
  return await load.next() as LoadResult;
}

/** The job that a scenario is on a target. */
export function jobFor(
  { host, port, path, headers, model }: Address,
  { kind, direction: { caller } }: Scenario,
  ms: number,
): LoadJob {
  const { plan, stream, connections } = kind;
  const isPaced = plan.perSecond > 0;
  return {
    host,
    port,
    path,
    headers,
    body: requestBody(caller, model, kind),
    connections,
    until: isPaced ? { requestsEach: 1 } : { ms },
    // Streams that began at once would send their events at once, too.
    spreadMs: isPaced ? 5 * 1000 / plan.perSecond : 0,
    expected: { plan, dialect: caller, stream },
  };
}
