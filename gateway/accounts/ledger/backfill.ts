/**
 * Keeps the roll-ups of the ledger in order, in the background: sums up the entries that an
 * older version wrote without them, newest first, and removes old hours. Each write is
 * short, so that neither the event loop nor other writes wait long.
 */
import { DAY_MS } from "../limits/calendar_window.ts";
import { addStoredDays } from "../rows/ledger_day_rows.ts";
import { addStoredUsage, HOUR_MS } from "../rows/usage_rows.ts";
import { intOf, type Sql, type Store, textOf } from "../store/store.ts";
import { type Rounds, startRounds } from "../rounds.ts";
import type { Timer } from "../timer.ts";

/** How long hours are kept, in days; days are kept for ever. */
export const HOURS_KEPT_DAYS = 35;

interface BackfillOptions {
  readonly store: Store;
  /** Current Unix time in milliseconds. */
  readonly now: () => number;
  /** Waits between two writes. */
  readonly timer: Timer;
}

const FIRST_MS = 200;
/** Pause once nothing is left to do. */
const IDLE_MS = 600_000;
/** Pause after a failed write. */
const RETRY_MS = 5000;
/** Pause after a write, as a multiple of its duration: other work has the rest of the time. */
const PAUSE_FACTOR = 2;
const MIN_PAUSE_MS = 5;
const FIRST_ENTRIES = 200;
const MAX_ENTRIES = 20_000;
/** A write that took longer is followed by a smaller one, a shorter one by a larger. */
const TARGET_MS = 6;

export function startBackfill(options: BackfillOptions): Rounds {
  const { store, now, timer } = options;
  let isFilled = false;
  let entries = FIRST_ENTRIES;
  /** Returns the pause until the next step, in milliseconds. */
  const step = async (): Promise<number> => {
    const startMs = performance.now();
    const more = isFilled
      ? await removeOldHours(store, now())
      : await isMissing(store) &&
        await store.write((sql) => backfillSlice(sql, entries, now()));
    const tookMs = performance.now() - startMs;
    if (!isFilled) {
      if (tookMs > TARGET_MS) entries = Math.max(50, entries / 2);
      else if (tookMs < TARGET_MS / 2) {
        entries = Math.min(MAX_ENTRIES, entries * 2);
      }
    }
    if (more) return Math.max(MIN_PAUSE_MS, tookMs * PAUSE_FACTOR);
    if (isFilled) return IDLE_MS;
    isFilled = true;
    return MIN_PAUSE_MS;
  };
  // Not reported here: the ledger's writer already reports outages.
  return startRounds(timer, FIRST_MS, () => step().catch(() => RETRY_MS));
}

async function isMissing(store: Store): Promise<boolean> {
  const [row] = await store.read("SELECT next_seq FROM roll_up_backfill");
  return row !== undefined && intOf(row, "next_seq") > 0;
}

/**
 * Sums up the newest entries that are missing in the roll-ups, at most `entries` of them. Returns
 * whether any are left. Call it inside {@linkcode Store.write}.
 */
export async function backfillSlice(
  sql: Sql,
  entries: number,
  nowMs: number,
): Promise<boolean> {
  const [row] = await sql.all("SELECT next_seq FROM roll_up_backfill");
  const last = row === undefined ? 0 : intOf(row, "next_seq");
  if (last === 0) return false;
  const first = Math.max(0, last - Math.floor(entries));
  if (sql.lockAccounts !== undefined) {
    const accounts = await sql.all(
      "SELECT DISTINCT account_id FROM ledger WHERE seq > $1 AND seq <= $2",
      [first, last],
    );
    await sql.lockAccounts(accounts.map((one) => textOf(one, "account_id")));
  }
  await addStoredUsage(
    sql,
    first,
    last,
    Math.floor(nowMs / HOUR_MS) - HOURS_KEPT_DAYS * 24,
  );
  await addStoredDays(sql, first, last);
  const [before] = await sql.all(
    "SELECT seq, at_ms FROM ledger WHERE seq <= $1 ORDER BY seq DESC LIMIT 1",
    [first],
  );
  await sql.all("UPDATE roll_up_backfill SET next_seq = $1, from_day = $2", [
    before === undefined ? 0 : intOf(before, "seq"),
    // The day of the newest missing entry is incomplete.
    before === undefined ? 0 : Math.floor(intOf(before, "at_ms") / DAY_MS) + 1,
  ]);
  return before !== undefined;
}

/** Rows of old hours that one write removes; an hour has a row for each key and model. */
export const REMOVED_HOURS_ROWS = 250;

/**
 * Removes the first rows of the oldest hour, at most {@linkcode REMOVED_HOURS_ROWS}, if it is old
 * enough. Returns whether there may be others.
 */
export async function removeOldHours(
  store: Store,
  nowMs: number,
): Promise<boolean> {
  const oldest = Math.floor(nowMs / HOUR_MS) - HOURS_KEPT_DAYS * 24;
  const [row] = await store.read(
    "SELECT hour FROM usage_hours ORDER BY hour LIMIT 1",
  );
  if (row === undefined || intOf(row, "hour") >= oldest) return false;
  const hour = intOf(row, "hour");
  await store.write(async (sql) => {
    const [next] = await sql.all(
      `SELECT account_id, key_id, model FROM usage_hours WHERE hour = $1
       ORDER BY account_id, key_id, model LIMIT 1 OFFSET ${REMOVED_HOURS_ROWS}`,
      [hour],
    );
    await (next === undefined
      ? sql.all("DELETE FROM usage_hours WHERE hour = $1", [hour])
      : sql.all(
        `DELETE FROM usage_hours
         WHERE hour = $1 AND (account_id, key_id, model) < ($2, $3, $4)`,
        [
          hour,
          textOf(next, "account_id"),
          textOf(next, "key_id"),
          textOf(next, "model"),
        ],
      ));
  });
  return true;
}
