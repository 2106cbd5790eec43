/**
 * Reads a table of usage in slices, each a short walk along an index: a query of SQLite
 * blocks every stream of the process while it runs.
 *
 * @module
 */
import { nextTurn } from "../next_turn.ts";
import { orUnavailable, type RepositoryContext } from "./repository.ts";
import type { SqlRow, SqlValue } from "../store/store.ts";

/** What to read, and along which index. */
export interface UsageWalk {
  readonly table: "usage_days" | "usage_hours" | "usage_daily";
  /** The column that the walked index begins with, and its value; absent: the order begins it. */
  readonly fixed?: { readonly column: string; readonly value: string };
  /** The following columns of the index, down to a row; the first is the time. */
  readonly order: readonly string[];
  /** First and last value of the time; absent: no bound. */
  readonly first?: number;
  readonly last?: number;
  /** Other columns with the value that a row must have. */
  readonly filters: readonly (readonly [column: string, value: string])[];
  /** Further conditions, asked before each slice: a report needs ever fewer groups. */
  readonly within?: () => readonly (readonly [
    left: string,
    value: SqlValue,
  ])[];
  /** Columns of the result, in SQL: first the groups, then the sums. `put` adds a parameter. */
  picks(put: (value: SqlValue) => string): readonly string[];
  /** How many of the columns the rows of a slice are grouped by. */
  readonly groups: number;
}

/** Postgres works in a process of its own: there only round trips count. */
const POSTGRES_ROWS = 50_000;
const FIRST_ROWS = 1000;
const LEAST_ROWS = 250;
const MOST_ROWS = 16_000;
/** A slice that took longer is followed by a smaller one, a shorter one by a larger. */
const TARGET_MS = 5;

/**
 * Reads the rows, grouped within each slice; a group may occur in several slices.
 *
 * @throws {ApiError} `unavailable`
 */
export async function* usageSlices(
  { store }: RepositoryContext,
  walk: UsageWalk,
): AsyncGenerator<readonly SqlRow[], void, void> {
  const columns = walk.order.join(", ");
  const [time = ""] = walk.order;
  const groups = walk.groups === 0
    ? ""
    : `GROUP BY ${
      Array.from({ length: walk.groups }, (_, at) => at + 1).join(", ")
    }`;
  const isSqlite = store.dialect.name === "sqlite";
  let sliceRows = isSqlite ? FIRST_ROWS : POSTGRES_ROWS;
  let after: readonly SqlValue[] | undefined;
  for (;;) {
    const values: SqlValue[] = [];
    const put = (value: SqlValue): string => `$${values.push(value)}`;
    const where: string[] = [];
    if (walk.fixed !== undefined) {
      where.push(`${walk.fixed.column} = ${put(walk.fixed.value)}`);
    }
    if (after !== undefined) {
      where.push(`(${columns}) > (${after.map(put).join(", ")})`);
    } else where.push(`${time} >= ${put(walk.first ?? 0)}`);
    const last = walk.last;
    const bounds = values.length;
    const startedMs = performance.now();
    const [end] = await orUnavailable(() =>
      store.report(
        `SELECT ${columns} FROM ${walk.table} WHERE ${
          [...where, ...(last === undefined ? [] : [`${time} <= ${put(last)}`])]
            .join(" AND ")
        } ORDER BY ${columns} LIMIT 1 OFFSET ${put(sliceRows - 1)}`,
        values,
      )
    );
    values.length = bounds;
    const endValues = end === undefined
      ? undefined
      : walk.order.map((column) => end[column] as SqlValue);
    if (endValues !== undefined) {
      where.push(`(${columns}) <= (${endValues.map(put).join(", ")})`);
    } else if (last !== undefined) where.push(`${time} <= ${put(last)}`);
    for (const [column, value] of walk.filters) {
      where.push(`${column} = ${put(value)}`);
    }
    for (const [left, value] of walk.within?.() ?? []) {
      where.push(`${left} ${put(value)}`);
    }
    const rows = await orUnavailable(() =>
      store.report(
        `SELECT ${walk.picks(put).join(", ")} FROM ${walk.table} WHERE ${
          where.join(" AND ")
        } ${groups}`,
        values,
      )
    );
    if (isSqlite) {
      sliceRows = nextRows(sliceRows, performance.now() - startedMs);
    }
    yield rows;
    if (endValues === undefined) {
      // What follows may take as long as a slice.
      if (after !== undefined) await nextTurn();
      return;
    }
    after = endValues;
    await nextTurn();
  }
}

function nextRows(rows: number, tookMs: number): number {
  if (tookMs > TARGET_MS) return Math.max(LEAST_ROWS, Math.floor(rows / 2));
  return tookMs < TARGET_MS / 2 ? Math.min(MOST_ROWS, rows * 2) : rows;
}
