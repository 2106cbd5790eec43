/**
 * The store in Postgres, for several machines.
 *
 * Every write takes one advisory lock first. That serialises writes as in SQLite: no
 * deadlocks, ledger rows appear in the order of their numbers, and a decision never rests
 * on a row that another process is changing. A write is a whole batch, so the lock costs
 * little. It takes four round trips: begin and lock, read, write, commit. No session state
 * is used (the lock and the time limits end with their transaction, there is no LISTEN), so
 * a transaction-mode pooler may be in between.
 *
 * @module
 */
import { postgresAddress } from "./postgres_address.ts";
import { openPostgresPool, type PostgresPool } from "./postgres_pool.ts";
import {
  intOf,
  type Leases,
  MAX_REPORTS,
  REPORT_MS,
  type Sql,
  type SqlDialect,
  type Store,
  textOf,
  writeDurably,
} from "./store.ts";
import { replicaOf } from "./postgres_replica.ts";
import type { SecretSeal } from "./secret_seal.ts";
import { type ProcessClocks, StoreClock } from "./store_clock.ts";

const DIALECT: SqlDialect = {
  name: "postgres",
  // Cast from text, so that the parameter has the same type for every driver and pooler.
  elements: (n) => `jsonb_array_elements($${n}::text::jsonb) AS e (value)`,
  texts: (n) => `(SELECT jsonb_array_elements_text($${n}::text::jsonb))`,
  byCodePoint: (text) => `${text} COLLATE "C"`,
};

/**
 * A revoked key must be refused within five seconds on all machines; the rest is for slow
 * networks.
 */
const MAX_STALENESS_MS = 2000;
/** An arbitrary constant; must never change. */
const WRITE_LOCK = 7_190_317_442;
/** The server's clock, Unix milliseconds. */
const SERVER_MS =
  "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";
/** Connections of a process for everything but reports. */
const MAX_CONNECTIONS = 4;

/** Options of {@linkcode openPostgresStore}. */
export interface PostgresOptions extends ProcessClocks {
  /** A process that has not renewed its lease for this long counts as dead, in milliseconds. */
  readonly leaseMs?: number;
  /** Time limit of a statement, in milliseconds. */
  readonly deadlineMs?: number;
  /** Replaces the time limit of a report's statement, in milliseconds. */
  readonly reportMs?: number;
  /** A replica, from which reports are read; absent: from the store. */
  readonly readUrl?: string;
  /** Seals secrets in the rows; absent: they are stored in clear text. */
  readonly secrets?: SecretSeal;
}

/**
 * Opens the store at `postgres://…`. Connections are made when first needed.
 *
 * @throws {Error} if the address is malformed
 */
export function openPostgresStore(
  url: string,
  options: PostgresOptions = {},
): Store {
  const { deadlineMs = 5000, reportMs = REPORT_MS } = options;
  const address = postgresAddress(url);
  const pool = openPostgresPool(address, deadlineMs, MAX_CONNECTIONS);
  // The server ends a statement before its connection is given up.
  const reportPool = openPostgresPool(
    options.readUrl === undefined ? address : postgresAddress(options.readUrl),
    reportMs + deadlineMs,
    MAX_REPORTS,
  );
  // SET LOCAL, so that a pooler does not pass the settings on to another session.
  const beginWithin = (first: string, statementMs: number): string =>
    `${first}; SET LOCAL statement_timeout = ${statementMs}; ` +
    `SET LOCAL idle_in_transaction_session_timeout = ${deadlineMs}`;
  const begin = beginWithin("BEGIN", deadlineMs);
  const reader =
    ({ lend }: PostgresPool, beginText: string): Sql["all"] => (text, values) =>
      lend(async (query) => {
        const [, { rows }] = await Promise.all([
          query(beginText),
          query(text, values ?? []),
          query("COMMIT"),
        ]);
        return rows;
      });
  const read = reader(pool, begin);
  const report = reader(reportPool, beginWithin("BEGIN READ ONLY", reportMs));
  const clock = new StoreClock(options);
  const commit: Store["commit"] = async (work) => {
    const value = await pool.lend(async (query) => {
      // Awaited: without the transaction each statement of `work` would commit on its own.
      await query(`${begin}; SELECT pg_advisory_xact_lock(${WRITE_LOCK})`);
      const all: Sql["all"] = async (text, values) =>
        (await query(text, values ?? [])).rows;
      let result: Awaited<ReturnType<typeof work>>;
      try {
        result = await work({ all }, false);
      } catch (error) {
        await query("ROLLBACK").catch(() => {});
        throw error;
      }
      const { command } = await query("COMMIT");
      // The server's reply to COMMIT after a failed statement is ROLLBACK.
      if (command !== "COMMIT") throw new Error("the write was rolled back");
      return result;
    });
    return { value, durable: Promise.resolve() };
  };
  return {
    dialect: DIALECT,
    ...(options.secrets === undefined ? {} : { secrets: options.secrets }),
    maxStalenessMs: MAX_STALENESS_MS,
    leases: counterLeases(
      read,
      options.leaseMs ?? 10_000,
      options.elapsed ?? (() => performance.now()),
      clock,
    ),
    clock,
    readClock: () =>
      clock.read(async () => {
        const [row] = await read(`SELECT ${SERVER_MS} AS now_ms`);
        return row === undefined ? clock.now() : intOf(row, "now_ms");
      }),
    read,
    report,
    note: read,
    write: (work) => writeDurably({ commit }, work),
    commit,
    commitUncached: async (work) => (await commit(work, {})).value,
    ...(options.readUrl === undefined ? {} : { replica: replicaOf(report) }),
    setLogin(newUrl, newReadUrl = newUrl) {
      pool.setLogin(postgresAddress(newUrl));
      reportPool.setLogin(postgresAddress(newReadUrl));
    },
    close: async () => {
      await Promise.all([pool.close(), reportPool.close()]);
    },
  };
}

/**
 * Leases by counting: each process increments a counter in its row. A process whose counter
 * did not change for a whole lease *while it was observed* counts as dead. No two clocks
 * of processes are compared, and an observer that was itself suspended or disconnected starts over: the
 * same outage may have kept other processes from renewing.
 */
function counterLeases(
  all: Sql["all"],
  leaseMs: number,
  elapsed: () => number,
  clock: StoreClock,
): Leases {
  const observed = new Map<string, { beat: number; sinceMs: number }>();
  let observedAtMs = elapsed();
  const run: Sql["all"] = async (text, values) => {
    try {
      return await all(text, values);
    } catch (error) {
      observed.clear();
      throw error;
    }
  };
  const increment = (leaseId: string): Promise<void> =>
    clock.read(async () => {
      const [row] = await run(
        "INSERT INTO owners (id, beat) VALUES ($1, 0) ON CONFLICT (id) DO UPDATE SET beat = owners.beat + 1 " +
          `RETURNING ${SERVER_MS} AS now_ms`,
        [leaseId],
      );
      return row === undefined ? clock.now() : intOf(row, "now_ms");
    });
  return {
    register: increment,
    renew: increment,
    async expired(leaseId) {
      const rows = await run("SELECT id, beat FROM owners WHERE id <> $1", [
        leaseId,
      ]);
      const nowMs = elapsed();
      if (nowMs - observedAtMs > leaseMs) observed.clear();
      observedAtMs = nowMs;
      const expiredIds: string[] = [];
      for (const row of rows) {
        const id = textOf(row, "id");
        const count = intOf(row, "beat");
        const before = observed.get(id);
        if (before?.beat !== count) {
          observed.set(id, { beat: count, sinceMs: nowMs });
        } else if (nowMs - before.sinceMs >= leaseMs) expiredIds.push(id);
      }
      return expiredIds;
    },
    async remove(leaseId) {
      observed.delete(leaseId);
      await run("DELETE FROM owners WHERE id = $1", [leaseId]);
    },
  };
}
