/**
 * What the present month will cost, if it goes on as the last seven days did.
 */
import type { JSX } from "../jsx.d.ts";
import type { Admin } from "../../../gateway/accounts/repositories/admin.ts";
import type { AccountScope } from "../../../gateway/admin/account_scope.ts";
import { Money } from "../parts/money.tsx";

const DAY_MS = 24 * 60 * 60 * 1000;
const PACE_DAYS = 7;

/** The month of a moment, in UTC. */
export function monthOf(
  atMs: number,
): {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly endMs: number;
} {
  const at = new Date(atMs);
  const endMs = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1);
  const name = at.toISOString().slice(0, 7);
  return {
    name,
    from: `${name}-01`,
    to: new Date(endMs - DAY_MS).toISOString().slice(0, 10),
    endMs,
  };
}

/** A month that is not over. */
interface MonthForecast {
  /** `2026-11`. */
  readonly month: string;
  readonly lastDay: string;
  readonly spentMicroUsd: number;
  readonly forecastMicroUsd: number;
  /** Whether no earlier day has any usage. */
  readonly isOfToday: boolean;
}

/**
 * Extrapolates: each day that is left costs what the full days of the last week did on average; the
 * present day counts by the part of it that is left.
 */
export async function forecastOf(
  admin: Pick<Admin, "usage">,
  scope: Partial<AccountScope>,
  nowMs: number,
): Promise<MonthForecast> {
  const { name, from, to, endMs } = monthOf(nowMs);
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const { totals } = await admin.usage({
    ...scope,
    fromDay: from,
    toDay: to,
    by: [],
  });
  const { data: before } = await admin.usage({
    ...scope,
    fromDay: day(nowMs - PACE_DAYS * DAY_MS),
    toDay: day(nowMs - DAY_MS),
    by: ["day"],
  });
  // A new account has no full week: its first day counts as the beginning.
  const first = before[0]?.day;
  const todayMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const days = first === undefined
    ? 0
    : Math.round((todayMs - Date.parse(first)) / DAY_MS);
  const perDay = days === 0
    // Nothing before today: today's own pace.
    ? totals.microUsd / Math.max(0.04, (nowMs - todayMs) / DAY_MS)
    : before.reduce((sum, { microUsd }) => sum + microUsd, 0) / days;
  const left = (endMs - nowMs) / DAY_MS;
  return {
    month: name,
    lastDay: to,
    spentMicroUsd: totals.microUsd,
    forecastMicroUsd: totals.microUsd + Math.round(perDay * left),
    isOfToday: days === 0,
  };
}

/** The forecast as a sentence. */
export function Forecast(
  { forecast: { spentMicroUsd, forecastMicroUsd, lastDay, isOfToday } }: {
    readonly forecast: MonthForecast;
  },
): JSX.Element {
  return (
    <>
      <Money microUsd={spentMicroUsd} /> so far; at{" "}
      {isOfToday ? "today's pace" : "the pace of the last seven days"} about
      {" "}
      <b>
        <Money microUsd={forecastMicroUsd} decimals={2} />
      </b>{" "}
      by {lastDay}.
    </>
  );
}
