/**
 * The limits of calendar windows, as a table: how much money or how many tokens may be used
 * in a day, a week or a month.
 */
import type { LimitSettings } from "../records.ts";
import { perWindow, type WindowName } from "./calendar_window.ts";

/** Money and tokens. */
export interface Amount {
  /** Micro-dollars. */
  readonly microUsd: number;
  /** Tokens of every kind, each counted once. */
  readonly tokens: number;
}

export interface WindowLimit {
  readonly field:
    & keyof LimitSettings
    & (
      | `spendPer${Capitalize<WindowName>}MicroUsd`
      | `tokensPer${Capitalize<WindowName>}`
    );
  /** What is counted. */
  readonly unit: keyof Amount;
  /** The time after which it opens again. */
  readonly window: WindowName;
  readonly code:
    | `spending_per_${WindowName}`
    | `tokens_per_${WindowName}`;
}

/**
 * All limits of calendar windows. The index of a limit is its place in the stored
 * {@linkcode LimitUse.warned}, so a new one comes last.
 */
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

/** Index of the bit of {@linkcode LOW_BALANCE_BIT}: stored, so it never changes. */
const LOW_BALANCE_AT = 12;

/** The bit of the warning that a balance is low. */
export const LOW_BALANCE_BIT: number = 1 << LOW_BALANCE_AT;

/** The bit in {@linkcode LimitUse.warned} of a limit, by index, and a percentage, by index. */
export function warningBit(limit: number, percent: number): number {
  const at = limit * WARNING_PERCENTS.length + percent;
  return 1 << (at < LOW_BALANCE_AT ? at : at + 1);
}

/** The warning bits of the limits of a window. */
export const WINDOW_BITS: Readonly<Record<WindowName, number>> = perWindow(
  bitsOf,
);

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
