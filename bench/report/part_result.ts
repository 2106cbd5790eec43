/**
 * The figures of a benchmark besides the main one as a file, with the machine and the versions.
 */
import { type Machine, machine, roundedJson } from "./results.ts";

/** One row of figures. */
export type Figures = Readonly<Record<string, unknown>>;

/** The figures of one run. */
export interface PartResult {
  /** Name of the benchmark. */
  readonly part: string;
  /** Start of the run, in UTC as ISO 8601. */
  readonly date: string;
  /** The machine of the run. */
  readonly machine: Machine;
  /** Versions of Deno and V8. */
  readonly versions: Readonly<Record<string, string>>;
  /** The rows, in the order in which they were measured. */
  readonly figures: readonly Figures[];
}

/** Collects the figures of a run; call it at its start. */
export function partResult(part: string): {
  readonly record: (figures: Figures) => void;
  readonly text: () => string;
} {
  const figures: Figures[] = [];
  const result: PartResult = {
    part,
    date: new Date().toISOString(),
    machine: machine(),
    versions: { Deno: Deno.version.deno, V8: Deno.version.v8 },
    figures,
  };
  return {
    record: (row) => figures.push(row),
    text: () => roundedJson(result),
  };
}
