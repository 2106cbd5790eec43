/**
 * `deno task bench NAME`: runs one of the benchmarks. They print figures and judge none: what is fast depends on the machine.
 *
 * @module
 */
import { ledger } from "./ledger.ts";

/** What a benchmark is given. */
export interface BenchContext {
  /** Takes a line of the result. */
  readonly print: (line: string) => void;
  /** How long one measurement takes, in milliseconds. */
  readonly measureMs: number;
  /** A Postgres server to measure on, as `TEST_POSTGRES_URL` names it; absent: Postgres is skipped. */
  readonly postgresUrl?: string;
}

/** A benchmark. */
export interface Bench {
  /** What it measures, in a line. */
  readonly about: string;
  /** Measures, and prints what was found. */
  run(context: BenchContext): Promise<void>;
}

/** The benchmarks by name. */
export const BENCHES: ReadonlyMap<string, Bench> = new Map([
  ["ledger", ledger],
]);

/** Runs the benchmark that the arguments name. Gives the exit code: 2 where they name none. */
export async function runBench(
  args: readonly string[],
  context: BenchContext,
): Promise<number> {
  const [name = "", ...rest] = args;
  const bench = BENCHES.get(name);
  if (bench === undefined || rest.length > 0) {
    context.print("deno task bench NAME");
    for (const [known, { about }] of BENCHES) {
      context.print(`  ${known.padEnd(10)} ${about}`);
    }
    return 2;
  }
  await bench.run(context);
  return 0;
}

const MEASURE_MS = 3000;

if (import.meta.main) {
  const postgresUrl = Deno.env.get("TEST_POSTGRES_URL");
  Deno.exitCode = await runBench(Deno.args, {
    // deno-lint-ignore no-console
    print: (line) => console.log(line),
    measureMs: MEASURE_MS,
    ...(postgresUrl === undefined ? {} : { postgresUrl }),
  });
}
