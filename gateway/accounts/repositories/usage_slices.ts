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
  /** Columns of the result, in SQL. */
  readonly picks: readonly string[];
  /** Columns to group the rows of a slice by. */
  readonly groups: readonly string[];
}

/** Rows per slice. Postgres works in a process of its own: there only round trips count. */
const SLICE_ROWS = { sqlite: 2000, postgres: 50_000 };
/** The same of `usage_daily`, whose rows are not in the order of its index. */
const USER_SLICE_ROWS = { sqlite: 1000, postgres: 50_000 };

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
  const groups = walk.groups.length === 0
    ? ""
    : `GROUP BY ${walk.groups.join(", ")}`;
  const sliceRows =
    (walk.table === "usage_daily" ? USER_SLICE_ROWS : SLICE_ROWS)[
      store.dialect.name
    ];
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
    const [end] = await orUnavailable(() =>
      store.report(
        `SELECT ${columns} FROM ${walk.table} WHERE ${
          [...where, ...(last === undefined ? [] : [`${time} <= ${put(last)}`])]
            .join(" AND ")
        } ORDER BY ${columns} LIMIT 1 OFFSET ${sliceRows - 1}`,
        values,
      )
    );
    if (last !== undefined) values.pop();
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
    yield await orUnavailable(() =>
      store.report(
        `SELECT ${walk.picks.join(", ")} FROM ${walk.table} WHERE ${
          where.join(" AND ")
        } ${groups}`,
        values,
      )
    );
    if (endValues === undefined) return;
    after = endValues;
    await nextTurn();
  }
}
