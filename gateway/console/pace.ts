/**
 * When an amount runs out if spending goes on as it did today.
 *
 * @module
 */

/** What an account may still spend, and what it spent today. All amounts in micro-dollars. */
export interface Spending {
  /** Unix time in milliseconds. */
  readonly nowMs: number;
  /** Spent since midnight in UTC. */
  readonly todayMicroUsd: number;
  /** Limit of a day; absent: none. */
  readonly dayLimitMicroUsd?: number;
  /** What is left of a prepaid balance; absent: postpaid. */
  readonly leftMicroUsd?: number;
}

/** The limit that stops calls first. */
export interface FirstStop {
  /** The day's limit or the balance. */
  readonly limit: "day" | "balance";
  /** Unix time in milliseconds; not after `nowMs` if it is reached already. */
  readonly atMs: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** The limit that is reached first at today's pace; undefined if none is in sight within 30 days. */
export function firstStop(spending: Spending): FirstStop | undefined {
  const { nowMs, todayMicroUsd, dayLimitMicroUsd, leftMicroUsd } = spending;
  const midnightMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const perMs = todayMicroUsd / Math.max(1, nowMs - midnightMs);
  const stops: FirstStop[] = [];
  const add = (
    limit: FirstStop["limit"],
    left: number,
    endMs: number,
  ): void => {
    const atMs = left <= 0 ? nowMs : nowMs + left / perMs;
    if (atMs < endMs) stops.push({ limit, atMs: Math.floor(atMs) });
  };
  if (dayLimitMicroUsd !== undefined) {
    // The next day begins with nothing spent.
    add("day", dayLimitMicroUsd - todayMicroUsd, midnightMs + DAY_MS);
  }
  if (leftMicroUsd !== undefined) {
    add("balance", leftMicroUsd, nowMs + 30 * DAY_MS);
  }
  return stops.toSorted((a, b) => a.atMs - b.atMs)[0];
}
