/**
 * Writes which entries of the ledger belong to a day, and which are top-ups, so that lists
 * read only the entries that they show: rows of `ledger_days` and `ledger_top_ups`.
 *
 * @module
 */
import type { NewEntry } from "./ledger_rows.ts";
import { DAY_MS } from "../ledger/calendar_window.ts";
import type { Sql, SqlDialect } from "./store.ts";

const WIDEN = `ON CONFLICT (day) DO UPDATE SET
  first_seq = CASE WHEN excluded.first_seq < ledger_days.first_seq THEN excluded.first_seq ELSE ledger_days.first_seq END,
  last_seq = CASE WHEN excluded.last_seq > ledger_days.last_seq THEN excluded.last_seq ELSE ledger_days.last_seq END`;

/**
 * Adds entries. Call it right after their insertion, in the same write: nothing else is
 * inserted meanwhile, so they are the last ones of the ledger.
 */
export async function addLedgerDays(
  sql: Sql,
  dialect: SqlDialect,
  entries: readonly NewEntry[],
): Promise<void> {
  const days = new Set(entries.map(({ atMs }) => Math.floor(atMs / DAY_MS)));
  await Promise.all([...days].map((day) =>
    sql.all(
      `INSERT INTO ledger_days (day, first_seq, last_seq)
       SELECT CAST($1 AS BIGINT), MAX(seq) - CAST($2 AS BIGINT), MAX(seq) FROM ledger WHERE true ${WIDEN}`,
      [day, entries.length - 1],
    )
  ));
  const ids = entries.flatMap((entry) =>
    entry.type === "top_up" ? [entry.id] : []
  );
  if (ids.length === 0) return;
  await sql.all(
    `INSERT INTO ledger_top_ups (seq, account_id)
     SELECT seq, account_id FROM ledger WHERE request_id IN ${
      dialect.texts(1)
    }`,
    [JSON.stringify(ids)],
  );
}

/** Adds the stored entries with `firstSeq < seq <= lastSeq`. */
export async function addStoredDays(
  sql: Sql,
  firstSeq: number,
  lastSeq: number,
): Promise<void> {
  await sql.all(
    `INSERT INTO ledger_days (day, first_seq, last_seq)
     SELECT at_ms / ${DAY_MS}, MIN(seq), MAX(seq) FROM ledger
     WHERE seq > $1 AND seq <= $2 GROUP BY 1 ${WIDEN}`,
    [firstSeq, lastSeq],
  );
  await sql.all(
    `INSERT INTO ledger_top_ups (seq, account_id)
     SELECT seq, account_id FROM ledger WHERE seq > $1 AND seq <= $2 AND kind = 'top_up'`,
    [firstSeq, lastSeq],
  );
}
