/**
 * Recovers calls that will not be settled any more: their process died, or they are older
 * than any call can be. The first process that finds them settles them, as estimated.
 */
import { endOfCount, isCount } from "./count_of_tokens.ts";
import { applyEvents } from "./transaction.ts";
import type { LedgerEvent } from "./events.ts";
import { chargeForLost } from "../charges/charge.ts";
import {
  reservationFrom,
  type StoredReservation,
} from "../rows/reservation_rows.ts";
import { insertCalls, lostCall } from "../rows/call_rows.ts";
import { knownEntries } from "../rows/ledger_rows.ts";
import { intOf, type Sql, type Store, textOf } from "../store/store.ts";

/**
 * Longer than any request may take: an older reservation is an internal error, and must not
 * occupy the account's limits for ever.
 */
const MAX_OPEN_MS = 2 * 60 * 60 * 1000;
/**
 * A process that had been found dead and is back has no lease until its next heartbeat; one that
 * dies within that moment leaves calls without a lease.
 */
const MAX_UNOWNED_MS = 60_000;
const BATCH_SIZE = 200;
const MAX_ACCOUNTS = 100;
/**
 * Number of a model's recent replies with reported usage from which the average output is
 * computed.
 */
const SAMPLE_SIZE = 100;
/** The sample is taken from this many of the newest entries of the ledger. */
const RECENT_ENTRIES = 10_000;
/** Average output of a model without a sample. */
const DEFAULT_OUTPUT_TOKENS = 256;

interface RecoveryOptions {
  readonly store: Store;
  /** Lease id of this process. */
  readonly leaseId: string;
  /** Called with the number of calls settled, also if a later step fails. */
  readonly onSettled: (calls: number) => void;
  /** Called when another session keeps an account locked, whose calls remain for the next time. */
  readonly onLocked: (error: unknown) => void;
}

/**
 * Returns a function that settles the calls whose lease has expired or is missing, and calls that
 * are too old, at a time in Unix milliseconds. An account that stays locked delays no other.
 */
export function recovery(
  { store, leaseId, onSettled, onLocked }: RecoveryOptions,
): (nowMs: number) => Promise<void> {
  const doubtful = new Set<string>();
  return async (nowMs) => {
    const progress: Progress = { count: 0, doubtful, locked: undefined };
    const settle = (which: string, value: string | number): Promise<void> =>
      settleAll(store, nowMs, which, value, progress);
    try {
      await settle("at_ms < $1", nowMs - MAX_OPEN_MS);
      await settle(
        "at_ms < $1 AND owner_id NOT IN (SELECT id FROM owners)",
        nowMs - MAX_UNOWNED_MS,
      );
      for (const expiredId of await store.leases.expired(leaseId)) {
        await settle("owner_id = $1", expiredId);
        if (progress.locked === undefined) {
          await store.leases.remove(expiredId);
        }
      }
      // Whatever was not committed is settled by now.
      const late = await countLost(store, doubtful);
      progress.count += late;
      doubtful.clear();
    } finally {
      if (progress.locked !== undefined) onLocked(progress.locked.error);
      if (progress.count > 0) onSettled(progress.count);
    }
  };
}

interface Progress {
  /** Number of calls settled. */
  count: number;
  /** Request ids of calls whose settlement failed, although it may have been committed. */
  readonly doubtful: Set<string>;
  /** Why the calls of an account could not be settled: another session keeps its row locked. */
  locked: { readonly error: unknown } | undefined;
}

async function settleAll(
  store: Store,
  nowMs: number,
  which: string,
  value: string | number,
  progress: Progress,
): Promise<void> {
  const ofAccount = `${which} AND account_id = $2`;
  let after = "";
  for (;;) {
    const accounts = await store.read(
      `SELECT DISTINCT account_id FROM open_calls WHERE ${which} AND account_id > $2 ORDER BY account_id LIMIT ${MAX_ACCOUNTS}`,
      [value, after],
    );
    if (accounts.length === 0) return;
    for (const row of accounts) {
      after = textOf(row, "account_id");
      let count: number;
      do {
        const values = [value, after] as const;
        count = await settleAccount(store, nowMs, ofAccount, values, progress);
        // A smaller count: nothing is left, or nothing that can be settled.
      } while (count === BATCH_SIZE);
    }
  }
}

/** Number of these calls that are charged as lost. */
async function countLost(
  store: Store,
  ids: ReadonlySet<string>,
): Promise<number> {
  if (ids.size === 0) return 0;
  const sql = { all: store.read };
  const entries = await knownEntries(sql, store.dialect, [...ids]);
  return [...entries.values()].filter((ended) => ended === "lost").length;
}

/** Settles at most `BATCH_SIZE` of an account's calls; returns how many. */
async function settleAccount(
  store: Store,
  nowMs: number,
  which: string,
  values: readonly [unknown: string | number, accountId: string],
  progress: Progress,
): Promise<number> {
  let ids: readonly string[] = [];
  const work = async (sql: Sql): Promise<number> => {
    await sql.lockAccounts?.([values[1]]);
    // Another process may have settled them before this one had the lock.
    const rows = await sql.all(
      `SELECT * FROM open_calls WHERE ${which} ORDER BY at_ms, request_id LIMIT ${BATCH_SIZE}`,
      values,
    );
    const events = await settlements(
      sql,
      rows.map(reservationFrom),
      nowMs,
    );
    ids = rows.map((row) => textOf(row, "request_id"));
    const results = await applyEvents(sql, store.dialect, events);
    await insertCalls(
      sql,
      store.dialect,
      events.flatMap((event, at) =>
        event.type === "settle" && results[at]?.type === "entered"
          ? [lostCall(event.call, event.charge)]
          : []
      ),
    );
    return results.filter(({ type }) => type === "entered").length;
  };
  try {
    const count = await (store.parallel === undefined
      ? store.write(work)
      : store.parallel.write("recovery", work));
    progress.count += count;
    for (const id of ids) {
      progress.doubtful.delete(id);
    }
    return count;
  } catch (error) {
    for (const id of ids) progress.doubtful.add(id);
    if (store.parallel?.isOfAccount(error) !== true) throw error;
    progress.locked = { error };
    return 0;
  }
}

async function settlements(
  sql: Sql,
  lost: readonly StoredReservation[],
  atMs: number,
): Promise<readonly LedgerEvent[]> {
  const models = [...new Set(lost.map(({ call }) => call.model))];
  const averages = new Map<string, number>();
  for (const model of models) {
    averages.set(model, await averageOutput(sql, model));
  }
  return lost.map(({ call }) =>
    isCount(call) ? endOfCount(call, atMs) : {
      type: "settle",
      call,
      charge: chargeForLost(call, averages.get(call.model) ?? 0),
      atMs,
    }
  );
}

async function averageOutput(
  sql: Sql,
  model: string,
): Promise<number> {
  const [row] = await sql.all(
    `SELECT CAST(COALESCE(ROUND(AVG(output_tokens)), ${DEFAULT_OUTPUT_TOKENS}) AS BIGINT) AS usual FROM (
      SELECT output_tokens FROM ledger
      WHERE seq > (SELECT COALESCE(MAX(seq), 0) FROM ledger) - ${RECENT_ENTRIES}
      AND model = $1 AND kind = 'charge' AND estimated = 0 AND ended = 'complete' AND corrects IS NULL
      ORDER BY seq DESC LIMIT ${SAMPLE_SIZE}
    ) AS sample`,
    [model],
  );
  return row === undefined ? DEFAULT_OUTPUT_TOKENS : intOf(row, "usual");
}
