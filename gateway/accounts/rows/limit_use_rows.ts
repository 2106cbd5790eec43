/**
 * Reads and writes what is used of limits: columns that the tables `accounts` and
 * `key_states` share.
 */
import type { LimitUse } from "../limits/limit_use.ts";
import type { Amount } from "../limits/window_limits.ts";
import { intOf, type SqlRow, type SqlValue } from "../store/store.ts";

/** The columns of a {@linkcode LimitUse}, in the order of {@linkcode useValues}. */
export const USE_COLUMNS = [
  "requests_used",
  "requests_at_ms",
  "tokens_used",
  "tokens_at_ms",
  "open_requests",
  "reserved_tokens",
  "day",
  "day_spent_micro_usd",
  "day_tokens",
  "week_spent_micro_usd",
  "week_tokens",
  "month_spent_micro_usd",
  "month_tokens",
  "warned",
] as const;

/** Reads the columns. `reservedMicroUsd`: see {@linkcode LimitUse.reserved}. */
export function useFrom(row: SqlRow, reservedMicroUsd: number): LimitUse {
  const amount = (window: "day" | "week" | "month"): Amount => ({
    microUsd: intOf(row, `${window}_spent_micro_usd`),
    tokens: intOf(row, `${window}_tokens`),
  });
  return {
    requests: {
      level: intOf(row, "requests_used"),
      atMs: intOf(row, "requests_at_ms"),
    },
    tokens: {
      level: intOf(row, "tokens_used"),
      atMs: intOf(row, "tokens_at_ms"),
    },
    openRequests: intOf(row, "open_requests"),
    reserved: {
      microUsd: reservedMicroUsd,
      tokens: intOf(row, "reserved_tokens"),
    },
    day: intOf(row, "day"),
    used: {
      day: amount("day"),
      week: amount("week"),
      month: amount("month"),
    },
    warned: intOf(row, "warned"),
  };
}

/** The values of {@linkcode USE_COLUMNS}. */
export function useValues(use: LimitUse): readonly SqlValue[] {
  const { day, week, month } = use.used;
  return [
    use.requests.level,
    use.requests.atMs,
    use.tokens.level,
    use.tokens.atMs,
    use.openRequests,
    use.reserved.tokens,
    use.day,
    day.microUsd,
    day.tokens,
    week.microUsd,
    week.tokens,
    month.microUsd,
    month.tokens,
    use.warned,
  ];
}

/** `a = $n, b = $n+1, …` for the columns, from parameter `$first` on. */
export function useAssignments(first: number): string {
  return USE_COLUMNS.map((name, at) => `${name} = $${first + at}`).join(", ");
}
