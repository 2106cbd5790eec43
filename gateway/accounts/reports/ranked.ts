/**
 * Lists by a figure that no index has: it is the order of the newest rows alone, so that a page
 * takes as long however many there are, and a write keeps no further index.
 */
import { intOf, type SqlRow, type SqlValue } from "../store/store.ts";

/** Rows that are put in order. */
export const RANKED = 10_000;

/** A page of a list by a figure. */
export interface RankedRange<R extends string> {
  readonly by: R;
  readonly isDescending: boolean;
  readonly offset: number;
  readonly limit: number;
}

/** What a page of a list by a figure holds. */
export interface RankedPage<T> {
  readonly data: readonly T[];
  readonly hasMore: boolean;
  /** Whether all rows of the query are in order; false: the newest. */
  readonly isWhole: boolean;
}

/** The text of a statement that reads a page and one row more; `values` gets those of the range. */
export function rankedText(
  { table, id, column, where, values, range }: {
    readonly table: string;
    /** The column that a newer row has a greater value of. */
    readonly id: string;
    readonly column: string;
    readonly where: string;
    readonly values: SqlValue[];
    readonly range: Omit<RankedRange<string>, "by">;
  },
): string {
  const { isDescending, offset, limit } = range;
  const order = `r.figure ${
    isDescending ? "DESC" : "ASC"
  } NULLS LAST, r.${id} DESC`;
  const put = (value: number): string => `$${values.push(value)}`;
  return `SELECT t.*, r.among FROM (
    SELECT r.*, CAST(COUNT(*) OVER () AS BIGINT) AS among FROM (
      SELECT ${id}, ${column} AS figure FROM ${table} ${where} ORDER BY ${id} DESC LIMIT ${RANKED}
    ) AS r ORDER BY ${order} LIMIT ${put(limit + 1)} OFFSET ${put(offset)}
  ) AS r JOIN ${table} AS t ON t.${id} = r.${id} ORDER BY ${order}`;
}

/** Whether older rows of the query were left out. */
export function isCutOff([row]: readonly SqlRow[]): boolean {
  return row !== undefined && intOf(row, "among") >= RANKED;
}
