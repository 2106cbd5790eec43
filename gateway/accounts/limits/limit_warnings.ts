/**
 * Warnings before a limit of a calendar window is reached, and when it is: each once per
 * window and percentage. Which were sent is part of the state that admission writes, so that
 * no number of processes and no restart repeats one. Pure.
 */
import type { AccountRow, LimitSettings } from "../records.ts";
import { DAY_MS, dayAfter } from "./calendar_window.ts";
import type { LimitHolder } from "./exceeded_limit.ts";
import type { LimitUse } from "./limit_use.ts";
import {
  LOW_BALANCE_BIT,
  WARNING_PERCENTS,
  warningBit,
  WINDOW_LIMITS,
} from "./window_limits.ts";

/** A warning: the content of a webhook. */
export interface Warning {
  /** Kind of the message. */
  readonly type: "limit.warning" | "balance.low";
  /** What the message is about; all amounts are whole numbers. */
  readonly data: Readonly<Record<string, string | number | null>>;
}

/** The use with the new warnings marked as sent, and the warnings. */
interface Warned {
  readonly use: LimitUse;
  /** Without the account, which the caller adds. */
  readonly warnings: readonly Warning[];
}

const NONE: readonly Warning[] = [];

/**
 * The warnings that are due. `refusedBy`: index of a limit that has refused a call until its
 * window ends. From the first percentage on it counts as reached, although no call has
 * filled it.
 */
export function warn(
  use: LimitUse,
  limits: LimitSettings,
  holder: LimitHolder,
  refusedBy?: number,
): Warned {
  let warnings: Warning[] | undefined;
  let { warned } = use;
  for (let index = 0; index < WINDOW_LIMITS.length; index++) {
    const row = WINDOW_LIMITS[index];
    const limit = row === undefined ? undefined : limits[row.field];
    // A limit of 0 permits nothing from the start.
    if (row === undefined || limit === undefined || limit === 0) continue;
    const used = use.used[row.window][row.unit];
    const isNear = used * 100 >= limit * WARNING_PERCENTS[0];
    for (let at = 0; at < WARNING_PERCENTS.length && isNear; at++) {
      const bit = warningBit(index, at);
      const isDue = at === 0 || used >= limit || refusedBy === index;
      if (!isDue || (warned & bit) !== 0) continue;
      warned |= bit;
      (warnings ??= []).push({
        type: "limit.warning",
        data: {
          of: holder,
          limit: row.code,
          percent: WARNING_PERCENTS[at] ?? 0,
          [`used_${UNITS[row.unit]}`]: used,
          [`limit_${UNITS[row.unit]}`]: limit,
          window: row.window,
          window_ends_at: new Date(dayAfter(row.window, use.day) * DAY_MS)
            .toISOString(),
        },
      });
    }
  }
  return warnings === undefined
    ? { use, warnings: NONE }
    : { use: { ...use, warned }, warnings };
}

/**
 * The warning that a balance is below the account's mark. It is due again once the balance
 * has been above it.
 */
export function warnOfBalance(
  use: LimitUse,
  account: Pick<AccountRow, "balanceMicroUsd" | "warnBelowMicroUsd">,
): Warned {
  const { balanceMicroUsd, warnBelowMicroUsd } = account;
  if (warnBelowMicroUsd === undefined) return { use, warnings: NONE };
  const isLow = balanceMicroUsd < warnBelowMicroUsd;
  const wasLow = (use.warned & LOW_BALANCE_BIT) !== 0;
  if (isLow === wasLow) return { use, warnings: NONE };
  return {
    use: { ...use, warned: use.warned ^ LOW_BALANCE_BIT },
    warnings: isLow
      ? [{
        type: "balance.low",
        data: {
          balance_micro_usd: balanceMicroUsd,
          warn_below_micro_usd: warnBelowMicroUsd,
        },
      }]
      : NONE,
  };
}

const UNITS = { microUsd: "micro_usd", tokens: "tokens" } as const;
