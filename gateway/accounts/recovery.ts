/**
 * Calls that nobody will settle any more: their process died, or they have been open for longer than any call lasts. They are
 * settled here, as estimated, by whichever process finds them first.
 *
 * @module
 */
import { type BookEvent, enter } from "./books.ts";
import { chargeForLost } from "./charge.ts";
import { type HeldCall, heldCallFrom } from "./open_calls.ts";
import { intOf, type Sql, type Store } from "./store.ts";

/** Longer than any request may take: after this an open call is a fault of ours, and must not hold an account's limit for ever. */
const MAX_OPEN_MS = 2 * 60 * 60 * 1000;
const AT_ONCE = 200;
/** As many of the last told replies of a model say what is usual for it. */
const SAMPLE = 100;
/** Where a model has no reply to learn from. */
const USUAL_OUTPUT_TOKENS = 256;

/** Settles what dead processes and forgotten calls left open. Gives the number of calls settled. */
export async function recover(
  store: Store,
  ownerId: string,
  nowMs: number,
): Promise<number> {
  let count = await settleAll(store, nowMs, "at_ms < $1", nowMs - MAX_OPEN_MS);
  for (const goneId of await store.liveness.gone(ownerId)) {
    count += await settleAll(store, nowMs, "owner_id = $1", goneId);
    await store.liveness.strike(goneId);
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
    const found = await store.read(
      `SELECT request_id FROM reservations WHERE ${which} LIMIT 1`,
      [value],
    );
    if (found.length === 0) return count;
    const settled = await store.write(async (sql) => {
      // Read again inside the write: another process may have been faster.
      const rows = await sql.all(
        `SELECT * FROM reservations WHERE ${which} ORDER BY at_ms, request_id LIMIT ${AT_ONCE}`,
        [value],
      );
      const events = await settlements(
        sql,
        rows.map(heldCallFrom),
        nowMs,
      );
      const verdicts = await enter(sql, store.dialect, events);
      return verdicts.filter(({ type }) => type === "entered").length;
    });
    // Nothing left, or nothing that can be settled: another try would find the same.
    if (settled === 0) return count;
    count += settled;
  }
}

async function settlements(
  sql: Sql,
  lost: readonly HeldCall[],
  atMs: number,
): Promise<readonly BookEvent[]> {
  const models = [...new Set(lost.map(({ call }) => call.model))];
  const usual = new Map<string, number>();
  for (const model of models) {
    usual.set(model, await usualOutput(sql, model));
  }
  return lost.map(({ call }) => ({
    type: "settle",
    call,
    charge: chargeForLost(call, usual.get(call.model) ?? 0),
    atMs,
  }));
}

async function usualOutput(
  sql: Sql,
  model: string,
): Promise<number> {
  const [row] = await sql.all(
    `SELECT CAST(COALESCE(ROUND(AVG(output_tokens)), ${USUAL_OUTPUT_TOKENS}) AS BIGINT) AS usual FROM (
      SELECT output_tokens FROM ledger WHERE model = $1 AND kind = 'charge' AND estimated = 0 AND ended = 'complete'
      ORDER BY seq DESC LIMIT ${SAMPLE}
    ) AS sample`,
    [model],
  );
  return row === undefined ? USUAL_OUTPUT_TOKENS : intOf(row, "usual");
}
