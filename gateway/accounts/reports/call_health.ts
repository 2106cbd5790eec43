/**
 * How the calls of a span of time went: of all accounts, or of one account, key or model.
 */
import { type Outcome, OUTCOME_NAMES } from "../calls/outcome.ts";
import { DAY_MS } from "../limits/calendar_window.ts";
import { msOfClass } from "../rows/call_count_rows.ts";
import { intOf, type SqlRow, type SqlValue, textOf } from "../store/store.ts";
import { HOUR_MS } from "../rows/usage_rows.ts";
import {
  readReport,
  type RepositoryContext,
} from "../repositories/repository.ts";

/** Counts of calls, and how fast their first tokens came. */
export interface CallHealth {
  readonly calls: number;
  readonly outcomes: Readonly<Partial<Record<Outcome, number>>>;
  /** Milliseconds to the first token, to a tenth exactly; absent: there was none. */
  readonly firstTokenMs?: { readonly p50: number; readonly p95: number };
}

/** The counts where no call was counted. */
export const NO_CALLS: CallHealth = { calls: 0, outcomes: {} };

const MINUTE_MS = 60_000;

/**
 * Reads the counts of the calls that arrived in whole minutes, from one on and before another, as
 * Unix milliseconds.
 *
 * @throws {ApiError} `unavailable`
 */
export async function callHealth(
  { store }: RepositoryContext,
  fromMs: number,
  toMs: number,
): Promise<CallHealth> {
  const rows = await readReport(
    { store },
    `SELECT '' AS name, ${COUNTED} FROM call_minutes
       WHERE minute >= $1 AND minute < $2 GROUP BY outcome, first_token`,
    [Math.floor(fromMs / MINUTE_MS), Math.floor(toMs / MINUTE_MS)],
  );
  return healthsOf(rows).get("") ?? NO_CALLS;
}

const COUNTED = "outcome, first_token, CAST(SUM(calls) AS BIGINT) AS calls";

/** A selection of calls, by whole hours or days. */
export interface CallHealthQuery {
  /** What a time is rounded to; also what `by: "step"` groups by. */
  readonly step: "hour" | "day";
  /** First moment, Unix milliseconds, the start of a step. */
  readonly fromMs: number;
  /** End, exclusive. */
  readonly toMs: number;
  /** Absent: all accounts. */
  readonly accountId?: string;
  readonly keyId?: string;
  readonly model?: string;
  /** Absent: everything is one group, which has an empty name. */
  readonly by?: "step" | "day" | "model" | "key" | "account";
  /** The keys or accounts, where `by` is one of them. */
  readonly ids?: readonly string[];
}

/**
 * Reads the counts of each group: by the number of its step or day from 1970, its model or its id.
 * Groups without calls are absent.
 *
 * @throws {ApiError} `unavailable`
 */
export async function callHealths(
  context: RepositoryContext,
  { step, fromMs, toMs, accountId, keyId, model, by, ids = [] }:
    CallHealthQuery,
): Promise<ReadonlyMap<string, CallHealth>> {
  const { store } = context;
  const values: SqlValue[] = [];
  const put = (value: SqlValue): string => `$${values.push(value)}`;
  const stepMs = step === "hour" ? HOUR_MS : DAY_MS;
  // One value is compared: of a list, Postgres does not know how long it is, and reads the whole
  // table.
  const among = (column: string, [first, ...others]: readonly string[]) =>
    others.length === 0
      ? `${column} = ${put(first ?? "")}`
      : `${column} IN ${
        store.dialect.texts(values.push(JSON.stringify([first, ...others])))
      }`;
  const keyIds = keyId !== undefined ? [keyId] : by === "key" ? ids : undefined;
  const accountIds = accountId !== undefined
    ? [accountId]
    : keyIds !== undefined
    ? await accountsOf(context, keyIds)
    : by === "account"
    ? ids
    : [""];
  if (accountIds.length === 0 || keyIds?.length === 0) return new Map();
  const conditions = [
    `${step} >= ${put(fromMs / stepMs)}`,
    `${step} < ${put(toMs / stepMs)}`,
    among("account_id", accountIds),
    among("key_id", keyIds ?? [""]),
    ...(model === undefined ? [] : [`model = ${put(model)}`]),
  ];
  const name = by === undefined ? "''" : {
    step: `CAST(${step} AS TEXT)`,
    day: `CAST(${step === "day" ? step : "hour / 24"} AS TEXT)`,
    model: "model",
    key: "key_id",
    account: "account_id",
  }[by];
  const rows = await readReport(
    { store },
    `SELECT ${name} AS name, ${COUNTED} FROM call_${step}s WHERE ${
      conditions.join(" AND ")
    } GROUP BY ${by === undefined ? "" : "1, "}2, 3`,
    values,
  );
  return healthsOf(rows);
}

/** The accounts of keys. The configured key has no record, but usage. */
async function accountsOf(
  { store }: RepositoryContext,
  keyIds: readonly string[],
): Promise<readonly string[]> {
  const rows = await readReport(
    { store },
    `SELECT account_id FROM keys WHERE id IN ${store.dialect.texts(1)}
       UNION SELECT account_id FROM usage_days WHERE key_id IN ${
      store.dialect.texts(2)
    }`,
    [JSON.stringify(keyIds), JSON.stringify(keyIds)],
  );
  return rows.map((row) => textOf(row, "account_id"));
}

/**
 * The first hour or day from which calls are counted, Unix milliseconds; undefined: none was.
 * Records from before an upgrade are not counted.
 *
 * @throws {ApiError} `unavailable`
 */
export async function callsCountedFrom(
  { store }: RepositoryContext,
  step: "hour" | "day",
): Promise<number | undefined> {
  const [row] = await readReport(
    { store },
    `SELECT ${step} FROM call_${step}s WHERE account_id = '' AND key_id = '' ORDER BY ${step} LIMIT 1`,
  );
  return row === undefined
    ? undefined
    : intOf(row, step) * (step === "hour" ? HOUR_MS : DAY_MS);
}

function healthsOf(
  rows: readonly SqlRow[],
): ReadonlyMap<string, CallHealth> {
  const groups = new Map<string, SqlRow[]>();
  for (const row of rows) {
    const name = textOf(row, "name");
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [row]);
    else group.push(row);
  }
  return new Map(
    [...groups].map(([name, group]) => [name, healthOf(group)] as const),
  );
}

function healthOf(rows: readonly SqlRow[]): CallHealth {
  let calls = 0;
  const outcomes: Partial<Record<Outcome, number>> = {};
  const times = new Map<number, number>();
  for (const row of rows) {
    const count = intOf(row, "calls");
    const outcome = OUTCOME_NAMES.find((one) => one === textOf(row, "outcome"));
    const ms = msOfClass(intOf(row, "first_token"));
    calls += count;
    if (outcome !== undefined) {
      outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
    }
    if (ms !== undefined) times.set(ms, (times.get(ms) ?? 0) + count);
  }
  const p50 = percentile(times, 0.5);
  const p95 = percentile(times, 0.95);
  return {
    calls,
    outcomes,
    ...(p50 === undefined || p95 === undefined
      ? {}
      : { firstTokenMs: { p50, p95 } }),
  };
}

function percentile(
  times: ReadonlyMap<number, number>,
  share: number,
): number | undefined {
  const sorted = [...times].toSorted(([a], [b]) => a - b);
  const all = sorted.reduce((sum, [, count]) => sum + count, 0);
  let below = 0;
  for (const [ms, count] of sorted) {
    below += count;
    if (below >= all * share && count > 0) return ms;
  }
  return undefined;
}
