/**
 * `deno task bench`: compares the gateway with others. `deno task bench NAME`: runs another
 * benchmark. A run never fails because of a time, since times depend on the machine; it fails when
 * a reply is wrong.
 */
import { compact } from "../replay/compact.ts";
import { blocks } from "./runs/blocks.ts";
import { books } from "./books/books.ts";
import { runCores } from "./runs/cores.ts";
import { runGrowth } from "./runs/growth.ts";
import { ledger } from "./runs/ledger.ts";
import { live } from "./runs/live.ts";
import { OptionsError } from "./options.ts";
import { runPipeline } from "./runs/pipeline.ts";
import { partResult } from "./report/part_result.ts";
import { reportLines } from "./report/report.ts";
import { reportTable } from "./report/report_table.ts";
import { readResult } from "./report/results.ts";
import { size } from "./runs/size.ts";
import { runTechniques } from "./runs/techniques.ts";
import { soak } from "./soak/soak.ts";
import { killAll } from "./targets/programs.ts";
import { runYardstick } from "./runs/yardstick.ts";
import type { Bench, BenchContext } from "./bench.ts";

const pipeline: Bench = {
  about: "the gateway compared with others (the default); --help lists flags",
  takesFlags: true,
  writesJson: true,
  run: ({ print }, flags) => runPipeline(flags, print),
};

const yardstick: Bench = {
  about:
    "the questions of a buyer, bare and governed: processor time, added time, highest rates, first token, memory; Postgres too if TEST_POSTGRES_URL is set",
  takesFlags: true,
  run: (context, flags) => runYardstick(flags, context),
};

const growth: Bench = {
  about: "how the cost grows with bytes and events",
  takesFlags: true,
  run: (context, flags) => runGrowth(flags, context),
};

const cores: Bench = {
  about:
    "several gateways on one store, compared with one; --processes=1,2,4 --load=shared (or each; absent: both) --accounts=1,1000 --delay=0,5 (Postgres, milliseconds)",
  takesFlags: true,
  run: (context, flags) => runCores(flags, context),
};

const techniques: Bench = {
  about: "cost of single proxy techniques, compared with the raw pipe",
  takesFlags: true,
  run: (context, flags) => runTechniques(flags, context),
};

const TABLE_FLAG = "--table";

const report: Bench = {
  about:
    "the tables of a kept result: report bench/results/FILE; --table FILES: of several, in Markdown",
  takesFlags: true,
  writesJson: true,
  async run({ print }, words) {
    const paths = words.filter((word) => word !== TABLE_FLAG);
    const results = await Promise.all(paths.map(readResult));
    const lines = words.includes(TABLE_FLAG)
      ? reportTable(results)
      : results.flatMap(reportLines);
    for (const line of lines) print(line);
  },
};

/** All benchmarks, by name. */
export const BENCHES: ReadonlyMap<string, Bench> = new Map([
  ["pipeline", pipeline],
  ["yardstick", yardstick],
  ["growth", growth],
  ["cores", cores],
  ["techniques", techniques],
  ["report", report],
  ["ledger", ledger],
  ["books", books],
  ["size", size],
  ["blocks", blocks],
  ["live", live],
  ["soak", soak],
]);

/** Runs the named benchmark. Returns its exit code; 2 for an unknown name or an invalid flag. */
export async function runBench(
  args: readonly string[],
  context: BenchContext,
): Promise<number> {
  const isNamed = args[0] !== undefined && !args[0].startsWith("--");
  const [name = "", ...all] = isNamed ? args : ["pipeline", ...args];
  const bench = BENCHES.get(name);
  const { file, flags } = bench?.writesJson === true
    ? { flags: all }
    : withoutJson(all);
  if (bench === undefined || flags.length > 0 && !bench.takesFlags) {
    context.print("deno task bench [NAME] [FLAGS] [--json=FILE]");
    for (const [known, { about }] of BENCHES) {
      context.print(`  ${known.padEnd(10)} ${about}`);
    }
    return 2;
  }
  try {
    if (file === undefined) return await bench.run(context, flags) ?? 0;
    const { record, text } = partResult(name);
    const code = await bench.run({ ...context, record }, flags) ?? 0;
    await Deno.writeTextFile(file, text());
    return code;
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    context.print(error.message);
    return 2;
  }
}

const JSON_FLAG = "--json=";

function withoutJson(flags: readonly string[]): {
  readonly file?: string;
  readonly flags: readonly string[];
} {
  const file = flags.findLast((flag) => flag.startsWith(JSON_FLAG))
    ?.slice(JSON_FLAG.length);
  return {
    ...compact({ file }),
    flags: flags.filter((flag) => !flag.startsWith(JSON_FLAG)),
  };
}

const MEASURE_MS = 3000;

if (import.meta.main) {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => {
      killAll();
      Deno.exit(130);
    });
  }
  const postgresUrl = Deno.env.get("TEST_POSTGRES_URL");
  Deno.exitCode = await runBench(Deno.args, {
    // deno-lint-ignore no-console
    print: (line) => console.log(line),
    measureMs: MEASURE_MS,
    ...compact({ postgresUrl }),
  });
}
