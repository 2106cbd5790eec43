/**
 * How many rows a statement may read: SQLite runs it on the event loop, and rows that are not in
 * memory take a hundred times as long as others.
 *
 * @module
 */
import { nextTurn } from "../next_turn.ts";
import type { SqlDialect } from "../store/store.ts";
import { SliceTurns } from "./slice_turns.ts";

/** The first and the shortest slice of SQLite: each row may be on another page of the disk. */
const LEAST_ROWS = 25;
/** A slice that took longer is followed by a smaller one, a shorter one by a larger. */
const TARGET_MS = 2;
/** The same of the rows of a result, which one turn of the event loop reads. */
const TARGET_RESULTS = 1000;

/** The most rows of a slice. Postgres works in a process of its own: there only round trips count. */
export interface PaceLimits {
  /** Of SQLite; the first slice is short. */
  readonly sqlite: number;
  /** Of Postgres, and of its first slice. */
  readonly postgres: readonly [first: number, most: number];
}

/** Runs the slices of one walk. */
export interface Pace {
  /** Rows of the next slice. */
  readonly rows: number;
  /**
   * Runs a slice, adapts `rows` to the time that it took, and lets other events run.
   *
   * @param results how many rows a result has that are not bounded by `rows`
   */
  run<T>(slice: () => Promise<T>, results?: (value: T) => number): Promise<T>;
}

/** Of all walks: the process has one event loop. */
const TURNS = new SliceTurns();

/** The pace of a new walk. `now` is a clock in milliseconds. */
export function paceOf(
  { name }: SqlDialect,
  limits: PaceLimits,
  now: () => number = () => performance.now(),
): Pace {
  const most = name === "sqlite" ? limits.sqlite : limits.postgres[1];
  let rows = Math.min(
    most,
    name === "sqlite" ? LEAST_ROWS : limits.postgres[0],
  );
  return {
    get rows() {
      return rows;
    },
    async run<T>(
      slice: () => Promise<T>,
      results: (value: T) => number = () => 0,
    ) {
      let tookMs = 0;
      const timed = async (): Promise<T> => {
        const startedMs = now();
        const value = await slice();
        tookMs = now() - startedMs;
        return value;
      };
      const value = await (name === "sqlite" ? TURNS.run(timed) : slice());
      const share = Math.max(
        tookMs / TARGET_MS,
        results(value) / TARGET_RESULTS,
      );
      if (share > 1) rows = Math.max(LEAST_ROWS, Math.floor(rows / 2));
      else if (share < 0.5) rows = Math.min(most, rows * 2);
      await nextTurn();
      return value;
    },
  };
}
