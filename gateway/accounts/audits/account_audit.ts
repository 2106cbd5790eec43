/**
 * Audits the books while calls go on: adds up the ledger in slices, then compares each account in
 * one statement, with what was entered since. It locks nothing.
 */
import { intOf, type Store, textOf } from "../store/store.ts";

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

interface AccountAuditOptions {
  readonly store: Store;
  /** Called after each read; rejects to end the audit. */
  readonly onRead: () => Promise<void>;
  /** Entries of one read; absent: as many as take a fraction of a second. */
  readonly rows?: number;
}

const ROWS = 50_000;
/** Accounts of one read. */
const ACCOUNTS = 100;

/** Sums of one account. */
interface Sums {
  /** By model with a balance of its own; '' is the account's own balance. */
  readonly balances: Map<string, number>;
  charges: number;
  entries: number;
}

/** Audits every account, in the order of their ids. */
export async function* auditAccounts(
  options: AccountAuditOptions,
): AsyncGenerator<AuditedAccount, void, void> {
  const { store, onRead } = options;
  // Entries are never changed.
  const { sums, seq } = await addUp(options);
  let after = "";
  for (;;) {
    const accounts = await store.report(
      `SELECT id, balance_micro_usd AS balance,
        CAST((SELECT COALESCE(SUM(micro_usd), 0) FROM ledger WHERE account_id = a.id AND seq > $1 AND purse = '') AS BIGINT) AS later,
        CAST((SELECT COUNT(*) FROM ledger WHERE account_id = a.id AND seq > $1) AS BIGINT) AS entries,
        CAST((SELECT 0 - COALESCE(SUM(micro_usd), 0) FROM ledger WHERE account_id = a.id AND seq > $1 AND kind = 'charge') AS BIGINT) AS charges,
        CAST((SELECT COALESCE(SUM(micro_usd), 0) FROM usage_days WHERE account_id = a.id) AS BIGINT) AS days,
        CAST((SELECT next_seq FROM roll_up_backfill) AS BIGINT) AS missing
       FROM accounts a WHERE id > $2 ORDER BY id LIMIT ${ACCOUNTS}`,
      [seq, after],
    );
    await onRead();
    const lastId = accounts.at(-1)?.["id"];
    if (typeof lastId !== "string") return;
    const purses = await store.report(
      `SELECT account_id, model, balance_micro_usd AS balance,
        CAST((SELECT COALESCE(SUM(micro_usd), 0) FROM ledger WHERE account_id = p.account_id AND seq > $1 AND purse = p.model) AS BIGINT) AS later
       FROM purses p WHERE account_id > $2 AND account_id <= $3 ORDER BY account_id, model`,
      [seq, after, lastId],
    );
    await onRead();
    for (const row of accounts) {
      const accountId = textOf(row, "id");
      const added = sums.get(accountId);
      const findings: string[] = [];
      const compare = (
        what: string,
        stored: number,
        computed: number,
      ): void => {
        if (stored === computed) return;
        findings.push(`${what}: ${stored} stored, ${computed} computed`);
      };
      compare(
        "the balance differs from the sum of the ledger",
        intOf(row, "balance"),
        (added?.balances.get("") ?? 0) + intOf(row, "later"),
      );
      const days = intOf(row, "missing") === 0;
      if (days) {
        compare(
          "the usage by day differs from the sum of the ledger",
          intOf(row, "days"),
          (added?.charges ?? 0) + intOf(row, "charges"),
        );
      }
      for (const purse of purses) {
        if (purse["account_id"] !== accountId) continue;
        const model = textOf(purse, "model");
        compare(
          `the balance of ${model} differs from the sum of the ledger`,
          intOf(purse, "balance"),
          (added?.balances.get(model) ?? 0) + intOf(purse, "later"),
        );
      }
      const entries = (added?.entries ?? 0) + intOf(row, "entries");
      yield { accountId, entries, days, findings };
    }
    after = lastId;
  }
}

/**
 * Adds up the entries by account up to the number `seq`, at or below which none can still appear.
 */
async function addUp(
  { store, onRead, rows: limit = ROWS }: AccountAuditOptions,
): Promise<{ readonly sums: ReadonlyMap<string, Sums>; readonly seq: number }> {
  const all = new Map<string, Sums>();
  const end = await store.ledgerEnd();
  let seq = 0;
  for (;;) {
    const rows = await store.report(
      `SELECT account_id, purse, CAST(COUNT(*) AS BIGINT) AS entries, CAST(MAX(seq) AS BIGINT) AS last,
        CAST(SUM(micro_usd) AS BIGINT) AS micro_usd,
        CAST(SUM(CASE WHEN kind = 'charge' THEN 0 - micro_usd ELSE 0 END) AS BIGINT) AS charges
       FROM (SELECT account_id, purse, seq, kind, micro_usd FROM ledger WHERE seq > $1 AND seq <= $3 ORDER BY seq LIMIT $2) AS slice
       GROUP BY account_id, purse`,
      [seq, limit, end],
    );
    await onRead();
    if (rows.length === 0) return { sums: all, seq };
    for (const row of rows) {
      const id = textOf(row, "account_id");
      let sums = all.get(id);
      if (sums === undefined) {
        all.set(id, sums = { balances: new Map(), charges: 0, entries: 0 });
      }
      const purse = textOf(row, "purse");
      sums.balances.set(
        purse,
        (sums.balances.get(purse) ?? 0) + intOf(row, "micro_usd"),
      );
      sums.charges += intOf(row, "charges");
      sums.entries += intOf(row, "entries");
      seq = Math.max(seq, intOf(row, "last"));
    }
  }
}
