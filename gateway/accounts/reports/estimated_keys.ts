/**
 * The part of what keys spend that is an estimate: large where a key's clients leave before the
 * vendor reports what their calls used.
 */
import { dayOf } from "../limits/calendar_window.ts";
import { intOf, type Sql, textOf } from "../store/store.ts";

/** What a key has spent today. */
export interface EstimatedSpending {
  readonly accountId: string;
  readonly keyId: string;
  /** Micro-dollars. */
  readonly microUsd: number;
  /** The part of it that is an estimate, in micro-dollars. */
  readonly estimatedMicroUsd: number;
}

/** Less than this of a day is no pattern, in micro-dollars. */
const LEAST_ESTIMATED_MICRO_USD = 100_000;

const SUMS = "account_id, key_id, CAST(SUM(micro_usd) AS BIGINT) AS spent, " +
  "CAST(SUM(estimated_micro_usd) AS BIGINT) AS estimated FROM usage_days";
const GROUP = "GROUP BY account_id, key_id HAVING SUM(estimated_micro_usd) >=";

/** What one key has spent today; undefined if less than a pattern of it is an estimate. */
export async function estimatedOfKey(
  sql: Pick<Sql, "all">,
  keyId: string,
  nowMs: number,
): Promise<EstimatedSpending | undefined> {
  const [row] = await sql.all(
    `SELECT ${SUMS} WHERE key_id = $1 AND day = $2 ${GROUP} $3`,
    [keyId, dayOf(nowMs), LEAST_ESTIMATED_MICRO_USD],
  );
  return row && spendingOf(row);
}

/** The keys whose estimates are more than a percentage of what they spent today, most first. */
export async function estimatedKeys(
  sql: Pick<Sql, "all">,
  { percent, count, nowMs }: {
    readonly percent: number;
    readonly count: number;
    readonly nowMs: number;
  },
): Promise<readonly EstimatedSpending[]> {
  const rows = await sql.all(
    `SELECT ${SUMS} WHERE day = $1 ${GROUP} $2 ` +
      `AND SUM(estimated_micro_usd) * 100 > SUM(micro_usd) * $3 ` +
      `ORDER BY estimated DESC LIMIT $4`,
    [dayOf(nowMs), LEAST_ESTIMATED_MICRO_USD, percent, count],
  );
  return rows.map(spendingOf);
}

function spendingOf(row: Parameters<typeof textOf>[0]): EstimatedSpending {
  return {
    accountId: textOf(row, "account_id"),
    keyId: textOf(row, "key_id"),
    microUsd: intOf(row, "spent"),
    estimatedMicroUsd: intOf(row, "estimated"),
  };
}
