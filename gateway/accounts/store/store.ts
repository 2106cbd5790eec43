/**
 * The store's interface: reads, and atomic writes. SQL passes through it as text that
 * SQLite and Postgres both accept; {@linkcode SqlDialect} covers the differences. The
 * tables are in `migrations.ts`.
 */

import type { CertificateEnds } from "../../certificate_ends.ts";
import type { SecretSeal } from "./secret_seal.ts";
import type { StoreClock } from "./store_clock.ts";

/**
 * A value of a parameter. Lists and records are passed as JSON text, see
 * {@linkcode SqlDialect}.
 */
export type SqlValue = string | number | null;

/** A row of a result. Read it with {@linkcode textOf} and its siblings. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** Runs SQL statements with parameters `$1`, `$2`, …. */
export interface Sql {
  /** Runs a statement and returns its rows. */
  all(
    text: string,
    values?: readonly SqlValue[],
  ): Promise<readonly SqlRow[]>;
  /** Runs a statement once per row of values. Absent if one statement for all rows is faster. */
  each?(
    text: string,
    rows: readonly (readonly SqlValue[])[],
  ): Promise<void>;
  /**
   * Waits until no other write changes what belongs to these accounts, and keeps others from doing
   * so until this one ends. Absent where one write runs at a time.
   */
  lockAccounts?(accountIds: readonly string[]): Promise<void>;
  /** The same for all that is written with the lock of this name, taken after those of accounts. */
  lockNamed?(name: LockName): Promise<void>;
}

/**
 * Locks of what belongs to no account, or is not in the ledger: `calls`, the records of calls;
 * `recovery`, the settlement of lost calls; `replies …`, the stored replies of one account.
 */
export type LockName = "calls" | "recovery" | `replies ${string}`;

/** What a write of accounts has decided. */
export interface Staged<T> {
  readonly value: T;
  /**
   * Writes what was decided. It reads no rows: all statements and the commit are one round trip.
   */
  readonly write: (sql: Sql) => Promise<unknown>;
}

/** Writes that run beside each other. */
export interface ParallelWrites {
  /** Writes of accounts at a time, of one process. */
  readonly most: number;
  /**
   * One atomic write of these accounts' rows; durable when the promise resolves. A write of one
   * account waits for its lock. A write of several waits for none, so that an account that is
   * locked elsewhere holds up nothing else: `locked` gives those of the accounts that this write
   * has locked, and `work` decides nothing for the others.
   */
  commit<T>(
    accountIds: readonly string[],
    work: (
      sql: Sql,
      locked: Promise<ReadonlySet<string>>,
    ) => Promise<Staged<T>>,
  ): Promise<T>;
  /** Whether a write failed because it waited too long for the lock of its account. */
  isOfAccount(error: unknown): boolean;
  /** Runs `work` as one atomic write, at the same time as those of all other locks. */
  write<T>(lock: LockName, work: (sql: Sql) => Promise<T>): Promise<T>;
}

/** The differences between SQLite and Postgres. */
export interface SqlDialect {
  readonly name: "sqlite" | "postgres";
  /**
   * The elements of the JSON array in parameter `$n` as rows with one column, `value`; for
   * a FROM clause.
   */
  elements(n: number): string;
  /** The texts of the JSON array in parameter `$n` as a subquery; for an IN clause. */
  texts(n: number): string;
  /** A text, to be ordered and compared by code points, whatever the collation of the database. */
  byCodePoint(text: string): string;
}

/**
 * The leases of the processes that use the store. Calls of an expired one are settled by
 * another process.
 */
export interface Leases {
  /** Adds a lease. It is valid until the process ends or stops renewing. */
  register(leaseId: string): Promise<void>;
  /** Renews a lease; called every few seconds. */
  renew(leaseId: string): Promise<void>;
  /**
   * Ids of other processes' leases that have expired. Never that of a process that may be
   * alive.
   */
  expired(leaseId: string): Promise<readonly string[]>;
  /** Removes a lease that has expired or has no reservations left. */
  remove(leaseId: string): Promise<void>;
}

/** A committed write. */
interface Committed<T> {
  /** Result of the work. */
  readonly value: T;
  /** Resolves once the write survives a crash of the machine; rejects if that failed. */
  readonly durable: Promise<void>;
}

/** Time limit of a report's statement, in milliseconds. */
export const REPORT_MS = 30_000;

/** Statements of reports at a time, of one process. */
export const MAX_REPORTS = 2;

export interface Replica {
  /** Milliseconds by which it lagged when last asked; undefined while it cannot be reached. */
  lagMs(): number | undefined;
  /** Asks it. */
  measure(): Promise<void>;
}

export interface Store extends AsyncDisposable {
  readonly dialect: SqlDialect;
  /**
   * How long a read may be relied on, in milliseconds: a change by another process (a
   * revoked key) is seen at most this much later.
   */
  readonly maxStalenessMs: number;
  /**
   * True: the file is a copy that was made while a process used the store, without its log, so that
   * the newest entries are missing.
   */
  readonly lacksLog?: boolean;
  /** The leases of all processes. */
  readonly leases: Leases;
  /** The store's time; read anew when a lease is registered or renewed. */
  readonly clock: Pick<StoreClock, "now" | "aheadMs">;
  /** Seals secrets in its rows; absent: they are stored in clear text. */
  readonly secrets?: SecretSeal;
  /** Reads the store's time for the first time. */
  readClock(): Promise<void>;
  /** Reads committed data. */
  readonly read: Sql["all"];
  /**
   * Reads like {@linkcode Store.read}, for reports: a few at a time, which occupy neither the event
   * loop nor the connections that calls need, for at most {@linkcode REPORT_MS}.
   */
  readonly report: Sql["all"];
  /**
   * Writes rows that only this process writes and that may be lost: one statement, without a
   * lock of {@linkcode Store.commit}, not durable when the promise resolves.
   */
  readonly note: Sql["all"];
  /**
   * Runs `work` as one atomic write; durable when the promise resolves. See
   * {@linkcode Store.commit}. `alone`: beside no other write at all, as a change of tables needs.
   */
  write<T>(
    work: (sql: Sql) => Promise<T>,
    alone?: "alone",
  ): Promise<T>;
  /** Present where writes of different accounts run beside each other. */
  readonly parallel?: ParallelWrites;
  /** Runs `work` on one state of the whole store: writes committed meanwhile are not seen. */
  snapshot<T>(work: (sql: Pick<Sql, "all">) => Promise<T>): Promise<T>;
  /**
   * A number of the ledger at or below which no further entry can appear in what
   * {@linkcode Store.report} reads. It has the entries that were committed before the call, unless
   * a replica is behind. Entries of one account appear in the order of their numbers; those of
   * different accounts need not.
   */
  ledgerEnd(): Promise<number>;
  /**
   * Runs `work` as one atomic write, never at the same time as another one in any process, except
   * for {@linkcode ParallelWrites}: what those change needs {@linkcode Sql.lockAccounts} first. All
   * processes see it when the promise resolves. `work` may await only its statements.
   *
   * A caller that caches what it wrote identifies its cache by `cacheOwner`, any object.
   * `cacheIsValid` is then true if no write of another owner, in any process, has followed its
   * last one, so that the cache equals the stored state; false if that is unknown.
   */
  commit<T>(
    work: (sql: Sql, cacheIsValid: boolean) => Promise<T>,
    cacheOwner: object,
  ): Promise<Committed<T>>;
  /**
   * Runs `work` like {@linkcode Store.commit}, for tables that no cache covers: the caches of this
   * process stay valid. With SQLite the write survives a crash of the machine once a later write
   * does.
   */
  commitUncached<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * States this program's schema version: every later write fails if a newer program has changed
   * the store so that this one would write wrong sums.
   */
  writeAs(schemaVersion: number): void;
  /** When the certificates of its servers end; absent where nothing is connected. */
  readonly certificateEnds?: CertificateEnds;
  /** The replica from which {@linkcode Store.report} reads; absent: it reads from the store. */
  readonly replica?: Replica;
  /**
   * Makes new connections with the users and passwords of addresses that are otherwise the same;
   * absent where nothing is connected.
   */
  setLogin?(databaseUrl: string, readUrl?: string): void;
  /** Closes the store after the writes under way. */
  close(): Promise<void>;
}

/**
 * The text in a column.
 *
 * @throws {Error} if the column does not hold a text
 */
export function textOf(row: SqlRow, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw unreadable(column, value);
  return value;
}

/** The text in a nullable column. */
export function textOrUndefined(
  row: SqlRow,
  column: string,
): string | undefined {
  return row[column] === null ? undefined : textOf(row, column);
}

/**
 * The whole number in a column.
 *
 * @throws {Error} if the column does not hold a safe integer
 */
export function intOf(row: SqlRow, column: string): number {
  const value = row[column];
  if (typeof value !== "number" || !Number.isSafeInteger(value)) {
    throw unreadable(column, value);
  }
  return value;
}

/** The whole number in a nullable column. */
export function intOrUndefined(
  row: SqlRow,
  column: string,
): number | undefined {
  return row[column] === null ? undefined : intOf(row, column);
}

/** The boolean in a column: 1 or 0. */
export function flagOf(row: SqlRow, column: string): boolean {
  return intOf(row, column) === 1;
}

function unreadable(column: string, value: unknown): Error {
  return new Error(
    `could not read column ${column} from the store: it holds ${typeof value}`,
  );
}

/** Implements {@linkcode Store.write} on top of {@linkcode Store.commit}. */
export async function writeDurably<T>(
  store: Pick<Store, "commit">,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const { value, durable } = await store.commit(work, {});
  await durable;
  return value;
}

export type Columns = Readonly<Record<string, "TEXT" | "BIGINT">>;

/** An INSERT statement. Its text never changes, so that the store plans it once. */
export interface InsertStatement {
  readonly names: readonly string[];
  /** Inserts one row; its values are the parameters. */
  readonly one: string;
  /** Inserts many rows, passed as one JSON parameter. */
  many(dialect: SqlDialect): string;
}

/** Prepares {@linkcode insertRows}; `tail` ends the statement, such as `ON CONFLICT …`. */
export function insertStatement(
  table: string,
  columns: Columns,
  tail: string = "",
): InsertStatement {
  const names = Object.keys(columns);
  const into = `INSERT INTO ${table} (${names.join(", ")})`;
  const marks = names.map((_, at) => `$${at + 1}`).join(", ");
  const picks = Object.entries(columns).map(([name, kind]) =>
    `CAST(value ->> '${name}' AS ${kind})`
  ).join(", ");
  return {
    names,
    one: `${into} VALUES (${marks}) ${tail}`,
    // WHERE true: otherwise SQLite parses ON CONFLICT as a join constraint.
    many: (dialect) =>
      `${into} SELECT ${picks} FROM ${dialect.elements(1)} WHERE true ${tail}`,
  };
}

/** Inserts rows in order. */
export async function insertRows(
  sql: Sql,
  dialect: SqlDialect,
  into: InsertStatement,
  rows: readonly Readonly<Record<string, SqlValue>>[],
): Promise<void> {
  if (rows.length === 0) return;
  if (sql.each !== undefined) {
    const { names, one } = into;
    return await sql.each(
      one,
      rows.map((row) => names.map((name) => row[name] ?? null)),
    );
  }
  await sql.all(into.many(dialect), [JSON.stringify(rows)]);
}

/** A newer program has changed the store while this one runs. */
export class SupersededError extends Error {
  override name = "SupersededError";

  constructor() {
    super(
      "a newer version of this program has changed the store since this process started, which must not write any more: stop it",
    );
  }
}

/** Beginning of the error of a store that cannot be reached. */
export const UNREACHABLE = "could not reach the store";
/** SQLSTATE of a write in a read-only transaction, as on a standby. */
export const READ_ONLY = "25006";
