/**
 * When an amount runs out if it is used as it was today, or as in the last minute.
 */
import { compact } from "../../translate/bytes/compact.ts";
import { DAY_MS } from "../accounts/limits/calendar_window.ts";
import type { Opening } from "../accounts/limits/limit_levels.ts";

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
  /**
   * Milliseconds until it is reached at the pace of the last minute; used instead of today's pace.
   * Absent: today's pace applies.
   */
  readonly fullInMs?: number | undefined;
  /** When it has room again if it is reached; absent: when somebody acts. */
  readonly opens?: Opening;
}

/** The calls of the last minute. */
export interface RecentPace {
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
  /** Mean duration of a call in milliseconds. */
  readonly meanMs: number;
}

/** The limit that stops calls first. */
export interface FirstStop<Name extends string> {
  /** Name of the allowance that is used up. */
  readonly limit: Name;
  /** Unix time in milliseconds; not after the present if it is reached already. */
  readonly atMs: number;
  /** When the allowance opens again, as its {@linkcode Allowance} has it. */
  readonly opens?: Opening;
  /** True: predicted from the last minute, not from today. */
  readonly isRecent?: true;
}

/**
 * Milliseconds until a limit a minute is reached, which refills evenly; undefined: never at this
 * pace.
 */
export function minuteFullInMs(
  left: number,
  limit: number,
  perMinute: number,
): number | undefined {
  return perMinute > limit ? left / (perMinute - limit) * 60_000 : undefined;
}

/**
 * Milliseconds until all places at once are taken: the number of open calls approaches rate times
 * duration. Undefined: never at this pace.
 */
export function placesFullInMs(
  open: number,
  limit: number,
  { requestsPerMinute, meanMs }: RecentPace,
): number | undefined {
  const steady = requestsPerMinute / 60_000 * meanMs;
  return steady > limit && open < limit
    ? meanMs * Math.log((steady - open) / (steady - limit))
    : undefined;
}

/** The shortest time that counts as today's: the first calls after midnight are no pace yet. */
const MIN_ELAPSED_MS = 3_600_000;
/** The time after which nothing is predicted. */
const HORIZON_MS = 30 * DAY_MS;

/**
 * The allowance that is used up first at today's pace; undefined if none is in sight within 30
 * days. Of those that are used up already, it is the one that opens last, which is what a refusal
 * names.
 */
export function firstStop<Name extends string>(
  nowMs: number,
  allowances: readonly Allowance<Name>[],
): FirstStop<Name> | undefined {
  const elapsedMs = Math.max(
    MIN_ELAPSED_MS,
    nowMs - Math.floor(nowMs / DAY_MS) * DAY_MS,
  );
  const stops: FirstStop<Name>[] = [];
  for (
    const { limit, left, today, resetsAtMs, fullInMs, opens } of allowances
  ) {
    const atMs = left <= 0
      ? nowMs
      : nowMs + (fullInMs ?? left / (today / elapsedMs));
    if (atMs >= Math.min(resetsAtMs ?? Infinity, nowMs + HORIZON_MS)) continue;
    stops.push({
      limit,
      atMs: Math.floor(atMs),
      ...compact({ opens }),
      ...(fullInMs === undefined ? {} : { isRecent: true }),
    });
  }
  const opensAtMs = ({ opens = Infinity }: FirstStop<Name>): number =>
    opens === "call_ends" ? nowMs : opens;
  return stops.toSorted((a, b) =>
    a.atMs - b.atMs || (a.atMs > nowMs ? 0 : opensAtMs(b) - opensAtMs(a) || 0)
  )[0];
}
