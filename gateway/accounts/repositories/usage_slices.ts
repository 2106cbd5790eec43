/**
 * Reads a table of usage in slices, each a short walk along an index: a query of SQLite
 * blocks every stream of the process while it runs.
 *
 * @module
 */
import { paceOf } from "./pace.ts";
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

const SLICE_ROWS = { sqlite: 16_000, postgres: [8000, 50_000] } as const;

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
  const pace = paceOf(store.dialect, SLICE_ROWS);
  const slice = async (after: readonly SqlValue[] | undefined) => {
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
    const [endRow] = await orUnavailable(() =>
      store.report(
        `SELECT ${columns} FROM ${walk.table} WHERE ${
          [...where, ...(last === undefined ? [] : [`${time} <= ${put(last)}`])]
            .join(" AND ")
        } ORDER BY ${columns} LIMIT 1 OFFSET ${put(pace.rows - 1)}`,
        values,
      )
    );
    values.length = bounds;
    const end = endRow === undefined
      ? undefined
      : walk.order.map((column) => endRow[column] as SqlValue);
    if (end !== undefined) {
      where.push(`(${columns}) <= (${end.map(put).join(", ")})`);
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
    return { rows, end };
  };
  let after: readonly SqlValue[] | undefined;
  for (;;) {
    const { rows, end } = await pace.run(
      () => slice(after),
      ({ rows }) => rows.length,
    );
    yield rows;
    if (end === undefined) return;
    after = end;
  }
}
