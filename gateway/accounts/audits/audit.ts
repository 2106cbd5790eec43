/**
 * Audits the ledger: recomputes every stored sum and compares it.
 */
import { CORRECTION_SUFFIX } from "../ledger/correction.ts";
import { intOf, type Store, textOf } from "../store/store.ts";

/** Each check: what is wrong, and a query that finds it. */
const CHECKS: readonly (readonly [string, string])[] = [
  [
    "the balance differs from the sum of the ledger",
    `SELECT id AS place, balance_micro_usd AS kept,
      CAST((SELECT COALESCE(SUM(micro_usd), 0) FROM ledger WHERE account_id = a.id AND purse = '') AS BIGINT) AS counted
     FROM accounts a`,
  ],
  [
    "the balance of a model differs from the sum of the ledger",
    `SELECT account_id || ' ' || model AS place, balance_micro_usd AS kept,
      CAST((SELECT COALESCE(SUM(micro_usd), 0) FROM ledger WHERE account_id = p.account_id AND purse = p.model) AS BIGINT) AS counted
     FROM purses p`,
  ],
  [
    "the reserved amount differs from the sum of the reservations",
    `SELECT id AS place, reserved_micro_usd AS kept,
      CAST((SELECT COALESCE(SUM(reserved_micro_usd), 0) FROM open_calls WHERE account_id = a.id AND purse = '') AS BIGINT) AS counted
     FROM accounts a`,
  ],
  [
    "the reserved amount of a model differs from the sum of the reservations",
    `SELECT account_id || ' ' || model AS place, reserved_micro_usd AS kept,
      CAST((SELECT COALESCE(SUM(reserved_micro_usd), 0) FROM open_calls WHERE account_id = p.account_id AND purse = p.model) AS BIGINT) AS counted
     FROM purses p`,
  ],
  [
    "the number of open requests differs from the number of reservations",
    `SELECT id AS place, open_requests AS kept,
      CAST((SELECT COUNT(*) FROM open_calls WHERE account_id = a.id) AS BIGINT) AS counted
     FROM accounts a`,
  ],
  [
    "the reserved tokens differ from the sum of the reservations",
    `SELECT id AS place, reserved_tokens AS kept,
      CAST((SELECT COALESCE(SUM(reserved_tokens), 0) FROM open_calls WHERE account_id = a.id) AS BIGINT) AS counted
     FROM accounts a`,
  ],
  ...[
    ["open_requests", "COUNT(*)"],
    ["reserved_micro_usd", "COALESCE(SUM(reserved_micro_usd), 0)"],
    ["reserved_tokens", "COALESCE(SUM(reserved_tokens), 0)"],
  ].map(([column, sum]) =>
    [
      `${column} of a key with limits differs from its reservations`,
      `SELECT key_id AS place, ${column} AS kept,
        CAST((SELECT ${sum} FROM open_calls WHERE key_id = s.key_id AND reserved_tokens IS NOT NULL) AS BIGINT) AS counted
       FROM key_states s`,
    ] as const
  ),
  [
    "the usage differs from the sum of the ledger",
    `SELECT id AS place,
      CAST((SELECT COALESCE(SUM(micro_usd), 0) FROM usage_daily WHERE account_id = a.id) AS BIGINT) AS kept,
      CAST((SELECT 0 - COALESCE(SUM(micro_usd), 0) FROM ledger WHERE account_id = a.id AND kind = 'charge') AS BIGINT) AS counted
     FROM accounts a`,
  ],
  [
    "the usage by day differs from the sum of the ledger",
    `SELECT id AS place,
      CAST((SELECT COALESCE(SUM(micro_usd), 0) FROM usage_days WHERE account_id = a.id) AS BIGINT) AS kept,
      CAST((SELECT 0 - COALESCE(SUM(micro_usd), 0) FROM ledger WHERE account_id = a.id AND kind = 'charge'
        AND seq > (SELECT next_seq FROM roll_up_backfill)) AS BIGINT) AS counted
     FROM accounts a`,
  ],
  [
    "a day of the ledger has entries outside its bounds",
    `SELECT CAST(at_ms / 86400000 AS TEXT) AS place, CAST(0 AS BIGINT) AS kept, CAST(COUNT(*) AS BIGINT) AS counted
     FROM ledger WHERE seq > (SELECT next_seq FROM roll_up_backfill) AND NOT EXISTS (
       SELECT 1 FROM ledger_days d WHERE d.day = ledger.at_ms / 86400000 AND ledger.seq BETWEEN d.first_seq AND d.last_seq
     ) AND NOT EXISTS (
       SELECT 1 FROM account_days d WHERE d.account_id = ledger.account_id AND d.day = ledger.at_ms / 86400000
        AND ledger.seq BETWEEN d.first_seq AND d.last_seq
     ) GROUP BY 1`,
  ],
  [
    "a correction does not belong to one lost call of its account",
    `SELECT c.request_id AS place, CAST(1 AS BIGINT) AS kept,
      CAST((SELECT COUNT(*) FROM ledger l WHERE l.request_id = c.corrects AND l.kind = 'charge' AND l.ended = 'lost'
        AND l.account_id = c.account_id AND l.purse = c.purse AND l.at_ms = c.at_ms
        AND c.request_id = l.request_id || '${CORRECTION_SUFFIX}') AS BIGINT) AS counted
     FROM ledger c WHERE c.corrects IS NOT NULL`,
  ],
  [
    "a settled request still has a reservation",
    `SELECT request_id AS place, CAST(1 AS BIGINT) AS kept, CAST(0 AS BIGINT) AS counted
     FROM open_calls WHERE request_id IN (SELECT request_id FROM ledger)`,
  ],
];

/** Runs every check. Returns the findings; empty if all sums agree to the micro-dollar. */
export async function audit(store: Store): Promise<readonly string[]> {
  // All checks see the same state.
  return await store.snapshot(async (sql) => {
    const findings: string[] = [];
    for (const [what, query] of CHECKS) {
      const rows = await sql.all(
        `SELECT * FROM (${query}) AS q WHERE kept <> counted ORDER BY place LIMIT 10`,
      );
      for (const row of rows) {
        findings.push(
          `${textOf(row, "place")}: ${what}: ${intOf(row, "kept")} stored, ${
            intOf(row, "counted")
          } computed`,
        );
      }
    }
    return findings;
  });
}
