/**
 * Do the books balance? Everything that is kept twice for speed is added up anew and compared.
 *
 * @module
 */
import { intOf, type Store, textOf } from "./store.ts";

/** The questions, each as a query that finds what is wrong. */
const QUESTIONS: readonly (readonly [string, string])[] = [
  [
    "balance is not the sum of the ledger",
    `SELECT id AS place, balance_micro_usd AS kept,
      CAST((SELECT COALESCE(SUM(micro_usd), 0) FROM ledger WHERE account_id = a.id AND purse = '') AS BIGINT) AS counted
     FROM accounts a`,
  ],
  [
    "balance for a model is not the sum of the ledger",
    `SELECT account_id || ' ' || model AS place, balance_micro_usd AS kept,
      CAST((SELECT COALESCE(SUM(micro_usd), 0) FROM ledger WHERE account_id = p.account_id AND purse = p.model) AS BIGINT) AS counted
     FROM purses p`,
  ],
  [
    "what is held is not the sum of the reservations",
    `SELECT id AS place, reserved_micro_usd AS kept,
      CAST((SELECT COALESCE(SUM(reserved_micro_usd), 0) FROM reservations WHERE account_id = a.id AND purse = '') AS BIGINT) AS counted
     FROM accounts a`,
  ],
  [
    "what is held for a model is not the sum of the reservations",
    `SELECT account_id || ' ' || model AS place, reserved_micro_usd AS kept,
      CAST((SELECT COALESCE(SUM(reserved_micro_usd), 0) FROM reservations WHERE account_id = p.account_id AND purse = p.model) AS BIGINT) AS counted
     FROM purses p`,
  ],
  [
    "open requests are not as many as the reservations",
    `SELECT id AS place, open_requests AS kept,
      CAST((SELECT COUNT(*) FROM reservations WHERE account_id = a.id) AS BIGINT) AS counted
     FROM accounts a`,
  ],
  [
    "usage is not the sum of the ledger",
    `SELECT id AS place,
      CAST((SELECT COALESCE(SUM(micro_usd), 0) FROM usage_daily WHERE account_id = a.id) AS BIGINT) AS kept,
      CAST((SELECT 0 - COALESCE(SUM(micro_usd), 0) FROM ledger WHERE account_id = a.id AND kind = 'charge') AS BIGINT) AS counted
     FROM accounts a`,
  ],
  [
    "a settled request is still open",
    `SELECT request_id AS place, CAST(1 AS BIGINT) AS kept, CAST(0 AS BIGINT) AS counted
     FROM reservations WHERE request_id IN (SELECT request_id FROM ledger)`,
  ],
];

/** Looks for what does not add up. Empty: the books balance to the micro-dollar. */
export async function audit(store: Store): Promise<readonly string[]> {
  // Inside one write, so that nothing moves between the questions.
  return await store.write(async (sql) => {
    const findings: string[] = [];
    for (const [what, query] of QUESTIONS) {
      const rows = await sql.all(
        `SELECT * FROM (${query}) AS q WHERE kept <> counted ORDER BY place LIMIT 10`,
      );
      for (const row of rows) {
        findings.push(
          `${textOf(row, "place")}: ${what}: ${intOf(row, "kept")} kept, ${
            intOf(row, "counted")
          } counted`,
        );
      }
    }
    return findings;
  });
}
