/**
 * Reads entries of the ledger along an index.
 */
import { type Coverage, coverage } from "./coverage.ts";
import { DAY_MS } from "../limits/calendar_window.ts";
import { correctionId } from "../ledger/correction.ts";
import type { LedgerEntry } from "../records.ts";
import {
  isCutOff,
  type RankedPage,
  type RankedRange,
  rankedText,
} from "./ranked.ts";
import { type SearchRequest } from "../repositories/list_page.ts";
import {
  orUnavailable,
  readReport,
  type RepositoryContext,
} from "../repositories/repository.ts";
import {
  intOf,
  intOrUndefined,
  type SqlRow,
  type SqlValue,
} from "../store/store.ts";

/** A filter on ledger entries; absent fields match every entry. */
export interface LedgerQuery extends SearchRequest {
  /** Entries of this account. */
  readonly accountId?: string;
  readonly keyId?: string;
  /** Charges of this model. */
  readonly model?: string;
  /** Charges of this end user, by the client's own id. */
  readonly user?: string;
  /** Only charges, or only top-ups. */
  readonly kind?: LedgerEntry["kind"];
  /** The entry of this request, and its correction. */
  readonly requestId?: string;
  /** Entries at or after this time, Unix milliseconds. */
  readonly fromMs?: number;
  /** Entries before this time, Unix milliseconds. */
  readonly toMs?: number;
  /** Absent or false: the oldest entry first. */
  readonly newestFirst?: boolean;
}

/**
 * A condition on a row: a column with an operator, the value that follows, and what follows that.
 */
type Condition = readonly [left: string, value: SqlValue, right?: string];

/** Sequence numbers, both included. */
interface SeqRange {
  readonly first: number;
  readonly last: number;
}

const ALL_ENTRIES: SeqRange = { first: 0, last: Number.MAX_SAFE_INTEGER };

/** Which entries to read, and along which index. */
interface LedgerWalk {
  /** The table that is walked by `seq`. */
  readonly table: "ledger" | "ledger_top_ups";
  readonly isNewestFirst: boolean;
  /** The entries between two sequence numbers, both included. */
  readonly range: SeqRange;
  /** Conditions that an index bounds. */
  readonly bounds: readonly Condition[];
  /** Conditions that each walked entry is checked for. */
  readonly filters: readonly Condition[];
}

/**
 * Chooses how to read the entries of a query.
 *
 * @throws {ApiError} `unavailable`
 */
export async function ledgerWalk(
  context: RepositoryContext,
  query: LedgerQuery,
): Promise<LedgerWalk> {
  const { accountId, keyId, model, user, kind, requestId, fromMs, toMs } =
    query;
  const bounds: Condition[] = [];
  const filters: Condition[] = [];
  if (requestId !== undefined) {
    const ids = context.store.dialect.texts(1);
    const [left = "", right = ""] = ids.split("$1");
    // As a subquery: otherwise SQLite walks all entries of the account.
    bounds.push([
      `seq IN (SELECT seq FROM ledger WHERE request_id IN ${left}`,
      JSON.stringify([requestId, correctionId(requestId)]),
      `${right})`,
    ]);
  }
  if (accountId !== undefined) bounds.push(["account_id =", accountId]);
  if (keyId !== undefined) filters.push(["key_id =", keyId]);
  if (model !== undefined) filters.push(["model =", model]);
  if (user !== undefined) filters.push(["user_id =", user]);
  if (fromMs !== undefined) filters.push(["at_ms >=", fromMs]);
  if (toMs !== undefined) filters.push(["at_ms <", toMs]);
  const known = await coverage(context);
  const isAmongTopUps = kind === "top_up" && requestId === undefined &&
    known.missingSeq === 0;
  if (kind !== undefined && !isAmongTopUps) filters.push(["kind =", kind]);
  return {
    table: isAmongTopUps ? "ledger_top_ups" : "ledger",
    isNewestFirst: query.newestFirst === true,
    range: requestId === undefined
      ? await rangeOfDays(context, query, known)
      : ALL_ENTRIES,
    bounds,
    filters,
  };
}

/**
 * The entries of the query's days, as far as the roll-ups have them. Of several accounts only those
 * before which none can appear any more, so that a later page, or a later export from a cursor on,
 * has all that follow.
 */
async function rangeOfDays(
  { store }: RepositoryContext,
  { accountId, fromMs, toMs }: LedgerQuery,
  { fromDay, missingSeq }: Coverage,
): Promise<SeqRange> {
  const seq = async (bound: string, when: string, atMs: number) => {
    const tables = ["ledger_days", "account_days"].map((table) =>
      `SELECT ${bound} AS seq FROM ${table} WHERE day ${when} $1${
        accountId === undefined || table === "ledger_days"
          ? ""
          : " AND account_id = $2"
      }`
    );
    const rows = await readReport({ store }, tables.join(" UNION ALL "), [
      Math.floor(atMs / DAY_MS),
      ...(accountId === undefined ? [] : [accountId]),
    ]);
    return rows.flatMap((row) => intOrUndefined(row, "seq") ?? []);
  };
  const isCovered = (atMs: number): boolean =>
    Math.floor(atMs / DAY_MS) >= fromDay;
  const end = accountId === undefined
    ? await orUnavailable(() => store.ledgerEnd())
    : ALL_ENTRIES.last;
  return {
    first: fromMs === undefined || !isCovered(fromMs)
      ? ALL_ENTRIES.first
      : Math.min(
        ALL_ENTRIES.last,
        ...await seq("MIN(first_seq)", ">=", fromMs),
      ),
    last: toMs === undefined || !isCovered(toMs) ? end : Math.min(
      end,
      Math.max(missingSeq, ...await seq("MAX(last_seq)", "<=", toMs)),
    ),
  };
}

interface WalkedEntries {
  readonly rows: readonly SqlRow[];
  /** The last entry that was walked past, where the walk ended for a limit. */
  readonly stoppedAt?: number;
}

/**
 * Reads the first `limit` entries after the one with the number `after`; absent: the first. Walks
 * past at most `scanLimit` entries; absent: as many as it takes.
 *
 * @throws {ApiError} `unavailable`
 */
export async function walkLedger(
  context: RepositoryContext,
  walk: LedgerWalk,
  after: number | undefined,
  limit: number,
  scanLimit?: number,
): Promise<WalkedEntries> {
  // Without filters the limit bounds the walk.
  const isFiltered = walk.table !== "ledger" || walk.filters.length > 0;
  const end = isFiltered && scanLimit !== undefined
    ? await walkEnd(context, walk, after, scanLimit)
    : undefined;
  const rows = await matching(context, walk, after, end, limit);
  const last = rows.at(-1);
  const stoppedAt = last !== undefined && rows.length >= limit
    ? intOf(last, "seq")
    : end;
  return { rows, ...stoppedAt === undefined ? {} : { stoppedAt } };
}

/** The last of the `entries` after `last`; undefined: the walk ends within them. */
async function walkEnd(
  context: RepositoryContext,
  walk: LedgerWalk,
  last: number | undefined,
  entries: number,
): Promise<number | undefined> {
  const { where, values } = conditions(walk, last, undefined);
  const [row] = await readReport(
    context,
    `SELECT seq FROM ${walk.table} ${where} ORDER BY seq ${
      direction(walk)
    } LIMIT 1 OFFSET $${values.push(entries - 1)}`,
    values,
  );
  return row === undefined ? undefined : intOf(row, "seq");
}

function matching(
  context: RepositoryContext,
  walk: LedgerWalk,
  last: number | undefined,
  end: number | undefined,
  limit: number,
): Promise<readonly SqlRow[]> {
  const { where, values } = matches(walk, last, end);
  return readReport(
    context,
    `SELECT * FROM ledger ${where} ORDER BY seq ${direction(walk)} LIMIT $${
      values.push(limit)
    }`,
    values,
  );
}

function matches(
  walk: LedgerWalk,
  last: number | undefined,
  end: number | undefined,
): { readonly where: string; readonly values: SqlValue[] } {
  const { where, values } = conditions(walk, last, end);
  const filters = walk.filters.map(([left, value]) =>
    `${left} $${values.push(value)}`
  );
  const among = walk.table === "ledger"
    ? where
    : `WHERE seq IN (SELECT seq FROM ${walk.table} ${where})`;
  return { where: [among, ...filters].join(" AND "), values };
}

/**
 * Reads a page of the newest entries of a walk, by amount.
 *
 * @throws {ApiError} `unavailable`
 */
export async function rankLedger(
  context: RepositoryContext,
  walk: LedgerWalk,
  range: Omit<RankedRange<string>, "by">,
  scanLimit: number,
): Promise<RankedPage<SqlRow>> {
  const end = walk.filters.length === 0
    ? undefined
    : await walkEnd(context, walk, undefined, scanLimit);
  const { where, values } = matches(walk, undefined, end);
  const rows = await readReport(
    context,
    rankedText({
      table: "ledger",
      id: "seq",
      column: "micro_usd",
      where,
      values,
      range,
    }),
    values,
  );
  return {
    data: rows.slice(0, range.limit),
    hasMore: rows.length > range.limit,
    isWhole: end === undefined && !isCutOff(rows),
  };
}

/**
 * One lower and one upper bound of `seq`: of two, SQLite uses either one for the index and checks
 * the other for each entry.
 */
function conditions(
  { isNewestFirst, range, bounds }: LedgerWalk,
  last: number | undefined,
  end: number | undefined,
): { readonly where: string; readonly values: SqlValue[] } {
  const values: SqlValue[] = [];
  const put = (value: SqlValue): string => `$${values.push(value)}`;
  const all = bounds.map(([left, value, right = ""]) =>
    `${left} ${put(value)}${right}`
  );
  const [from, to] = isNewestFirst
    ? [end, last === undefined ? undefined : last - 1]
    : [last === undefined ? undefined : last + 1, end];
  all.push(`seq >= ${put(Math.max(range.first, from ?? range.first))}`);
  all.push(`seq <= ${put(Math.min(range.last, to ?? range.last))}`);
  return { where: `WHERE ${all.join(" AND ")}`, values };
}

function direction({ isNewestFirst }: LedgerWalk): string {
  return isNewestFirst ? "DESC" : "ASC";
}
