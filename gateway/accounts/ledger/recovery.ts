/**
 * Recovers calls that will not be settled any more: their process died, or they are older
 * than any call can be. The first process that finds them settles them, as estimated.
 */
import { applyEvents } from "./transaction.ts";
import type { LedgerEvent } from "./events.ts";
import { chargeForLost } from "../charges/charge.ts";
import {
  reservationFrom,
  type StoredReservation,
} from "../rows/reservation_rows.ts";
import { insertCalls, lostCall } from "../rows/call_rows.ts";
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
/** Only the newest entries are searched for them. */
const RECENT_ENTRIES = 10_000;
/** Average output of a model without such replies. */
const DEFAULT_OUTPUT_TOKENS = 256;

/**
 * Settles the calls whose lease has expired or is missing, and calls that are too old. Returns the number of
 * settled calls.
 */
export async function recover(
  store: Store,
  leaseId: string,
  nowMs: number,
): Promise<number> {
  let count = await settleAll(store, nowMs, "at_ms < $1", nowMs - MAX_OPEN_MS);
  count += await settleAll(
    store,
    nowMs,
    "at_ms < $1 AND owner_id NOT IN (SELECT id FROM owners)",
    nowMs - MAX_UNOWNED_MS,
  );
  for (const expiredId of await store.leases.expired(leaseId)) {
    count += await settleAll(store, nowMs, "owner_id = $1", expiredId);
    await store.leases.remove(expiredId);
  }
  return count;
}

async function settleAll(
  store: Store,
  nowMs: number,
  which: string,
  value: string | number,
): Promise<number> {
  let count = 0;
  for (;;) {
    const accounts = await store.read(
      `SELECT DISTINCT account_id FROM open_calls WHERE ${which} ORDER BY account_id LIMIT ${MAX_ACCOUNTS}`,
      [value],
    );
    let settledCount = 0;
    for (const row of accounts) {
      settledCount += await settleAccount(
        store,
        nowMs,
        `${which} AND account_id = $2`,
        [value, textOf(row, "account_id")],
      );
    }
    // Nothing is left, or nothing that can be settled: a retry would find the same.
    if (settledCount === 0) return count;
    count += settledCount;
  }
}

/** Settles some of an account's calls. */
async function settleAccount(
  store: Store,
  nowMs: number,
  which: string,
  values: readonly [unknown: string | number, accountId: string],
): Promise<number> {
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
  return await (store.parallel === undefined
    ? store.write(work)
    : store.parallel.write("recovery", work));
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
  return lost.map(({ call }) => ({
    type: "settle",
    call,
    charge: chargeForLost(call, averages.get(call.model) ?? 0),
    atMs,
  }));
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
