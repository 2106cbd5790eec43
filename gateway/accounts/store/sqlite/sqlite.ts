/**
 * The store in one SQLite file, for any number of processes on one machine.
 *
 * A write is `BEGIN IMMEDIATE` … `COMMIT` with the write-ahead log, followed by an fsync of
 * that log: the write is on disk when its promise resolves, as with SQLite's
 * `synchronous = FULL`. But the fsync, and waiting for another process's lock, happen off
 * the event loop; on it they would stop every stream. A process's lease is a lock: each
 * process locks its own file beside the database, and the operating system releases it
 * however the process ends. No clock is involved, so a suspended process never counts as
 * dead. The store's time is that of the file system: the time at which it notes a change of a
 * small file beside the database.
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import { IN_BACKUP } from "./back_up_sqlite.ts";
import { createOwnFile } from "./file_modes.ts";
import { type Positional, positional } from "./positional.ts";
import { openReportReaders } from "./report_readers.ts";
import { fileSeal, passingSeal } from "../secret_seal.ts";
import { openWalSync, syncFile } from "./wal_sync.ts";
import {
  intOf,
  type Leases,
  type Sql,
  type SqlDialect,
  type SqlRow,
  type SqlValue,
  type Store,
  SupersededError,
  textOf,
  writeDurably,
} from "../store.ts";
import { type ProcessClocks, StoreClock } from "../store_clock.ts";

const DIALECT: SqlDialect = {
  name: "sqlite",
  elements: (n) => `json_each($${n})`,
  texts: (n) => `(SELECT value FROM json_each($${n}))`,
  byCodePoint: (text) => text,
};

/**
 * A revoked key must be refused within a second on one machine: half of it is for the read
 * itself.
 */
const MAX_STALENESS_MS = 500;
/** SQLite waits with the thread blocked; harmless while nothing is served yet. */
const OPEN_TIMEOUT_MS = 2000;
/** Between two attempts to switch a new file to the write-ahead log. */
const OPEN_PAUSE_MS = 5;
/** How long to wait for another process's write, in milliseconds. */
const LOCKED_MS = 4000;
/** Pauses between attempts to get the lock, like SQLite's own; the last one repeats. */
const PAUSES_MS: readonly number[] = [1, 2, 5, 10, 15, 20, 25];

interface Prepared {
  readonly statement: StatementSync;
  readonly order: Positional["order"];
}

interface SqliteOptions extends ProcessClocks {
  /** Replaces the time limit of a report's statement, in milliseconds. */
  readonly reportMs?: number;
}

/**
 * Opens the file, creating it and its folder if missing. `:memory:` is not stored.
 *
 * @param sync resolves once everything written to the file before the call is on disk
 * @throws {Error} if the file cannot be opened or written
 */
export function openSqliteStore(
  path: string,
  sync: (file: number) => Promise<void> = syncFile,
  options: SqliteOptions = {},
): Store {
  const inMemory = path === ":memory:";
  const hadLog = !inMemory && existsSync(`${path}-wal`);
  if (!inMemory) createOwnFile(path);
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA busy_timeout = ${OPEN_TIMEOUT_MS}`);
  useWriteAheadLog(database);
  database.exec(
    "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; " +
      // The transaction creates the log file if it is missing.
      "BEGIN IMMEDIATE; COMMIT; PRAGMA busy_timeout = 0",
  );
  const prepared = new Map<string, Prepared>();
  const run = (
    text: string,
    values: readonly SqlValue[] = [],
  ): readonly SqlRow[] => {
    let known = prepared.get(text);
    if (known === undefined) {
      const { text: positionalText, order } = positional(text);
      known = { statement: database.prepare(positionalText), order };
      prepared.set(text, known);
    }
    return known.statement.all(...known.order(values));
  };
  const all: Sql["all"] = (text, values) =>
    new Promise((resolve) => resolve(run(text, values)));
  const read: Sql["all"] = (text, values) =>
    new Promise((resolve) => resolve(mapLockError(() => run(text, values))));

  // There is one connection: operations during a write wait for its end, so that none reads
  // uncommitted data.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work);
    last = mine.catch(() => {});
    return mine;
  };
  const each: Sql["each"] = (text, rows) =>
    new Promise((resolve) => {
      for (const row of rows) run(text, row);
      resolve();
    });
  const dataVersion = (): unknown =>
    run("PRAGMA data_version")[0]?.["data_version"];
  /**
   * The cache owner of the last committed write, and the data version then: writes by other
   * processes change it.
   */
  let lastWrite:
    | { readonly cacheOwner: object; readonly version: unknown }
    | undefined;
  const log = inMemory ? undefined : openWalSync(`${path}-wal`, sync);
  // If the log file cannot be opened, SQLite syncs it itself, on the event loop.
  if (log === undefined) database.exec("PRAGMA synchronous = FULL");
  const clock = new StoreClock(options);
  const readClock = (): Promise<void> =>
    inMemory ? Promise.resolve() : readFileTime(clock, `${path}-clock`);
  const locks = inMemory ? inMemoryLeases(all) : fileLocks(
    path,
    (text, values) => retryWhileLocked(() => inTurn(() => read(text, values))),
    readClock,
  );

  let schemaVersion: number | undefined;
  /** The version at the last check: only other processes upgrade the store. */
  let lookedAt: unknown;
  const assertMayWrite = (version: unknown): void => {
    if (schemaVersion === undefined || version === lookedAt) return;
    const [row] = run("SELECT least_version FROM writers");
    if (row !== undefined && intOf(row, "least_version") > schemaVersion) {
      throw new SupersededError();
    }
    lookedAt = version;
  };
  const transaction = <T>(
    work: (version: unknown) => Promise<T>,
    onCommitted: () => void = () => {},
  ): Promise<T> =>
    retryWhileLocked(() =>
      inTurn(async () => {
        begin(database);
        try {
          const version = dataVersion();
          assertMayWrite(version);
          const result = await work(version);
          database.exec("COMMIT");
          onCommitted();
          return result;
        } catch (error) {
          // Undefined in Deno 2.5.
          if (database.isTransaction ?? true) database.exec("ROLLBACK");
          throw error;
        }
      })
    );
  const commit: Store["commit"] = async (work, cacheOwner) => {
    let version: unknown;
    const value = await transaction(async (present) => {
      const before = lastWrite;
      lastWrite = undefined;
      version = present;
      const cacheIsValid = before?.cacheOwner === cacheOwner &&
        before.version === version;
      return await work({ all, each }, cacheIsValid);
    }, () => {
      lastWrite = { cacheOwner, version };
    });
    const durable = log?.synced() ?? Promise.resolve();
    // Avoids an unhandled rejection if it is never awaited.
    durable.catch(() => {});
    return { value, durable };
  };

  const readCommitted: Sql["all"] = (text, values) =>
    retryWhileLocked(() => inTurn(() => read(text, values)));
  const readers = inMemory
    ? undefined
    : openReportReaders(path, options.reportMs);
  return {
    dialect: DIALECT,
    lacksLog: !inMemory && !hadLog && wasCopiedInUse(path, run),
    maxStalenessMs: MAX_STALENESS_MS,
    leases: locks.leases,
    clock,
    writeAs(version) {
      schemaVersion = version;
    },
    secrets: inMemory ? passingSeal() : fileSeal(`${path}-key`),
    readClock,
    read: readCommitted,
    report: readers?.all ?? readCommitted,
    note: readCommitted,
    write: (work) => writeDurably({ commit }, work),
    snapshot: (work) => writeDurably({ commit }, work),
    // There is one write at a time, so entries appear in the order of their numbers.
    ledgerEnd: () => Promise.resolve(Number.MAX_SAFE_INTEGER),
    commit,
    commitUncached: (work) => transaction(() => work({ all, each })),
    close: () =>
      inTurn(async () => {
        locks.release();
        await readers?.close();
        await log?.close();
        database.close();
      }),
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
}

/**
 * Switches the file to the write-ahead log. While another process does the same to a new file,
 * SQLite fails at once whatever the busy timeout is, so this tries again until that timeout.
 */
function useWriteAheadLog(database: DatabaseSync): void {
  const endMs = performance.now() + OPEN_TIMEOUT_MS;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    try {
      database.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      if (!isLocked(error) || performance.now() >= endMs) throw error;
    }
    Atomics.wait(pause, 0, 0, OPEN_PAUSE_MS);
  }
}

/** Another process holds the write lock; nothing was done. */
class Locked extends Error {}

/**
 * Retries work that another process's lock prevents, for up to {@linkcode LOCKED_MS}.
 * Between the attempts the event loop and the connection are free: reads go on while a
 * write waits.
 */
async function retryWhileLocked<T>(work: () => Promise<T>): Promise<T> {
  const endMs = performance.now() + LOCKED_MS;
  for (let tries = 0;; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Locked) || performance.now() >= endMs) throw error;
    }
    const pauseMs = PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)];
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

function begin(database: DatabaseSync): void {
  // A transaction remains if its rollback failed, as on a full disk.
  if (database.isTransaction) database.exec("ROLLBACK");
  mapLockError(() => database.exec("BEGIN IMMEDIATE"));
}

/** Turns an error caused by another process's lock into {@linkcode Locked}. */
function mapLockError<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw isLocked(error)
      ? new Locked("the store's file is locked by another process", {
        cause: error,
      })
      : error;
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && error.message.includes("locked");
}

interface Locks {
  readonly leases: Leases;
  release(): void;
}

/**
 * Some file systems note whole seconds, or every other one. A process whose disk is full goes on
 * with the time that it knows.
 */
const FILE_TIME_PRECISION_MS = 2000;

async function readFileTime(clock: StoreClock, path: string): Promise<void> {
  try {
    await clock.read(() => {
      writeFileSync(path, "\n", { mode: 0o600 });
      return Promise.resolve(statSync(path).mtimeMs);
    }, FILE_TIME_PRECISION_MS);
  } catch {
    // See above.
  }
}

function lockFile(path: string, leaseId: string): string {
  return `${path}-${leaseId}`;
}

/**
 * Whether the file, which has no log, is a copy of the file of a store in use: it names processes
 * that were never beside this file.
 */
function wasCopiedInUse(
  path: string,
  run: (text: string) => readonly SqlRow[],
): boolean {
  const [table] = run("SELECT name FROM sqlite_master WHERE name = 'owners'");
  if (table === undefined) return false;
  return run(`SELECT id FROM owners WHERE beat <> ${IN_BACKUP}`)
    .some((row) => !existsSync(lockFile(path, textOf(row, "id"))));
}

function fileLocks(
  path: string,
  all: Sql["all"],
  renew: () => Promise<void>,
): Locks {
  const heldLocks: DatabaseSync[] = [];
  const lockPath = (leaseId: string): string => lockFile(path, leaseId);
  const tryLock = (leaseId: string): DatabaseSync | undefined => {
    createOwnFile(lockPath(leaseId));
    const lock = new DatabaseSync(lockPath(leaseId));
    try {
      // Nothing is written to it, so no journal file is created.
      lock.exec(
        "PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE",
      );
      return lock;
    } catch (error) {
      lock.close();
      if (isLocked(error)) return undefined;
      throw error;
    }
  };
  const isExpired = (leaseId: string): boolean => {
    if (!existsSync(lockPath(leaseId))) return true;
    const lock = tryLock(leaseId);
    lock?.close();
    return lock !== undefined;
  };
  return {
    leases: {
      async register(leaseId) {
        // Lock first: a lease in the table without a lock would look expired.
        const lock = tryLock(leaseId);
        if (lock === undefined) {
          throw new Error(
            "could not lock this process's lease file: another process holds the lock",
          );
        }
        heldLocks.push(lock);
        await all("INSERT INTO owners (id, beat) VALUES ($1, 0)", [leaseId]);
        // Into the main file, where a copy of it alone has the row. See wasCopiedInUse().
        await all("PRAGMA wal_checkpoint(PASSIVE)");
      },
      renew,
      async expired(leaseId) {
        const rows = await all("SELECT id FROM owners WHERE id <> $1", [
          leaseId,
        ]);
        return rows.map((row) => textOf(row, "id")).filter(isExpired);
      },
      async remove(leaseId) {
        await all("DELETE FROM owners WHERE id = $1", [leaseId]);
        rmSync(lockPath(leaseId), { force: true });
      },
    },
    release() {
      for (const lock of heldLocks) lock.close();
    },
  };
}

/** A store in memory belongs to one process, so no lease ever expires. */
function inMemoryLeases(all: Sql["all"]): Locks {
  return {
    leases: {
      async register(leaseId) {
        await all("INSERT INTO owners (id, beat) VALUES ($1, 0)", [leaseId]);
      },
      renew: () => Promise.resolve(),
      expired: () => Promise.resolve([]),
      async remove(leaseId) {
        await all("DELETE FROM owners WHERE id = $1", [leaseId]);
      },
    },
    release() {},
  };
}
