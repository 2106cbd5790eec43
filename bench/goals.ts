/**
 * Performance goals of this project's gateway: upper limits, relative to the raw pipe and to
 * Portkey.
 *
 * @module
 */
import type { Scenario } from "./scenarios.ts";
import { isPassThrough } from "./targets/target.ts";

/**
 * Highest processor time of a scenario, relative to the raw pipe; undefined when there is no goal.
 */
export function maxCpuRatio({ kind, direction }: Scenario): number | undefined {
  const goals = isPassThrough(direction) ? PASS_THROUGH : TRANSLATED;
  return goals[kind.name];
}

/** Highest processor time of a scenario, relative to Portkey. */
export function maxPortkeyRatio({ kind }: Scenario): number {
  return kind.stream ? 1 / 4 : 1 / 10;
}

const PASS_THROUGH: Readonly<Record<string, number>> = {
  "whole-small": 1.4,
  "whole-100k": 1.7,
  "stream-unpaced": 1.4,
  "stream-paced": 2,
};

const TRANSLATED: Readonly<Record<string, number>> = {
  "whole-small": 2,
  "stream-unpaced": 2,
  "stream-paced": 2.2,
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

/** Highest processor time of a call with several processes on one store, relative to one process. */
export const MAX_CORES_RATIO: Readonly<Record<string, number>> = {
  sqlite: 1.2,
  postgres: 1.1,
};

/** Highest memory per stream, with 1,000 open streams. */
export const MAX_STREAM_BYTES: number = 64 * 1024;

/** Longest time from process start to readiness, with a warm cache. */
export const MAX_START_MS = 400;
