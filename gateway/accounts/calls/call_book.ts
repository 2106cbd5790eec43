/**
 * Keeps the records of calls: gathers them in memory, writes them once a second or, where they are
 * many, sooner, and removes old ones. A process that dies loses the records of its last second,
 * never a charge.
 */
import type { CallRecord } from "./call_record.ts";
import { nextTurn } from "../next_turn.ts";
import { DAY_MS } from "../limits/calendar_window.ts";
import { CALL_HOURS_DAYS } from "../rows/call_count_rows.ts";
import { insertCalls, removeOldCalls } from "../rows/call_rows.ts";
import type { Sql, SqlDialect } from "../store/store.ts";
import type { Timer } from "../timer.ts";

export interface CallBookOptions {
  readonly dialect: SqlDialect;
  /** Runs work as one write of the store. */
  readonly write: <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;
  /** Current Unix time in milliseconds. */
  readonly now: () => number;
  readonly timer: Timer;
  /** How long a record is kept, in milliseconds. */
  readonly maxAgeMs: number;
  /** Most records that are kept; the oldest go first. */
  readonly maxRows: number;
}

export interface CallBook {
  /** Adds the record of a call that has ended. Never throws and never waits. */
  add(record: CallRecord): void;
  /** Writes the gathered records now, as far as the store answers. */
  flush(): Promise<void>;
  /** Writes the gathered records and stops. */
  close(): Promise<void>;
}

const WRITE_MS = 1000;
/** When so many records wait, they are written soon, so that each write is short. */
const MANY = 25;
const MANY_WRITE_MS = 50;
const PURGE_MS = 60_000;
const PURGE_PAUSE_MS = 20;
/** Records per write: the event loop is free between two writes. */
const ROWS_PER_WRITE = 500;
/** Most records held during an outage of the store; older ones are dropped. */
const MAX_WAITING = 20_000;
const MINUTE_MS = 60_000;
/** Refusals per key and minute that are recorded singly; further ones are counted. */
const REFUSALS_PER_MINUTE = 100;

/** Starts gathering and removing records. */
export function openCallBook(options: CallBookOptions): CallBook {
  const { dialect, write, now, timer } = options;
  let waiting: CallRecord[] = [];
  /** Refusals that are only counted, by the id of the record that holds the count. */
  let further = new Map<string, number>();
  /** The minute of `refusals`. */
  let minute = -1;
  /** By key: how many refusals of the minute were kept, and the id of the last one. */
  let refusals = new Map<string, { kept: number; lastId: string }>();
  let cancelWrite: (() => void) | undefined;
  let writing: Promise<void> = Promise.resolve();
  let isClosed = false;

  const writeIn = (ms: number): void => {
    if (isClosed) return;
    cancelWrite?.();
    cancelWrite = timer(ms, () => {
      cancelWrite = undefined;
      void flush();
    });
  };

  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0 || further.size > 0) {
      const records = waiting.slice(0, ROWS_PER_WRITE);
      waiting = waiting.slice(records.length);
      // Counts refer to a record, so they are written last.
      const counts = waiting.length === 0 ? further : new Map();
      if (waiting.length === 0) further = new Map();
      try {
        await write((sql) => insertCalls(sql, dialect, records, counts));
      } catch {
        // Not reported here: the ledger's writer already reports outages.
        waiting = [...records, ...waiting].slice(-MAX_WAITING);
        for (const [id, count] of counts) {
          further.set(id, (further.get(id) ?? 0) + count);
        }
        return writeIn(WRITE_MS);
      }
      await nextTurn();
    }
  };

  const flush = (): Promise<void> => writing = writing.then(writeAll);

  /** Whether the record is kept; otherwise it is counted. */
  const isKept = (record: CallRecord): boolean => {
    if (record.ended !== "refused" || record.attempts !== undefined) {
      return true;
    }
    const nowMinute = Math.floor(now() / MINUTE_MS);
    if (nowMinute !== minute) {
      minute = nowMinute;
      refusals = new Map();
    }
    const before = refusals.get(record.keyId);
    if (before === undefined) {
      refusals.set(record.keyId, { kept: 1, lastId: record.requestId });
      return true;
    }
    if (before.kept < REFUSALS_PER_MINUTE) {
      before.kept++;
      before.lastId = record.requestId;
      return true;
    }
    further.set(before.lastId, (further.get(before.lastId) ?? 0) + 1);
    return false;
  };

  let cancelPurge = (): void => {};
  let purging: Promise<void> = Promise.resolve();
  const schedulePurge = (ms: number): void => {
    if (isClosed) return;
    cancelPurge = timer(ms, () => {
      purging = write((sql) =>
        removeOldCalls(
          sql,
          now() - options.maxAgeMs,
          options.maxRows,
          now() - CALL_HOURS_DAYS * DAY_MS,
        )
      ).catch(() => 0).then((removed) =>
        schedulePurge(removed > 0 ? PURGE_PAUSE_MS : PURGE_MS)
      );
    });
  };
  schedulePurge(PURGE_MS);

  return {
    add(record) {
      if (isClosed) return;
      const isMany = isKept(record) && waiting.push(record) === MANY;
      if (isMany) writeIn(MANY_WRITE_MS);
      else if (cancelWrite === undefined) writeIn(WRITE_MS);
    },
    flush,
    async close() {
      cancelWrite?.();
      cancelPurge();
      await flush();
      isClosed = true;
      cancelWrite?.();
      await purging;
    },
  };
}
