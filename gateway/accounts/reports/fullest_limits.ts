import { advanceTo } from "../ledger/account_state.ts";
import { dayOf, firstDayOf } from "../limits/calendar_window.ts";
import { keyAt } from "../ledger/key_state.ts";
import { type LimitLevel, limitLevels } from "../limits/limit_levels.ts";
import { WINDOW_LIMITS } from "../limits/window_limits.ts";
import { LIMITS } from "../records.ts";
import { readAccountStates } from "../rows/account_state_rows.ts";
import { readKeyStates } from "../rows/key_state_rows.ts";
import { textOf } from "../store/store.ts";
import {
  readerOf,
  type RepositoryContext,
} from "../repositories/repository.ts";

/** A limit of an account or of a key. */
export interface HeldLimit {
  readonly accountId: string;
  /** Id and name; absent: it is the account's limit. */
  readonly key?: { readonly id: string; readonly name: string };
  readonly level: LimitLevel;
}

/**
 * The fullest limits of all kinds, fullest first; without those that nothing is used of.
 *
 * @throws {ApiError} `unavailable`
 */
export async function fullestLimits(
  context: RepositoryContext,
  count: number,
): Promise<readonly HeldLimit[]> {
  const { store: { dialect } } = context;
  const nowMs = context.now();
  const sql = readerOf(context);
  // A holder of one of the fullest limits is one of the fullest holders. Each has one row.
  const fullest = (columns: string, from: string): Promise<readonly string[]> =>
    sql.all(
      `SELECT ${columns} AS id, ${shareOf(dialect.name, nowMs)} AS share ` +
        `FROM ${from} ORDER BY share DESC LIMIT $1`,
      [count],
    ).then((rows) => rows.map((row) => textOf(row, "id")));
  const [accountIds, keyIds] = await Promise.all([
    fullest("s.id", "accounts s JOIN plans l ON l.id = s.plan_id"),
    fullest(
      "l.id",
      "key_states s JOIN keys l ON l.id = s.key_id AND l.revoked_at_ms IS NULL",
    ),
  ]);
  const [accounts, keys, names] = await Promise.all([
    readAccountStates(sql, dialect, accountIds),
    readKeyStates(sql, dialect, keyIds),
    sql.all(
      `SELECT id, name, account_id FROM keys WHERE id IN ${dialect.texts(1)}`,
      [JSON.stringify(keyIds)],
    ),
  ]);
  const found: HeldLimit[] = [];
  for (const [accountId, before] of accounts) {
    const { plan, use } = advanceTo(before, nowMs);
    for (const level of limitLevels("account", use, plan, nowMs)) {
      found.push({ accountId, level });
    }
  }
  for (const row of names) {
    const id = textOf(row, "id");
    const before = keys.get(id);
    if (before === undefined) continue;
    const { limits, use } = keyAt(before, nowMs);
    const key = { id, name: textOf(row, "name") };
    for (const level of limitLevels("key", use, limits, nowMs)) {
      found.push({ accountId: textOf(row, "account_id"), key, level });
    }
  }
  return found.filter(({ level }) => level.share > 0)
    .toSorted((a, b) => b.level.share - a.level.share).slice(0, count);
}

/** The share of the fullest limit, as SQL: `s` has what is used, `l` the limits. */
function shareOf(dialect: "sqlite" | "postgres", nowMs: number): string {
  const share = (limit: string, used: string): string =>
    `CASE WHEN l.${limit} <= 0 THEN 1.0 WHEN l.${limit} > 0 THEN (${used}) * 1.0 / l.${limit} ELSE 0.0 END`;
  const perMinute = (limit: string, unit: string): string =>
    share(
      limit,
      `s.${unit}_used / 60000.0 - l.${limit} * 1.0 * (${nowMs} - s.${unit}_at_ms) / 60000`,
    );
  const shares = [
    share(LIMITS.concurrentRequests.column, "s.open_requests"),
    perMinute(LIMITS.requestsPerMinute.column, "requests"),
    perMinute(LIMITS.tokensPerMinute.column, "tokens"),
    ...WINDOW_LIMITS.map(({ field, unit, window }) => {
      const [used, reserved] = unit === "tokens"
        ? [`${window}_tokens`, "reserved_tokens"]
        : [`${window}_spent_micro_usd`, "reserved_micro_usd"];
      // What was used before the window began does not count any more.
      const first = firstDayOf(window, dayOf(nowMs));
      return share(
        LIMITS[field].column,
        `CASE WHEN s.day >= ${first} THEN s.${used} ELSE 0 END + s.${reserved}`,
      );
    }),
  ];
  return `${dialect === "sqlite" ? "MAX" : "GREATEST"}(${shares.join(", ")})`;
}
