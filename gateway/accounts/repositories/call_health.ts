/**
 * How the calls of a span of time went.
 *
 * @module
 */
import { type Outcome, OUTCOME_NAMES } from "../calls/outcome.ts";
import { msOfClass } from "../store/call_minute_rows.ts";
import { intOf, type SqlRow, textOf } from "../store/store.ts";
import { orUnavailable, type RepositoryContext } from "./repository.ts";

/** Counts of calls, and how fast their first tokens came. */
export interface CallHealth {
  readonly calls: number;
  readonly outcomes: Readonly<Partial<Record<Outcome, number>>>;
  /** Milliseconds to the first token, to a tenth exactly; absent: there was none. */
  readonly firstTokenMs?: { readonly p50: number; readonly p95: number };
}

const MINUTE_MS = 60_000;

/**
 * Reads the counts of the calls that arrived in whole minutes, from one on and before another, as Unix
 * milliseconds.
 *
 * @throws {ApiError} `unavailable`
 */
export async function callHealth(
  context: RepositoryContext,
  fromMs: number,
  toMs: number,
): Promise<CallHealth> {
  const spans = await callHealths(context, fromMs, toMs, toMs - fromMs);
  return spans.get(fromMs) ?? { calls: 0, outcomes: {} };
}

/**
 * The same of each span of `stepMs`, by its first moment; spans without calls are absent.
 *
 * @throws {ApiError} `unavailable`
 */
export async function callHealths(
  { store }: RepositoryContext,
  fromMs: number,
  toMs: number,
  stepMs: number,
): Promise<ReadonlyMap<number, CallHealth>> {
  const first = Math.floor(fromMs / MINUTE_MS);
  const rows = await orUnavailable(() =>
    store.report(
      `SELECT (minute - CAST($1 AS BIGINT)) / CAST($3 AS BIGINT) AS span, outcome, first_token, CAST(SUM(calls) AS BIGINT) AS calls FROM call_minutes
       WHERE minute >= $1 AND minute < $2 GROUP BY 1, 2, 3`,
      [first, Math.floor(toMs / MINUTE_MS), Math.round(stepMs / MINUTE_MS)],
    )
  );
  const spans = new Map<number, SqlRow[]>();
  for (const row of rows) {
    const span = intOf(row, "span");
    const group = spans.get(span);
    if (group === undefined) spans.set(span, [row]);
    else group.push(row);
  }
  return new Map(
    [...spans].map(([span, group]) =>
      [fromMs + span * stepMs, healthOf(group)] as const
    ),
  );
}

function healthOf(rows: readonly SqlRow[]): CallHealth {
  let calls = 0;
  const outcomes: Partial<Record<Outcome, number>> = {};
  const times = new Map<number, number>();
  for (const row of rows) {
    const count = intOf(row, "calls");
    const outcome = OUTCOME_NAMES.find((one) => one === textOf(row, "outcome"));
    const ms = msOfClass(intOf(row, "first_token"));
    calls += count;
    if (outcome !== undefined) {
      outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
    }
    if (ms !== undefined) times.set(ms, (times.get(ms) ?? 0) + count);
  }
  const p50 = percentile(times, 0.5);
  const p95 = percentile(times, 0.95);
  return {
    calls,
    outcomes,
    ...(p50 === undefined || p95 === undefined
      ? {}
      : { firstTokenMs: { p50, p95 } }),
  };
}

function percentile(
  times: ReadonlyMap<number, number>,
  share: number,
): number | undefined {
  const sorted = [...times].toSorted(([a], [b]) => a - b);
  const all = sorted.reduce((sum, [, count]) => sum + count, 0);
  let below = 0;
  for (const [ms, count] of sorted) {
    below += count;
    if (below >= all * share && count > 0) return ms;
  }
  return undefined;
}
