/**
 * Reads and writes the states of keys with limits: rows of `key_states`, one per such key.
 */
import {
  dayOf,
  firstDayOf,
  perWindow,
  type WindowName,
  WINDOWS,
} from "../limits/calendar_window.ts";
import type { KeyState } from "../ledger/key_state.ts";
import { type LimitUse, UNUSED, useAt } from "../limits/limit_use.ts";
import type { Amount } from "../limits/window_limits.ts";
import { hasLimits, LIMITS, type LimitSettings } from "../records.ts";
import {
  USE_COLUMNS,
  useAssignments,
  useFrom,
  useValues,
} from "./limit_use_rows.ts";
import { picks, recordFrom } from "./record_rows.ts";
import { intOf, type Sql, type SqlDialect, textOf } from "../store/store.ts";

const LIMIT_PICKS = picks(LIMITS, "k", "limit__");

/** Reads the states of the keys that have limits, by key id. */
export async function readKeyStates(
  sql: Sql,
  dialect: SqlDialect,
  keyIds: readonly string[],
): Promise<ReadonlyMap<string, KeyState>> {
  if (keyIds.length === 0) return new Map();
  const rows = await sql.all(
    `SELECT s.*, ${LIMIT_PICKS} FROM key_states s JOIN keys k ON k.id = s.key_id WHERE s.key_id IN ${
      dialect.texts(1)
    }`,
    [JSON.stringify(keyIds)],
  );
  return new Map(rows.map((row) => {
    const id = textOf(row, "key_id");
    return [id, {
      id,
      limits: recordFrom(LIMITS, row, "limit__"),
      use: useFrom(row, intOf(row, "reserved_micro_usd")),
    }];
  }));
}

const UPDATE = `UPDATE key_states SET reserved_micro_usd = $2, ${
  useAssignments(3)
} WHERE key_id = $1`;

/** Writes what is used of the limits of these keys. */
export async function writeKeyStates(
  sql: Sql,
  states: readonly KeyState[],
): Promise<void> {
  await Promise.all(
    states.map(({ id, use }) =>
      sql.all(UPDATE, [id, use.reserved.microUsd, ...useValues(use)])
    ),
  );
}

/**
 * Begins or ends the state of a key whose limits have changed. A new state begins with what
 * the key has used in the current windows, and with its active calls; an existing one stays,
 * but its warnings are due again. Call it inside a write.
 */
export async function limitsChanged(
  sql: Sql,
  key: { readonly id: string; readonly accountId: string } & LimitSettings,
  nowMs: number,
): Promise<void> {
  if (!hasLimits(key)) {
    await sql.all("DELETE FROM key_states WHERE key_id = $1", [key.id]);
    return;
  }
  const existing = await sql.all(
    "UPDATE key_states SET warned = 0 WHERE key_id = $1 RETURNING key_id",
    [key.id],
  );
  if (existing.length > 0) return;
  await insert(sql, key.id, await useSoFar(sql, key, nowMs));
}

/** Copies what a key has used to its successor; the active calls stay with the key. */
export async function copyUse(
  sql: Sql,
  dialect: SqlDialect,
  fromId: string,
  toId: string,
): Promise<void> {
  const state = (await readKeyStates(sql, dialect, [fromId])).get(fromId);
  if (state === undefined) return;
  const { reserved, openRequests } = UNUSED;
  await insert(sql, toId, { ...state.use, reserved, openRequests });
}

async function insert(sql: Sql, keyId: string, use: LimitUse): Promise<void> {
  const names = ["key_id", "reserved_micro_usd", ...USE_COLUMNS];
  await sql.all(
    `INSERT INTO key_states (${names.join(", ")}) VALUES (${
      names.map((_, at) => `$${at + 1}`).join(", ")
    })`,
    [keyId, use.reserved.microUsd, ...useValues(use)],
  );
}

/** What a key without a state has used in the current windows and has reserved. */
async function useSoFar(
  sql: Sql,
  key: { readonly id: string; readonly accountId: string },
  nowMs: number,
): Promise<LimitUse> {
  const today = dayOf(nowMs);
  const from = (window: WindowName): number => firstDayOf(window, today);
  const firstDay = Math.min(...WINDOWS.map(from));
  // The roll-ups have no rows per end user, but may not be complete yet.
  const [covered] = await sql.all(
    "SELECT from_day FROM roll_up_backfill WHERE id = 1",
  );
  const table = covered !== undefined && intOf(covered, "from_day") <= firstDay
    ? "usage_days"
    : "usage_daily";
  const [days, [open]] = await Promise.all([
    sql.all(
      `SELECT day, CAST(SUM(micro_usd) AS BIGINT) AS micro_usd, ` +
        `CAST(SUM(input_tokens + cache_read_tokens + cache_write_tokens + output_tokens) AS BIGINT) AS tokens ` +
        `FROM ${table} WHERE account_id = $1 AND day >= $2 AND key_id = $3 GROUP BY day`,
      [key.accountId, firstDay, key.id],
    ),
    // Calls without reserved_tokens are not counted on the key when they end.
    sql.all(
      `SELECT COUNT(*) AS calls, CAST(COALESCE(SUM(reserved_micro_usd), 0) AS BIGINT) AS micro_usd, ` +
        `CAST(COALESCE(SUM(reserved_tokens), 0) AS BIGINT) AS tokens ` +
        `FROM open_calls WHERE key_id = $1 AND reserved_tokens IS NOT NULL`,
      [key.id],
    ),
  ]);
  const usedIn = (window: WindowName): Amount => {
    let [microUsd, tokens] = [0, 0];
    for (const row of days) {
      if (intOf(row, "day") < from(window)) continue;
      microUsd += intOf(row, "micro_usd");
      tokens += intOf(row, "tokens");
    }
    return { microUsd, tokens };
  };
  return {
    ...useAt(UNUSED, {}, nowMs),
    used: perWindow(usedIn),
    ...(open === undefined ? {} : {
      openRequests: intOf(open, "calls"),
      reserved: {
        microUsd: intOf(open, "micro_usd"),
        tokens: intOf(open, "tokens"),
      },
    }),
  };
}
