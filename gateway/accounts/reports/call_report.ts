/**
 * Finds the records of calls: lists of them, newest first, and one by its request id.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import { invalidField } from "../../../translate/model/error.ts";
import {
  type CallRecord,
  callTimeMs,
  firstCallId,
} from "../calls/call_record.ts";
import {
  type Outcome,
  type OutcomeGroup,
  outcomesOf,
} from "../calls/outcome.ts";
import { correctionId, withCorrections } from "../ledger/correction.ts";
import { LEDGER_ENTRY, type LedgerEntry } from "../records.ts";
import {
  isCutOff,
  type RankedPage,
  type RankedRange,
  rankedText,
} from "./ranked.ts";
import {
  EXPORT_PAGE,
  type ListPage,
  listPage,
  pageLimit,
  type SearchRequest,
} from "../repositories/list_page.ts";
import {
  notFound,
  readReport,
  type RepositoryContext,
} from "../repositories/repository.ts";
import { callFrom } from "../rows/call_rows.ts";
import { recordFrom } from "../rows/record_rows.ts";
import { type SqlValue, textOf } from "../store/store.ts";

/** A filter on calls; absent fields match every call. */
export interface CallQuery extends SearchRequest {
  readonly accountId?: string;
  readonly keyId?: string;
  readonly model?: string;
  readonly status?: number;
  readonly ended?: string;
  readonly outcome?: Outcome | OutcomeGroup;
  readonly code?: string;
  readonly user?: string;
  /** Calls that arrived at or after this time, Unix milliseconds. */
  readonly fromMs?: number;
  /** Calls that arrived before this time, Unix milliseconds. */
  readonly toMs?: number;
  /** Calls that cost at least this. */
  readonly minMicroUsd?: number;
  /** Calls that took at least this long. */
  readonly minMs?: number;
}

/** What calls can be ranked by, as columns. */
const RANKS = {
  whole: "duration_ms",
  cost: "micro_usd",
} as const;

export type CallRank = keyof typeof RANKS;

export interface FoundCall {
  readonly record: CallRecord;
  /** When it arrived, Unix milliseconds. */
  readonly atMs: number;
  /**
   * Its entry in the ledger, with the sums of its correction if it has one; absent if it was not
   * charged, or not yet.
   */
  readonly entry?: LedgerEntry;
}

export interface CallReport {
  /**
   * One page of calls, newest first. The cursor is opaque.
   *
   * @throws {ApiError} `invalid_request` for an invalid cursor; `unavailable`
   */
  list(query: CallQuery): Promise<ListPage<FoundCall>>;
  /**
   * One page of the newest {@linkcode RANKED} calls of a query, by one of their figures.
   *
   * @throws {ApiError} `unavailable`
   */
  ranked(
    query: CallQuery,
    range: RankedRange<CallRank>,
  ): Promise<RankedPage<FoundCall>>;
  /** Reads all calls of a query, newest first, page by page; for exports. A page may be empty. */
  all(query: CallQuery): AsyncGenerator<readonly FoundCall[], void, void>;
  /**
   * The call with this request id.
   *
   * @throws {ApiError} `not_found` if there is none within the scope; `unavailable`
   */
  get(
    requestId: string,
    scope: { readonly accountId?: string; readonly keyId?: string },
  ): Promise<FoundCall>;
}

const MAX_LIMIT = 200;
const DEFAULT_LIMIT = 50;
/** Above every request id. */
const ABOVE = "req_~";

/** Creates the report. `flush` writes the records that this process still has in memory. */
export function callReport(
  context: RepositoryContext,
  flush: () => Promise<void> = () => Promise.resolve(),
): CallReport {
  return {
    async list(query) {
      const limit = Math.min(MAX_LIMIT, pageLimit(query, DEFAULT_LIMIT));
      const { records, stoppedAt } = await walkCalls(
        context,
        callWalk(query),
        limit + 1,
        query.scanLimit,
      );
      const page = listPage(records, limit, (record) => record.requestId);
      return {
        ...stoppedAt === undefined ? {} : { next: stoppedAt },
        ...page,
        data: await withEntries(context, page.data),
      };
    },
    async ranked(query, range) {
      const { limit } = range;
      const walk = callWalk(query);
      const endId = await walkEnd(context, walk, query.scanLimit);
      const { where, values } = walkQuery(walk, endId);
      const rows = await readReport(
        context,
        rankedText({
          table: "calls",
          id: "request_id",
          column: RANKS[range.by],
          where,
          values,
          range,
        }),
        values,
      );
      return {
        data: await withEntries(context, rows.slice(0, limit).map(callFrom)),
        hasMore: rows.length > limit,
        isWhole: endId === undefined && !isCutOff(rows),
      };
    },
    async *all(query) {
      let walk = callWalk(query);
      for (;;) {
        const { records, stoppedAt } = await walkCalls(
          context,
          walk,
          EXPORT_PAGE.rows,
          EXPORT_PAGE.scanned,
        );
        yield await withEntries(context, records);
        if (stoppedAt === undefined) return;
        walk = { ...walk, above: stoppedAt };
      }
    },
    async get(requestId, scope) {
      // Another account's call takes the same reads as an unknown one.
      const within = (call: CallRecord | undefined): CallRecord | undefined =>
        call === undefined ||
          scope.accountId !== undefined &&
            call.accountId !== scope.accountId ||
          scope.keyId !== undefined && call.keyId !== scope.keyId
          ? undefined
          : call;
      let record = within(await find(context, requestId));
      if (record === undefined) {
        await flush();
        record = within(await find(context, requestId));
      }
      const [entry] = await entriesOf(context, [requestId]);
      const call = record ?? within(entry && chargeAlone(entry));
      if (call === undefined) throw notFound("call", requestId);
      return foundCall(call, entry);
    },
  };
}

function foundCall(
  record: CallRecord,
  entry: LedgerEntry | undefined,
): FoundCall {
  return {
    record,
    atMs: callTimeMs(record.requestId),
    ...compact({ entry }),
  };
}

/**
 * Two partial indexes have only these calls. SQL must contain the condition word for word, without
 * parameters, to use them.
 */
const NOT_COMPLETE = "outcome <> 'complete' AND ";

type Condition = readonly [left: string, value: SqlValue];

function conditionsOf(
  query: CallQuery,
): { readonly bounds: Condition[]; readonly filters: Condition[] } {
  const bounds: Condition[] = [];
  const filters: Condition[] = [];
  const { accountId, keyId } = query;
  if (keyId !== undefined) {
    bounds.push(["key_id =", keyId]);
    if (accountId !== undefined) filters.push(["account_id =", accountId]);
  } else if (accountId !== undefined) bounds.push(["account_id =", accountId]);
  const exact: readonly (readonly [string, SqlValue | undefined])[] = [
    ["model =", query.model],
    ["status =", query.status],
    ["ended =", query.ended],
    ["code =", query.code],
    ["user_id =", query.user],
    ["micro_usd >=", query.minMicroUsd],
    ["duration_ms >=", query.minMs],
  ];
  for (const [left, value] of exact) {
    if (value !== undefined) filters.push([left, value]);
  }
  return { bounds, filters };
}

interface WalkedCalls {
  readonly records: readonly CallRecord[];
  /** Where the walk ended at its limit: the last call that was read. */
  readonly stoppedAt?: string;
}

/** Which calls to read: those with an id from `first` on and below `above`. */
interface CallWalk {
  /** The condition of a partial index, as SQL; empty: none. */
  readonly among: string;
  readonly first: string;
  readonly above: string;
  /** Conditions that an index bounds. */
  readonly bounds: readonly Condition[];
  /** Conditions that each walked call is checked for. */
  readonly filters: readonly Condition[];
  /** A further filter, as SQL; empty: none. */
  readonly outcomes: string;
}

function callWalk(query: CallQuery): CallWalk {
  const { fromMs, toMs, ended = "complete", outcome = "complete" } = query;
  return {
    ...conditionsOf(query),
    outcomes: query.outcome === undefined
      ? ""
      : `outcome IN (${
        outcomesOf(query.outcome).map((one) => `'${one}'`).join(", ")
      }) AND `,
    among: ended === "complete" && outcome === "complete" ? "" : NOT_COMPLETE,
    first: fromMs === undefined ? "" : firstCallId(fromMs),
    above: earlier(
      cursor(query.after),
      toMs === undefined ? ABOVE : firstCallId(toMs),
    ),
  };
}

/**
 * Reads the first `limit` calls of a walk past at most `scanLimit` calls; absent: without bound.
 */
async function walkCalls(
  context: RepositoryContext,
  walk: CallWalk,
  limit: number,
  scanLimit?: number,
): Promise<WalkedCalls> {
  const { store } = context;
  const endId = await walkEnd(context, walk, scanLimit);
  const { where, values } = walkQuery(walk, endId);
  const rows = await readReport(
    { store },
    `SELECT * FROM calls ${where} ORDER BY request_id DESC LIMIT $${
      values.push(limit)
    }`,
    values,
  );
  const records = rows.map(callFrom);
  const stoppedAt = records.length >= limit ? records.at(-1)?.requestId : endId;
  return { records, ...stoppedAt === undefined ? {} : { stoppedAt } };
}

/** The last call that a walk past at most `scanLimit` calls reads; undefined: no limit ends it. */
async function walkEnd(
  { store }: RepositoryContext,
  { among, first, above, bounds, filters, outcomes }: CallWalk,
  scanLimit: number | undefined,
): Promise<string | undefined> {
  // Without filters the limit of the rows bounds the walk.
  if (
    scanLimit === undefined || filters.length === 0 && outcomes === ""
  ) return undefined;
  const { where, values } = statement(among, [
    ...bounds,
    ["request_id >=", first],
    ["request_id <", above],
  ]);
  const [end] = await readReport(
    { store },
    `SELECT request_id FROM calls ${where} ORDER BY request_id DESC LIMIT 1 OFFSET $${
      values.push(scanLimit - 1)
    }`,
    values,
  );
  return end === undefined ? undefined : textOf(end, "request_id");
}

/**
 * The calls of a walk down to `endId`. With two lower bounds SQLite would search the index by
 * either one and check the other for each call, so there is only one.
 */
function walkQuery(
  { among, first, above, bounds, filters, outcomes }: CallWalk,
  endId: string | undefined,
): ReturnType<typeof statement> {
  return statement(among + outcomes, [
    ...bounds,
    ["request_id >=", endId ?? first],
    ["request_id <", above],
    ...filters,
  ]);
}

function statement(
  among: string,
  conditions: readonly Condition[],
): { readonly where: string; readonly values: SqlValue[] } {
  const values: SqlValue[] = [];
  const texts = conditions.map(([left, value]) =>
    `${left} $${values.push(value)}`
  );
  return { where: `WHERE ${among}${texts.join(" AND ")}`, values };
}

/** The smaller of two ids, in the order of the index: by bytes. */
function earlier(one: string, other: string): string {
  return one < other ? one : other;
}

function cursor(after: string | undefined): string {
  if (after === undefined) return ABOVE;
  if (!/^req_[0-9A-Za-z]{1,60}$/.test(after)) {
    throw invalidField(
      "after",
      "is not the cursor that an earlier page of calls ended with",
    );
  }
  return after;
}

async function find(
  { store }: RepositoryContext,
  requestId: string,
): Promise<CallRecord | undefined> {
  const [row] = await readReport(
    { store },
    "SELECT * FROM calls WHERE request_id = $1",
    [requestId],
  );
  return row === undefined ? undefined : callFrom(row);
}

/** The charges of these calls, as their corrections leave them. */
async function entriesOf(
  context: RepositoryContext,
  requestIds: readonly string[],
): Promise<readonly LedgerEntry[]> {
  const entries = await entriesAt(context, requestIds);
  const lostIds = entries.flatMap(({ ended, requestId }) =>
    ended === "lost" ? [correctionId(requestId)] : []
  );
  const corrections = lostIds.length === 0
    ? []
    : await entriesAt(context, lostIds);
  return withCorrections([...entries, ...corrections]);
}

async function entriesAt(
  { store }: RepositoryContext,
  ids: readonly string[],
): Promise<readonly LedgerEntry[]> {
  const rows = await readReport(
    { store },
    `SELECT * FROM ledger WHERE request_id IN ${store.dialect.texts(1)}`,
    [JSON.stringify(ids)],
  );
  return rows.map((row) => recordFrom(LEDGER_ENTRY, row));
}

/** The calls with their entries in the ledger. */
async function withEntries(
  context: RepositoryContext,
  records: readonly CallRecord[],
): Promise<readonly FoundCall[]> {
  if (records.length === 0) return [];
  const found = await entriesOf(
    context,
    records.map(({ requestId }) => requestId),
  );
  const entries = new Map(found.map((entry) => [entry.requestId, entry]));
  return records.map((record) =>
    foundCall(record, entries.get(record.requestId))
  );
}

/** What the ledger knows of a call without a record: an old one, or one of a process that died. */
function chargeAlone(entry: LedgerEntry): CallRecord | undefined {
  if (entry.kind !== "charge") return undefined;
  return {
    requestId: entry.requestId,
    accountId: entry.accountId,
    keyId: entry.keyId ?? "",
    ...compact({ model: entry.model, user: entry.user }),
    endpoint: "",
    ended: entry.ended ?? "lost",
    inputTokens: entry.inputTokens,
    cacheReadTokens: entry.cacheReadTokens,
    cacheWriteTokens: entry.cacheWriteTokens,
    outputTokens: entry.outputTokens,
    reasoningTokens: entry.reasoningTokens,
    estimated: entry.estimated,
    microUsd: 0 - entry.microUsd,
    more: 0,
  };
}
