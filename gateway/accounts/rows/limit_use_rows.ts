/**
 * Reads and writes what is used of limits: columns that the tables `accounts` and
 * `key_states` share.
 */
import { perWindow, WINDOWS } from "../limits/calendar_window.ts";
import type { LimitUse } from "../limits/limit_use.ts";
import { intOf, type SqlRow, type SqlValue } from "../store/store.ts";

/** The columns of a {@linkcode LimitUse}, in the order of {@linkcode useValues}. */
export const USE_COLUMNS: readonly string[] = [
  "requests_used",
  "requests_at_ms",
  "tokens_used",
  "tokens_at_ms",
  "open_requests",
  "reserved_tokens",
  "day",
  ...WINDOWS.flatMap((window) => [
    `${window}_spent_micro_usd`,
    `${window}_tokens`,
  ]),
  "warned",
];

/** Reads the columns. `reservedMicroUsd`: see {@linkcode LimitUse.reserved}. */
export function useFrom(row: SqlRow, reservedMicroUsd: number): LimitUse {
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
    used: perWindow((window) => ({
      microUsd: intOf(row, `${window}_spent_micro_usd`),
      tokens: intOf(row, `${window}_tokens`),
    })),
    warned: intOf(row, "warned"),
  };
}

/** The values of {@linkcode USE_COLUMNS}. */
export function useValues(use: LimitUse): readonly SqlValue[] {
  return [
    use.requests.level,
    use.requests.atMs,
    use.tokens.level,
    use.tokens.atMs,
    use.openRequests,
    use.reserved.tokens,
    use.day,
    ...WINDOWS.flatMap((window) => [
      use.used[window].microUsd,
      use.used[window].tokens,
    ]),
    use.warned,
  ];
}

/** `a = $n, b = $n+1, …` for the columns, from parameter `$first` on. */
export function useAssignments(first: number): string {
  return USE_COLUMNS.map((name, at) => `${name} = $${first + at}`).join(", ");
}
