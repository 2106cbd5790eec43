/**
 * Audits the books while calls go on: adds up the whole ledger and the sums by day in short reads,
 * and compares each account's balance with them in one statement. It locks nothing.
 *
 * @module
 */
import { DAY_MS } from "./calendar_window.ts";
import {
  intOf,
  type SqlRow,
  type SqlValue,
  type Store,
  textOf,
} from "../store/store.ts";

/** Entries that were added up, and the differences found. */
export interface AuditedAccount {
  readonly accountId: string;
  /** Ledger entries that were added up. */
  readonly entries: number;
  /** Whether the sums by day were compared: not while older entries are missing in them. */
  readonly days: boolean;
  /** Differences, one sentence each; empty if all sums agree to the micro-dollar. */
  readonly findings: readonly string[];
}

/** What an audit needs. */
export interface SlicedAuditOptions {
  readonly store: Store;
  /** Current Unix time in milliseconds. */
  readonly now: () => number;
  /**
   * Called after each read with its duration in milliseconds; resolves when the next may begin.
   * Rejects to end the audit.
   */
  readonly pause: (tookMs: number) => Promise<void>;
  /** Rows of one read; absent: a number that takes a few milliseconds. */
  readonly rows?: number;
}

const ROWS = 1000;
const ACCOUNTS = 200;
/** A write between two reads may make them differ; the account is then read again. */
const TRIES = 3;

/** Sums of one account so far. */
class Sums {
  /** By model of the purse; '' is the account's own balance. */
  readonly balances = new Map<string, number>();
  charges = 0;
  entries = 0;
  days = 0;
}

/** Audits every account, in the order of their ids. */
export async function* slicedAudit(
  options: SlicedAuditOptions,
): AsyncGenerator<AuditedAccount, void, void> {
  const { store } = options;
  const all = new Map<string, Sums>();
  const bounds = await addUp(options, all);
  for (let after = "";;) {
    const accounts = await timed(
      options,
      () =>
        store.report(
          "SELECT id FROM accounts WHERE id > $1 ORDER BY id LIMIT $2",
          [
            after,
            ACCOUNTS,
          ],
        ),
    );
    for (const row of accounts) {
      const accountId = textOf(row, "id");
      yield await audited(options, accountId, all.get(accountId), bounds);
      after = accountId;
    }
    if (accounts.length < ACCOUNTS) return;
  }
}

/** What was added up: entries up to `seq`, and days before `day`. */
interface Bounds {
  readonly seq: number;
  readonly day: number;
  readonly days: boolean;
}

async function audited(
  options: SlicedAuditOptions,
  accountId: string,
  sums: Sums = new Sums(),
  bounds: Bounds,
): Promise<AuditedAccount> {
  let result = await compared(options, accountId, sums, bounds);
  for (let tries = 1; tries < TRIES && result.findings.length > 0; tries++) {
    const again = new Map<string, Sums>();
    const newer = await addUp(options, again, accountId);
    result = await compared(
      options,
      accountId,
      again.get(accountId) ?? new Sums(),
      newer,
    );
  }
  return result;
}

/** Adds up the ledger and the days, of one account or of all. */
async function addUp(
  options: SlicedAuditOptions,
  into: Map<string, Sums>,
  accountId?: string,
): Promise<Bounds> {
  const { store, now } = options;
  const [backfill] = await store.report(
    "SELECT next_seq FROM roll_up_backfill",
  );
  const days = backfill === undefined || intOf(backfill, "next_seq") === 0;
  // Charges of the last two days may still be added to their days.
  const day = Math.floor(now() / DAY_MS) - 1;
  const sumsOf = (row: SqlRow): Sums => {
    const id = textOf(row, "account_id");
    let sums = into.get(id);
    if (sums === undefined) into.set(id, sums = new Sums());
    return sums;
  };
  if (days) await addDays(options, sumsOf, day, accountId);
  return { seq: await addEntries(options, sumsOf, accountId), day, days };
}

async function addEntries(
  options: SlicedAuditOptions,
  sumsOf: (row: SqlRow) => Sums,
  accountId: string | undefined,
): Promise<number> {
  const { store, rows: limit = ROWS } = options;
  let seq = 0;
  for (;;) {
    const values: SqlValue[] = [seq, limit];
    if (accountId !== undefined) values.push(accountId);
    const rows = await timed(options, () =>
      store.report(
        `SELECT account_id, purse, CAST(COUNT(*) AS BIGINT) AS entries, CAST(MAX(seq) AS BIGINT) AS last,
          CAST(SUM(micro_usd) AS BIGINT) AS micro_usd,
          CAST(SUM(CASE WHEN kind = 'charge' THEN 0 - micro_usd ELSE 0 END) AS BIGINT) AS charges
         FROM (SELECT account_id, purse, seq, kind, micro_usd FROM ledger WHERE seq > $1 ${
          accountId === undefined ? "" : "AND account_id = $3"
        } ORDER BY seq LIMIT $2) AS slice GROUP BY account_id, purse`,
        values,
      ));
    let count = 0;
    for (const row of rows) {
      const sums = sumsOf(row);
      const purse = textOf(row, "purse");
      sums.balances.set(
        purse,
        (sums.balances.get(purse) ?? 0) + intOf(row, "micro_usd"),
      );
      sums.charges += intOf(row, "charges");
      sums.entries += intOf(row, "entries");
      count += intOf(row, "entries");
      seq = Math.max(seq, intOf(row, "last"));
    }
    if (count < limit) return seq;
  }
}

async function addDays(
  options: SlicedAuditOptions,
  sumsOf: (row: SqlRow) => Sums,
  day: number,
  accountId: string | undefined,
): Promise<void> {
  const { store, rows: limit = ROWS } = options;
  let last: readonly SqlValue[] = [-1, "", "", ""];
  for (;;) {
    const values: SqlValue[] = [...last, day, limit];
    if (accountId !== undefined) values.push(accountId);
    // The order of an index: usage_days_account begins with the account, the primary key with the day.
    const order = accountId === undefined
      ? "day, account_id, key_id, model"
      : "day, key_id, model";
    const rows = await timed(options, () =>
      store.report(
        `SELECT day, account_id, key_id, model, micro_usd FROM usage_days
         WHERE (day, account_id, key_id, model) > ($1, $2, $3, $4) AND day >= $1 AND day < $5 ${
          accountId === undefined ? "" : "AND account_id = $7"
        } ORDER BY ${order} LIMIT $6`,
        values,
      ));
    for (const row of rows) sumsOf(row).days += intOf(row, "micro_usd");
    const end = rows.at(-1);
    if (end === undefined || rows.length < limit) return;
    last = [
      intOf(end, "day"),
      textOf(end, "account_id"),
      textOf(end, "key_id"),
      textOf(end, "model"),
    ];
  }
}

/** Compares the balances of an account with its sums, and with what was entered since. */
async function compared(
  options: SlicedAuditOptions,
  accountId: string,
  sums: Sums,
  bounds: Bounds,
): Promise<AuditedAccount> {
  const { store } = options;
  // One statement sees one state of the store.
  const [row] = await timed(options, () =>
    store.report(
      `SELECT balance_micro_usd AS balance,
        CAST((SELECT COALESCE(SUM(micro_usd), 0) FROM ledger WHERE account_id = a.id AND seq > $2 AND purse = '') AS BIGINT) AS later,
        CAST((SELECT COUNT(*) FROM ledger WHERE account_id = a.id AND seq > $2) AS BIGINT) AS entries,
        CAST((SELECT 0 - COALESCE(SUM(micro_usd), 0) FROM ledger WHERE account_id = a.id AND seq > $2 AND kind = 'charge') AS BIGINT) AS charges,
        CAST((SELECT COALESCE(SUM(micro_usd), 0) FROM usage_days WHERE account_id = a.id AND day >= $3) AS BIGINT) AS days
       FROM accounts a WHERE id = $1`,
      [accountId, bounds.seq, bounds.day],
    ));
  const findings: string[] = [];
  const compare = (what: string, stored: number, computed: number): void => {
    if (stored !== computed) {
      findings.push(`${what}: ${stored} stored, ${computed} computed`);
    }
  };
  if (row === undefined) {
    return { accountId, entries: 0, days: bounds.days, findings };
  }
  compare(
    "the balance differs from the sum of the ledger",
    intOf(row, "balance"),
    (sums.balances.get("") ?? 0) + intOf(row, "later"),
  );
  if (bounds.days) {
    compare(
      "the usage by day differs from the sum of the ledger",
      sums.days + intOf(row, "days"),
      sums.charges + intOf(row, "charges"),
    );
  }
  const purses = await timed(options, () =>
    store.report(
      `SELECT model, balance_micro_usd AS balance,
        CAST((SELECT COALESCE(SUM(micro_usd), 0) FROM ledger WHERE account_id = $1 AND seq > $2 AND purse = p.model) AS BIGINT) AS later
       FROM purses p WHERE account_id = $1 ORDER BY model`,
      [accountId, bounds.seq],
    ));
  for (const purse of purses) {
    const model = textOf(purse, "model");
    compare(
      `the balance of ${model} differs from the sum of the ledger`,
      intOf(purse, "balance"),
      (sums.balances.get(model) ?? 0) + intOf(purse, "later"),
    );
  }
  return {
    accountId,
    entries: sums.entries + intOf(row, "entries"),
    days: bounds.days,
    findings,
  };
}

/** Runs a read, and pauses after it. */
async function timed<T>(
  { pause }: SlicedAuditOptions,
  read: () => Promise<T>,
): Promise<T> {
  const startMs = performance.now();
  const result = await read();
  await pause(performance.now() - startMs);
  return result;
}
