/**
 * Finds the attempts that failed at their upstreams: lists of them, newest first, and their number.
 */
import { invalidField } from "../../../translate/model/error.ts";
import { isUnknownStatus } from "../calls/outcome.ts";
import {
  FAILED_ATTEMPT,
  type FailedAttempt,
  firstAttemptId,
} from "../rows/failed_attempt_rows.ts";
import { recordFrom } from "../rows/record_rows.ts";
import { intOf, type SqlValue, textOf } from "../store/store.ts";
import {
  type ListPage,
  listPage,
  pageLimit,
  type SearchRequest,
} from "../repositories/list_page.ts";
import {
  readReport,
  type RepositoryContext,
} from "../repositories/repository.ts";

/** A filter on failed attempts; absent fields match every one. */
export interface AttemptQuery extends SearchRequest {
  readonly accountId?: string;
  readonly model?: string;
  readonly upstream?: string;
  /** The status, or the kind of error where there was none. */
  readonly error?: string;
  readonly outcome?: string;
  /** Failed at or after this time, Unix milliseconds. */
  readonly fromMs?: number;
  /** Failed before this time, Unix milliseconds. */
  readonly toMs?: number;
}

/** How often attempts at a candidate failed by one error. */
export interface AttemptCount {
  readonly model: string;
  readonly upstream: string;
  readonly error: string;
  readonly count: number;
}

/** A refusal at an upstream whose status no table knows. */
export interface UnknownRefusal {
  readonly upstream: string;
  readonly status: number;
  readonly count: number;
  /** What the upstream wrote of one of them; absent: nothing that may be kept. */
  readonly words?: string;
}

export interface FailedAttempts {
  /**
   * One page, newest first.
   *
   * @throws {ApiError} `invalid_request` for an invalid cursor; `unavailable`
   */
  list(query: AttemptQuery): Promise<ListPage<FailedAttempt>>;
  /**
   * Counts them by candidate and error.
   *
   * @throws {ApiError} `unavailable`
   */
  count(fromMs: number, toMs: number): Promise<readonly AttemptCount[]>;
  /**
   * The refusals that may need a row in `translate/errors/refusals.ts`, most frequent first.
   *
   * @throws {ApiError} `unavailable`
   */
  unknownRefusals(fromMs: number): Promise<readonly UnknownRefusal[]>;
}

const MAX_LIMIT = 200;
/** Above every id. */
const ABOVE = "att_~";
/** Filters that no index has. */
const FILTERS = ["accountId", "model", "error", "outcome"] as const;

export function failedAttempts(context: RepositoryContext): FailedAttempts {
  return {
    async list(query) {
      const limit = Math.min(MAX_LIMIT, pageLimit(query, 50));
      const values: SqlValue[] = [];
      const put = (value: SqlValue): string => `$${values.push(value)}`;
      const conditions = [
        `id >= ${put(firstAttemptId(query.fromMs ?? 0))}`,
        `id < ${put(cursor(query.after, query.toMs))}`,
      ];
      if (query.upstream !== undefined) {
        conditions.push(`upstream = ${put(query.upstream)}`);
      }
      const walkQuery = (picks: string): string =>
        `SELECT ${picks} FROM failed_attempts WHERE ${
          conditions.join(" AND ")
        } ORDER BY id DESC`;
      const [end] = query.scanLimit === undefined ? [] : await readReport(
        context,
        `${walkQuery("id")} LIMIT 1 OFFSET $${values.length + 1}`,
        [...values, query.scanLimit - 1],
      );
      const endId = end === undefined ? undefined : textOf(end, "id");
      if (endId !== undefined) conditions.push(`id >= ${put(endId)}`);
      for (const name of FILTERS) {
        const value = query[name];
        if (value === undefined) continue;
        conditions.push(`${FAILED_ATTEMPT[name].column} = ${put(value)}`);
      }
      const rows = await readReport(
        context,
        `${walkQuery("*")} LIMIT ${put(limit + 1)}`,
        values,
      );
      return {
        ...endId === undefined ? {} : { next: endId },
        ...listPage(
          rows.map((row) => recordFrom(FAILED_ATTEMPT, row)),
          limit,
          ({ id }) => id,
        ),
      };
    },
    async count(fromMs, toMs) {
      const rows = await readReport(
        context,
        `SELECT model, upstream, error, CAST(COUNT(*) AS BIGINT) AS count FROM failed_attempts
         WHERE id >= $1 AND id < $2 GROUP BY model, upstream, error`,
        [firstAttemptId(fromMs), firstAttemptId(toMs)],
      );
      return rows.map((row) => ({
        model: textOf(row, "model"),
        upstream: textOf(row, "upstream"),
        error: textOf(row, "error"),
        count: intOf(row, "count"),
      }));
    },
    async unknownRefusals(fromMs) {
      const rows = await readReport(
        context,
        `SELECT upstream, error, CAST(COUNT(*) AS BIGINT) AS count, MAX(words) AS words
         FROM failed_attempts WHERE id >= $1 AND error LIKE '4__'
         GROUP BY upstream, error ORDER BY count DESC, upstream, error`,
        [firstAttemptId(fromMs)],
      );
      return rows.flatMap((row) => {
        const status = Number(textOf(row, "error"));
        return isUnknownStatus(status)
          ? [{
            upstream: textOf(row, "upstream"),
            status,
            count: intOf(row, "count"),
            ...(row["words"] === null ? {} : { words: textOf(row, "words") }),
          }]
          : [];
      });
    },
  };
}

function cursor(after: string | undefined, toMs: number | undefined): string {
  if (after !== undefined && !/^att_[0-9A-Za-z]{1,70}$/.test(after)) {
    throw invalidField(
      "after",
      "is not the cursor that an earlier page of attempts ended with",
    );
  }
  const end = toMs === undefined ? ABOVE : firstAttemptId(toMs);
  return after === undefined || end < after ? end : after;
}
