/**
 * Performance goals of this project's gateway: upper limits, relative to the raw pipe and to
 * Portkey.
 */
import type { Scenario } from "../measure/scenarios.ts";
import { isPassThrough } from "../targets/target.ts";

/**
 * Highest processor time of a scenario, relative to the raw pipe's with the same upstream;
 * undefined when there is no goal.
 */
export function maxCpuRatio(
  { kind, direction, tls }: Scenario,
): number | undefined {
  const goals = isPassThrough(direction) ? PASS_THROUGH : TRANSLATED;
  return (tls ? goals.tls[kind.name] : undefined) ?? goals.any[kind.name];
}

/**
 * Highest processor time of a scenario, relative to Portkey's with the same upstream; undefined
 * when there is no goal.
 */
export function maxPortkeyRatio({ kind }: Scenario): number | undefined {
  return OF_PORTKEY[kind.name];
}

type Goals = Readonly<Record<string, number>>;

/** Goals over the raw pipe; separate ones for an upstream over TLS where they differ. */
interface PipeGoals {
  readonly any: Goals;
  readonly tls: Goals;
}

const PASS_THROUGH: PipeGoals = {
  any: {
    "whole-small": 2,
    "whole-100k": 2.2,
    "stream-unpaced": 1.4,
    "stream-paced": 2.2,
  },
  tls: { "stream-unpaced": 1.8 },
};

const TRANSLATED: PipeGoals = {
  any: {
    "whole-small": 2.4,
    "stream-unpaced": 1.8,
    "stream-paced": 2.2,
  },
  tls: { "stream-unpaced": 2.2 },
};

const OF_PORTKEY: Goals = {
  "whole-small": 0.12,
  "whole-100k": 0.12,
  "stream-unpaced": 0.2,
  "stream-paced": 0.4,
};

/** Highest median of the delay that is added to an event, compared with a direct connection. */
export const MAX_EVENT_DELAY_MS = 0.25;

/** Highest time that a steady rate's calls take in addition to direct ones. */
export const MAX_STEADY_ADDED_MS: {
  readonly p50: number;
  readonly p99: number;
} = { p50: 0.5, p99: 2 };

/** Longest block of the event loop at a steady rate. */
export const MAX_BLOCK_MS = 10;

/**
 * Highest processor time of a call with several processes on one store, relative to one process.
 */
export const MAX_CORES_RATIO: Readonly<Record<string, number>> = {
  sqlite: 1.2,
  postgres: 1.1,
};

/** Highest memory per stream, with 1,000 open streams, at the later of two samples. */
export const MAX_STREAM_BYTES: number = 80 * 1024;

/** Longest time from process start to readiness, with a warm cache. */
export const MAX_START_MS = 400;
