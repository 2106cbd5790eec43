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

/** Postgres works in a process of its own: there round trips and the rows of a result count. */
const FIRST_ROWS = { sqlite: 1000, postgres: 8000 };
const LEAST_ROWS = 250;
const MOST_ROWS = { sqlite: 16_000, postgres: 50_000 };
/** A slice that took longer is followed by a smaller one, a shorter one by a larger. */
const TARGET_MS = 5;
/** The same of the rows of its result, which one turn of the event loop reads. */
const TARGET_RESULTS = 1000;

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
  const { name: dialect } = store.dialect;
  let sliceRows = FIRST_ROWS[dialect];
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
    const tookMs = performance.now() - startedMs;
    sliceRows = nextRows(
      sliceRows,
      Math.max(
        rows.length / TARGET_RESULTS,
        dialect === "sqlite" ? tookMs / TARGET_MS : 0,
      ),
      MOST_ROWS[dialect],
    );
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

/** `share`: how much of what a slice may take the last one took. */
function nextRows(rows: number, share: number, most: number): number {
  if (share > 1) return Math.max(LEAST_ROWS, Math.floor(rows / 2));
  return share < 0.5 ? Math.min(most, rows * 2) : rows;
}
