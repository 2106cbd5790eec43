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

/** Highest memory per stream, with 1,000 open streams. */
export const MAX_STREAM_BYTES: number = 64 * 1024;

/** Longest time from process start to readiness, with a warm cache. */
export const MAX_START_MS = 400;
