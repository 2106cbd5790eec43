/**
 * `deno task bench`: measures the gateway beside others. `deno task bench NAME`: runs one of the further benchmarks. They print
 * figures and judge none: what is fast depends on the machine. A reply that is wrong, though, is a failure.
 *
 * @module
 */
import { runCores } from "./cores.ts";
import { runGrowth } from "./growth.ts";
import { ledger } from "./ledger.ts";
import { runPipeline } from "./pipeline.ts";
import { reportLines } from "./report.ts";
import { readResult } from "./results.ts";
import { runTechniques } from "./techniques.ts";
import { soak } from "./soak.ts";
import { endAll } from "./targets/listening.ts";

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
  /** Whether it takes flags; one that does not is given none. */
  readonly takesFlags?: boolean;
  /** Measures, and prints what was found. Gives the exit code where it is not 0. */
  run(context: BenchContext, flags: readonly string[]): Promise<number | void>;
}

const pipeline: Bench = {
  about: "the gateway beside others (also without a name); --help tells more",
  takesFlags: true,
  run: ({ print }, flags) => runPipeline(flags, print),
};

const growth: Bench = {
  about: "how the cost grows with bytes and events",
  takesFlags: true,
  run: ({ print }, flags) => runGrowth(flags, print),
};

const cores: Bench = {
  about: "several gateways on one store beside one",
  takesFlags: true,
  run: ({ print }, flags) => runCores(flags, print),
};

const techniques: Bench = {
  about: "what single techniques of a proxy cost beside the raw pipe",
  takesFlags: true,
  run: ({ print }, flags) => runTechniques(flags, print),
};

const report: Bench = {
  about: "the tables of a kept result: report bench/results/FILE",
  takesFlags: true,
  async run({ print }, paths) {
    for (const path of paths) {
      for (const line of reportLines(await readResult(path))) print(line);
    }
  },
};

/** The benchmarks by name. */
export const BENCHES: ReadonlyMap<string, Bench> = new Map([
  ["pipeline", pipeline],
  ["growth", growth],
  ["cores", cores],
  ["techniques", techniques],
  ["report", report],
  ["ledger", ledger],
  ["soak", soak],
]);

/** Runs the benchmark that the arguments name. Gives the exit code: 2 where they name none. */
export async function runBench(
  args: readonly string[],
  context: BenchContext,
): Promise<number> {
  const isNamed = args[0] !== undefined && !args[0].startsWith("--");
  const [name = "", ...flags] = isNamed ? args : ["pipeline", ...args];
  const bench = BENCHES.get(name);
  if (bench === undefined || flags.length > 0 && !bench.takesFlags) {
    context.print("deno task bench [NAME] [FLAGS]");
    for (const [known, { about }] of BENCHES) {
      context.print(`  ${known.padEnd(10)} ${about}`);
    }
    return 2;
  }
  return await bench.run(context, flags) ?? 0;
}

const MEASURE_MS = 3000;

if (import.meta.main) {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => {
      endAll();
      Deno.exit(130);
    });
  }
  const postgresUrl = Deno.env.get("TEST_POSTGRES_URL");
  Deno.exitCode = await runBench(Deno.args, {
    // deno-lint-ignore no-console
    print: (line) => console.log(line),
    measureMs: MEASURE_MS,
    ...(postgresUrl === undefined ? {} : { postgresUrl }),
  });
}
