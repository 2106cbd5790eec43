/**
 * When an amount runs out if it is used as it was today.
 *
 * @module
 */
import { DAY_MS } from "../accounts/ledger/calendar_window.ts";

/** An amount that calls use up. All its numbers have one unit. */
export interface Allowance<Name extends string> {
  /** The limit, for programs. */
  readonly limit: Name;
  /** What is left; not more than 0: it is reached. */
  readonly left: number;
  /** What was used since midnight in UTC. */
  readonly today: number;
  /** When it begins afresh, as Unix time in milliseconds; absent: never. */
  readonly resetsAtMs?: number;
}

/** The limit that stops calls first. */
export interface FirstStop<Name extends string> {
  /** Name of the allowance that is used up. */
  readonly limit: Name;
  /** Unix time in milliseconds; not after the present if it is reached already. */
  readonly atMs: number;
  /** As that of its {@linkcode Allowance}. */
  readonly resetsAtMs?: number;
}

/** The time after which nothing is predicted. */
const HORIZON_MS = 30 * DAY_MS;

/**
 * The allowance that is used up first at today's pace, the earlier one of two at the same time;
 * undefined if none is in sight within 30 days.
 */
export function firstStop<Name extends string>(
  nowMs: number,
  allowances: readonly Allowance<Name>[],
): FirstStop<Name> | undefined {
  const elapsedMs = Math.max(1, nowMs - Math.floor(nowMs / DAY_MS) * DAY_MS);
  const stops: FirstStop<Name>[] = [];
  for (const { limit, left, today, resetsAtMs } of allowances) {
    const atMs = left <= 0 ? nowMs : nowMs + left / (today / elapsedMs);
    if (atMs >= Math.min(resetsAtMs ?? Infinity, nowMs + HORIZON_MS)) continue;
    stops.push({
      limit,
      atMs: Math.floor(atMs),
      ...(resetsAtMs === undefined ? {} : { resetsAtMs }),
    });
  }
  return stops.toSorted((a, b) => a.atMs - b.atMs)[0];
}
