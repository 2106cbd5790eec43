/**
 * Writes which entries of the ledger belong to a day, and which are top-ups, so that lists read
 * only the entries that they show: rows of `account_days` and `ledger_top_ups`. Entries of versions
 * without `account_days` are in `ledger_days`, which has a row for all accounts.
 */
import { accountIdOf, entryIdOf, type NewEntry } from "./ledger_rows.ts";
import { DAY_MS, dayOf } from "../limits/calendar_window.ts";
import type { Sql, SqlDialect } from "../store/store.ts";

function widen(table: string, keys: string): string {
  return `ON CONFLICT (${keys}) DO UPDATE SET
  first_seq = CASE WHEN excluded.first_seq < ${table}.first_seq THEN excluded.first_seq ELSE ${table}.first_seq END,
  last_seq = CASE WHEN excluded.last_seq > ${table}.last_seq THEN excluded.last_seq ELSE ${table}.last_seq END`;
}

/** Adds entries. Call it after their insertion, in the same write. */
export async function addLedgerDays(
  sql: Sql,
  dialect: SqlDialect,
  entries: readonly NewEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  const topUps = entries.filter(({ type }) => type === "top_up");
  await Promise.all([
    sql.all(
      `INSERT INTO account_days (account_id, day, first_seq, last_seq)
       SELECT account_id, at_ms / ${DAY_MS}, MIN(seq), MAX(seq) FROM ledger
       WHERE request_id IN ${dialect.texts(1)} GROUP BY 1, 2 ${
        widen("account_days", "account_id, day")
      }`,
      [JSON.stringify(endsOfDays(entries))],
    ),
    topUps.length === 0 ? undefined : sql.all(
      `INSERT INTO ledger_top_ups (seq, account_id)
       SELECT seq, account_id FROM ledger WHERE request_id IN ${
        dialect.texts(1)
      }`,
      [JSON.stringify(topUps.map(entryIdOf))],
    ),
  ]);
}

/**
 * The ids of the first and the last entry of each account and day: entries are inserted in order,
 * so that their numbers are the lowest and the highest.
 */
function endsOfDays(entries: readonly NewEntry[]): readonly string[] {
  const first = new Map<string, string>();
  const last = new Map<string, string>();
  for (const entry of entries) {
    const place = `${dayOf(entry.atMs)} ${accountIdOf(entry)}`;
    const id = entryIdOf(entry);
    if (!first.has(place)) first.set(place, id);
    last.set(place, id);
  }
  return [...new Set([...first.values(), ...last.values()])];
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
     WHERE seq > $1 AND seq <= $2 GROUP BY 1 ${widen("ledger_days", "day")}`,
    [firstSeq, lastSeq],
  );
  await sql.all(
    `INSERT INTO ledger_top_ups (seq, account_id)
     SELECT seq, account_id FROM ledger WHERE seq > $1 AND seq <= $2 AND kind = 'top_up'`,
    [firstSeq, lastSeq],
  );
}
