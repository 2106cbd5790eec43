/**
 * The store in one SQLite file, for one machine: any number of processes may have it open.
 *
 * A write is `BEGIN IMMEDIATE` … `COMMIT` with the write-ahead log, and then that log is synchronised: the write is on disk when
 * it resolves, as with SQLite's own full synchronous. But the disk is waited for beside the event loop, not on it: on a slow one
 * every stream would stand still meanwhile.
 * Processes are known to live by a lock: each holds one on a file of its own beside the database, and the system frees it
 * when the process ends, however it ends. No clock is involved, so a process that was merely stopped is never taken for dead.
 *
 * @module
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { openLogFile, syncFile } from "./log_file.ts";
import {
  type Dialect,
  type Liveness,
  type Sql,
  type SqlRow,
  type SqlValue,
  type Store,
  textOf,
  written,
} from "./store.ts";

const DIALECT: Dialect = {
  name: "sqlite",
  elements: (n) => `json_each($${n})`,
  texts: (n) => `(SELECT value FROM json_each($${n}))`,
};

/** On one machine a revoked key is refused within a second: half of it is for the look itself. */
const TRUST_MS = 500;
const OPEN_TIMEOUT_MS = 2000;
const BUSY_TIMEOUT_MS = 100;
const BUSY_PAUSE_MS = 20;
const BUSY_TRIES = 40;

/** A statement, and which of the given values each of its marks takes; undefined where they are taken in their order. */
interface Prepared {
  readonly statement: StatementSync;
  readonly order: readonly number[] | undefined;
}

/**
 * Opens the file, making it and its folder where they are not there; `:memory:` is kept nowhere.
 *
 * @param sync resolves when what was written to a file before the call is on disk
 * @throws {Error} where the file cannot be opened or written
 */
export function openSqliteStore(
  path: string,
  sync: (file: number) => Promise<void> = syncFile,
): Store {
  const inMemory = path === ":memory:";
  if (!inMemory) mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec(
    `PRAGMA busy_timeout = ${OPEN_TIMEOUT_MS}; PRAGMA journal_mode = WAL; ` +
      "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; " +
      // The transaction makes the log's file, where there is none.
      `BEGIN IMMEDIATE; COMMIT; PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`,
  );
  const prepared = new Map<string, Prepared>();
  const run = (
    text: string,
    values: readonly SqlValue[] = [],
  ): readonly SqlRow[] => {
    let known = prepared.get(text);
    if (known === undefined) {
      // Plain marks, a value for each: Deno before 2.6 binds numbered ones wrongly.
      const order = [...text.matchAll(/\$(\d+)/g)].map(([, n]) =>
        Number(n) - 1
      );
      known = {
        statement: database.prepare(text.replaceAll(/\$\d+/g, "?")),
        order: order.every((at, i) => at === i) ? undefined : order,
      };
      prepared.set(text, known);
    }
    const { statement, order } = known;
    return order === undefined
      ? statement.all(...values)
      : statement.all(...order.map((at) => values[at] ?? null));
  };
  const all: Sql["all"] = (text, values) =>
    new Promise((resolve) => resolve(run(text, values)));

  // There is one connection: whoever comes while a write is under way waits for its end, so nobody sees half of it.
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
  /** Who made the last write that went through, if it said so, and what the version was then: others' writes change it. */
  let lastWrite:
    | { readonly writer: object; readonly version: unknown }
    | undefined;
  const log = inMemory ? undefined : openLogFile(`${path}-wal`, sync);
  // Where the log itself cannot be opened, SQLite waits for the disk, on the event loop.
  if (log === undefined) database.exec("PRAGMA synchronous = FULL");
  const locks = inMemory
    ? loneLiveness(all)
    : fileLocks(path, (text, values) => inTurn(() => all(text, values)));

  const commit: Store["commit"] = async (work, writer) => {
    const value = await inTurn(async () => {
      await begin(database);
      try {
        const before = lastWrite;
        lastWrite = undefined;
        const version = dataVersion();
        const isSequel = before?.writer === writer &&
          before.version === version;
        const result = await work({ all, each }, isSequel);
        database.exec("COMMIT");
        lastWrite = { writer, version };
        return result;
      } catch (error) {
        if (database.isTransaction) database.exec("ROLLBACK");
        throw error;
      }
    });
    const durable = log?.reachedDisk() ?? Promise.resolve();
    // Who does not wait for it must not bring the process down.
    durable.catch(() => {});
    return { value, durable };
  };

  return {
    dialect: DIALECT,
    trustMs: TRUST_MS,
    liveness: locks.liveness,
    read: (text, values) => inTurn(() => all(text, values)),
    write: (work) => written({ commit }, work),
    commit,
    close: () =>
      inTurn(async () => {
        locks.release();
        await log?.close();
        database.close();
      }),
  };
}

/**
 * SQLite waits for another process's write with the thread asleep. The event loop gets its turn between short waits, so that a
 * process stuck in its write stalls streams here for a moment at a time only.
 */
async function begin(database: DatabaseSync): Promise<void> {
  for (let tries = 1;; tries++) {
    try {
      database.exec("BEGIN IMMEDIATE");
      return;
    } catch (error) {
      if (tries === BUSY_TRIES || !isLocked(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MS));
    }
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && error.message.includes("locked");
}

interface Locks {
  readonly liveness: Liveness;
  release(): void;
}

function fileLocks(path: string, all: Sql["all"]): Locks {
  const held: DatabaseSync[] = [];
  const lockPath = (ownerId: string): string => `${path}-${ownerId}`;
  const hold = (ownerId: string): DatabaseSync | undefined => {
    const lock = new DatabaseSync(lockPath(ownerId));
    try {
      // Nothing is ever written to it, so no journal is to lie about either.
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
  const isGone = (ownerId: string): boolean => {
    if (!existsSync(lockPath(ownerId))) return true;
    const lock = hold(ownerId);
    lock?.close();
    return lock !== undefined;
  };
  return {
    liveness: {
      async enlist(ownerId) {
        // The lock comes first: an owner in the table without a lock would look dead.
        const lock = hold(ownerId);
        if (lock === undefined) {
          throw new Error("could not lock the owner's file: it is held");
        }
        held.push(lock);
        await all("INSERT INTO owners (id, beat) VALUES ($1, 0)", [ownerId]);
      },
      beat: () => Promise.resolve(),
      async gone(ownerId) {
        const rows = await all("SELECT id FROM owners WHERE id <> $1", [
          ownerId,
        ]);
        return rows.map((row) => textOf(row, "id")).filter(isGone);
      },
      async strike(ownerId) {
        await all("DELETE FROM owners WHERE id = $1", [ownerId]);
        rmSync(lockPath(ownerId), { force: true });
      },
    },
    release() {
      for (const lock of held) lock.close();
    },
  };
}

/** Nobody else can have a store in memory: there is no one to be told apart from. */
function loneLiveness(all: Sql["all"]): Locks {
  return {
    liveness: {
      async enlist(ownerId) {
        await all("INSERT INTO owners (id, beat) VALUES ($1, 0)", [ownerId]);
      },
      beat: () => Promise.resolve(),
      gone: () => Promise.resolve([]),
      async strike(ownerId) {
        await all("DELETE FROM owners WHERE id = $1", [ownerId]);
      },
    },
    release() {},
  };
}
