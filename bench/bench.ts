/**
 * The interface of a benchmark.
 */

import type { Figures } from "./report/part_result.ts";

/** Arguments of every benchmark. */
export interface BenchContext {
  /** Prints one line of the result. */
  readonly print: (line: string) => void;
  /** Adds a row of figures to the file of `--json`; absent: there is none. */
  readonly record?: (figures: Figures) => void;
  /** Length of one measurement. */
  readonly measureMs: number;
  /** URL of a Postgres server, from `TEST_POSTGRES_URL`; absent: Postgres is skipped. */
  readonly postgresUrl?: string;
}

/** One benchmark of the command line. */
export interface Bench {
  /** One line for the list of benchmarks. */
  readonly about: string;
  /** Whether it accepts flags; if not, flags are an error. */
  readonly takesFlags?: boolean;
  /** Whether it handles `--json` itself; if not, `record` fills the file. */
  readonly writesJson?: boolean;
  /** Measures and prints the result. Returns the exit code; nothing means 0. */
  run(context: BenchContext, flags: readonly string[]): Promise<number | void>;
}
