/**
 * The store in Postgres, for several machines.
 *
 * Writes of the ledger run beside each other: each holds the rows of its accounts in `accounts`,
 * and every other row that it changes belongs to one of these accounts. It takes two round trips:
 * begin, locks and reads; writes and commit. While it holds a lock it waits for none but that of
 * the records of calls, whose holders wait for nothing. So there is no cycle of waiting. What a
 * write of several accounts cannot lock at once it leaves out.
 *
 * All other writes take a named advisory lock first, that of administration if no other: one of
 * them runs at a time. They lock the accounts that they change.
 *
 * No session state is used (locks and time limits end with their transaction, there is no LISTEN),
 * so a transaction-mode pooler may be in between.
 */
import { createHash } from "node:crypto";
import { CertificateEnds } from "../../../certificate_ends.ts";
import { postgresAddress } from "./postgres_address.ts";
import {
  openPostgresPool,
  type PostgresPool,
  type Query,
  type StatementResult,
} from "./postgres_pool.ts";
import {
  intOf,
  type Leases,
  type LockName,
  MAX_REPORTS,
  type ParallelWrites,
  REPORT_MS,
  type Sql,
  type SqlDialect,
  type SqlValue,
  type Store,
  SupersededError,
  textOf,
} from "../store.ts";
import { ledgerEnd, ledgerEndOnReplica } from "./postgres_ledger_end.ts";
import { replicaOf } from "./postgres_replica.ts";
import type { SecretSeal } from "../secret_seal.ts";
import { type ProcessClocks, StoreClock } from "../store_clock.ts";

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
/**
 * Every write shares this lock. A change of tables, and each write of a version before accounts had
 * locks of their own, takes it alone. Arbitrary; must never change.
 */
const WRITE_LOCK = 7_190_317_442;
/** Named locks; the second key is that of the name. Arbitrary; must never change. */
const NAMED_LOCKS = 719_031_744;
const ADMINISTRATION = "administration";
/**
 * How long a process that does not answer holds the locks of a write, as a part of the time limit
 * of a statement.
 */
const HOLD_PART = 0.6;
/** How long a write of accounts waits for a lock: longer than such a process holds it. */
const LOCK_PART = 0.8;
/**
 * The same for a write that a named lock begins: it goes through many accounts, and comes back to
 * one that is locked for longer than the writes of calls.
 */
const SHORT_LOCK_PART = 0.1;
/** SQLSTATE of a statement that waited too long for a lock. */
const LOCK_NOT_AVAILABLE = "55P03";
/** Writes of accounts at a time, each on a connection of its own. */
const MAX_ACCOUNT_WRITES = 4;
/** Text of the error of a write after a newer program has changed the store. */
const SUPERSEDED = "superseded by schema ";
/** The server's clock, Unix milliseconds. */
const SERVER_MS =
  "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";
/** Connections of a process for everything but reports. */
const MAX_CONNECTIONS = 4;

interface PostgresOptions extends ProcessClocks {
  /** A process that has not renewed its lease for this long counts as dead, in milliseconds. */
  readonly leaseMs?: number;
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
  const certificateEnds = new CertificateEnds();
  const pool = openPostgresPool(
    address,
    deadlineMs,
    MAX_CONNECTIONS,
    certificateEnds,
  );
  // The server ends a statement before its connection is given up.
  const reportPool = openPostgresPool(
    options.readUrl === undefined ? address : postgresAddress(options.readUrl),
    reportMs + deadlineMs,
    MAX_REPORTS,
    certificateEnds,
  );
  // SET LOCAL, so that a pooler does not pass the settings on to another session.
  const beginWithin = (
    first: string,
    statementMs: number,
    idleMs = deadlineMs,
  ): string =>
    `${first}; SET LOCAL statement_timeout = ${statementMs}; ` +
    `SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`;
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
  const writePool = openPostgresPool(address, deadlineMs, MAX_ACCOUNT_WRITES);
  // A connection to the store itself: a full audit must not read a replica.
  const snapshotPool = openPostgresPool(address, reportMs + deadlineMs, 1);
  /** The end of the statements that begin a write: in the same round trip, after the lock. */
  let mayWrite = "";
  const beginWrite = beginWithin(
    "BEGIN",
    deadlineMs,
    Math.ceil(deadlineMs * HOLD_PART),
  );
  const beginOf = (name: string, isAlone = false): string =>
    // In this order, a write that waits for the named lock holds no other.
    `${beginWrite}; SELECT pg_advisory_xact_lock(${NAMED_LOCKS}, ${
      lockKey(name)
    }), pg_advisory_xact_lock${
      isAlone ? "" : "_shared"
    }(${WRITE_LOCK})${mayWrite}`;
  // After the other locks: the time limit is that of an account's lock, not of a change of tables.
  const limitWait = (part: number): string =>
    `; SET LOCAL lock_timeout = ${Math.ceil(deadlineMs * part)}`;
  const beginAccounts = (): string =>
    `${beginWrite}; SELECT pg_advisory_xact_lock_shared(${WRITE_LOCK})${mayWrite}` +
    limitWait(LOCK_PART);
  /** Begins a write; fails if a newer program has changed the store. */
  const beginning = async (query: Query, text: string): Promise<unknown> => {
    try {
      return await query(text);
    } catch (error) {
      throw error instanceof Error && error.message.includes(SUPERSEDED)
        ? new SupersededError()
        : error;
    }
  };

  const writeAfter = <T>(
    beginText: string,
    work: (sql: Sql) => Promise<T>,
  ): Promise<T> =>
    pool.lend(async (query) => {
      // Awaited: without the transaction each statement of `work` would commit on its own.
      await beginning(query, beginText);
      const all: Sql["all"] = async (text, values) =>
        (await query(text, values)).rows;
      let result: Awaited<T>;
      try {
        result = await work({
          all,
          async lockAccounts(ids) {
            await Promise.all(
              ids.toSorted().map((id) => query(LOCK_ACCOUNT, [id])),
            );
          },
          lockNamed: async (name) => void await query(lockText(name)),
        });
      } catch (error) {
        await query("ROLLBACK").catch(() => {});
        throw error;
      }
      assertCommitted(await query("COMMIT"));
      return result;
    });
  const administer = async <T>(
    work: (sql: Sql) => Promise<T>,
    isAlone = false,
  ): Promise<T> => await writeAfter(beginOf(ADMINISTRATION, isAlone), work);

  const commitAccounts: ParallelWrites["commit"] = (accountIds, work) =>
    writePool.lend(async (query) => {
      const all: Sql["all"] = async (text, values) =>
        (await query(text, values)).rows;
      const begun = beginning(query, beginAccounts());
      const locked = all(
        ...(accountIds.length === 1
          ? [LOCK_ACCOUNT, [accountIds[0] ?? ""]] as const
          : [TRY_ACCOUNTS, [JSON.stringify(accountIds)]] as const),
      ).then((rows) => new Set(rows.map((row) => textOf(row, "id"))));
      const statements: {
        readonly text: string;
        readonly values?: readonly SqlValue[];
      }[] = [];
      let value: Awaited<ReturnType<typeof work>>["value"];
      try {
        const [staged] = await Promise.all([
          work({ all }, locked),
          // Without a transaction nothing is written.
          begun,
          locked,
        ]);
        value = staged.value;
        await staged.write({
          all(text, values) {
            statements.push({ text, ...(values && { values }) });
            return Promise.resolve([]);
          },
          lockNamed(name) {
            statements.push({ text: lockText(name) });
            return Promise.resolve();
          },
        });
      } catch (error) {
        await query("ROLLBACK").catch(() => {});
        throw error;
      }
      const results = await Promise.all([
        ...statements.map(({ text, values }) => query(text, values)),
        query("COMMIT"),
      ]);
      assertCommitted(results.at(-1));
      return value;
    });

  return {
    dialect: DIALECT,
    ...(options.secrets === undefined ? {} : { secrets: options.secrets }),
    maxStalenessMs: MAX_STALENESS_MS,
    certificateEnds,
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
    write: (work, alone) => administer(work, alone !== undefined),
    commit: async (work) => ({
      value: await administer((sql) => work(sql, false)),
      durable: Promise.resolve(),
    }),
    commitUncached: (work) => administer(work),
    parallel: {
      most: MAX_ACCOUNT_WRITES,
      commit: commitAccounts,
      isOfAccount: (error) =>
        error instanceof Error && "code" in error &&
        error.code === LOCK_NOT_AVAILABLE,
      write: (name, work) =>
        writeAfter(beginOf(name) + limitWait(SHORT_LOCK_PART), work),
    },
    snapshot: (work) =>
      snapshotPool.lend(async (query) => {
        await query(
          beginWithin(
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            reportMs,
          ),
        );
        const result = await work({
          all: async (text, values) => (await query(text, values)).rows,
        });
        await query("COMMIT");
        return result;
      }),
    async ledgerEnd() {
      const end = await ledgerEnd(read, WRITE_LOCK, reportMs);
      return options.readUrl === undefined
        ? end
        : await ledgerEndOnReplica(read, report, end);
    },
    ...(options.readUrl === undefined ? {} : { replica: replicaOf(report) }),
    writeAs(version) {
      // An error of the cast shows the text; without a row nothing is cast.
      mayWrite = `; SELECT CAST('${SUPERSEDED}' || least_version AS BIGINT) ` +
        `FROM writers WHERE least_version > ${version}`;
    },
    setLogin(newUrl, newReadUrl = newUrl) {
      const login = postgresAddress(newUrl);
      for (const one of [pool, writePool, snapshotPool]) one.setLogin(login);
      reportPool.setLogin(postgresAddress(newReadUrl));
    },
    close: async () => {
      await Promise.all(
        [pool, writePool, reportPool, snapshotPool].map((one) => one.close()),
      );
    },
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
}

/** Not FOR UPDATE: rows of other tables that refer to the account may be added meanwhile. */
const LOCK_ACCOUNT = "SELECT id FROM accounts WHERE id = $1 FOR NO KEY UPDATE";
const TRY_ACCOUNTS = `SELECT id FROM accounts WHERE id IN ${
  DIALECT.texts(1)
} FOR NO KEY UPDATE SKIP LOCKED`;

function lockText(name: LockName): string {
  return `SELECT pg_advisory_xact_lock(${NAMED_LOCKS}, ${lockKey(name)})`;
}

/** Names with the same key share a lock, which is harmless. */
function lockKey(name: string): number {
  return createHash("sha256").update(name).digest().readInt32BE();
}

function assertCommitted(result: StatementResult | undefined): void {
  // The server's reply to COMMIT after a failed statement is ROLLBACK.
  if (result?.command !== "COMMIT") {
    throw new Error("the write was rolled back");
  }
}

/**
 * Leases by counting: each process increments a counter in its row. A process whose counter
 * did not change for a whole lease *while it was observed* counts as dead. No two clocks
 * of processes are compared, and an observer that was itself suspended or disconnected starts over:
 * the same outage may have kept other processes from renewing.
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
