/**
 * What this project's gateway is to reach: the most that it may cost, beside the raw pipe and beside Portkey.
 *
 * @module
 */
import type { Scenario } from "./scenarios.ts";
import { isPassThrough } from "./targets/target.ts";

/** The most that a scenario may cost, as a ratio to the raw pipe; undefined where nothing is set. */
export function mostRatio({ kind, direction }: Scenario): number | undefined {
  const goals = isPassThrough(direction) ? PASS_THROUGH : TRANSLATED;
  return goals[kind.name];
}

/** The most that a scenario may cost, as a part of what Portkey takes for it. */
export function mostOfPortkey({ kind }: Scenario): number {
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

/** The most that may be added to an event's delay over a direct connection, in the median, in milliseconds. */
export const MOST_EVENT_DELAY_MS = 0.25;

/** The most memory for each of 1,000 open streams. */
export const MOST_STREAM_BYTES: number = 64 * 1024;

/** The longest start with a warm cache, in milliseconds. */
export const MOST_START_MS = 400;
