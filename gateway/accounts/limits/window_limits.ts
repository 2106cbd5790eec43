/**
 * The limits of calendar windows, as a table: how much money or how many tokens may be used
 * in a day, a week or a month.
 */
import type { LimitSettings } from "../records.ts";
import type { WindowName } from "./calendar_window.ts";

/** Money and tokens. */
export interface Amount {
  /** Micro-dollars. */
  readonly microUsd: number;
  /** Tokens of every kind, each counted once. */
  readonly tokens: number;
}

/** A limit of a calendar window. */
export interface WindowLimit {
  /** The setting. */
  readonly field:
    & keyof LimitSettings
    & (`spendPer${string}` | `tokensPer${"Day" | "Week" | "Month"}`);
  /** What is counted. */
  readonly unit: keyof Amount;
  /** The time after which it opens again. */
  readonly window: WindowName;
  /** Code of the refusal. */
  readonly code:
    | `spending_per_${WindowName}`
    | `tokens_per_${WindowName}`;
}

/** All limits of calendar windows; the index of a limit is its place in {@linkcode LimitUse.warned}. */
export const WINDOW_LIMITS: readonly WindowLimit[] = [
  {
    field: "spendPerDayMicroUsd",
    unit: "microUsd",
    window: "day",
    code: "spending_per_day",
  },
  {
    field: "spendPerWeekMicroUsd",
    unit: "microUsd",
    window: "week",
    code: "spending_per_week",
  },
  {
    field: "spendPerMonthMicroUsd",
    unit: "microUsd",
    window: "month",
    code: "spending_per_month",
  },
  {
    field: "tokensPerDay",
    unit: "tokens",
    window: "day",
    code: "tokens_per_day",
  },
  {
    field: "tokensPerWeek",
    unit: "tokens",
    window: "week",
    code: "tokens_per_week",
  },
  {
    field: "tokensPerMonth",
    unit: "tokens",
    window: "month",
    code: "tokens_per_month",
  },
];

/** The percentages at which a warning is sent. */
export const WARNING_PERCENTS = [80, 100] as const;

/** The bit in {@linkcode LimitUse.warned} of a limit, by index, and a percentage, by index. */
export function warningBit(limit: number, percent: number): number {
  return 1 << (limit * WARNING_PERCENTS.length + percent);
}

/** The bit of the warning that a balance is low. */
export const LOW_BALANCE_BIT: number = warningBit(WINDOW_LIMITS.length, 0);

/** The warning bits of the limits of a window. */
export const WINDOW_BITS: Readonly<Record<WindowName, number>> = {
  day: bitsOf("day"),
  week: bitsOf("week"),
  month: bitsOf("month"),
};

function bitsOf(window: WindowName): number {
  let bits = 0;
  for (const [index, limit] of WINDOW_LIMITS.entries()) {
    if (limit.window !== window) continue;
    for (const percent of WARNING_PERCENTS.keys()) {
      bits |= warningBit(index, percent);
    }
  }
  return bits;
}
