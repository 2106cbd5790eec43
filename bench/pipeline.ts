/**
 * `deno task bench`: what the gateway costs, side by side with no proxy, the raw pipe, nginx and another gateway.
 *
 * @module
 */
import { startChild } from "./child.ts";
import { openCpuClock } from "./cpu_time.ts";
import { mostRatio } from "./goals.ts";
import { parseOptions, type PipelineOptions } from "./options.ts";
import { type Cell, type Contestant, runRounds } from "./rounds.ts";
import { chosenScenarios } from "./scenarios.ts";
import { median, spreadOf } from "./statistics.ts";
import { figure, tableLines } from "./table.ts";
import { nginx } from "./targets/nginx.ts";
import { ownGateway } from "./targets/own_gateway.ts";
import { rawPipe } from "./targets/raw_pipe.ts";
import { Skipped, type TargetKind } from "./targets/target.ts";

/** Runs it. Gives the exit code: 1 where a reply was wrong. */
export async function runPipeline(
  args: readonly string[],
  print: (line: string) => void,
): Promise<number> {
  const options = parseOptions(args);
  const scenarios = chosenScenarios(options.scenarios);
  await using stack = new AsyncDisposableStack();
  const clock = stack.use(openCpuClock());
  const mock = stack.use(startChild("mock_upstream.ts"));
  // What it says is in its file.
  const { port } = await mock.next() as { readonly port: number };
  const load = stack.use(startChild("load.ts"));
  const contestants: Contestant[] = [];
  for (const kind of kindsFor(options)) {
    try {
      const target = stack.use(await kind.start({ port }));
      contestants.push({ name: kind.name, target });
    } catch (error) {
      if (!(error instanceof Skipped)) throw error;
      print(`${kind.name}: SKIPPED, because ${error.message}`);
    }
  }
  const pipe = contestants.find(({ name }) => name === rawPipe.name);
  if (pipe === undefined) throw new Error("there is no raw pipe");
  const cells = await runRounds(
    { load, clock },
    contestants,
    pipe,
    scenarios,
    { ...options, progress: () => {} },
  );
  for (const line of cellLines(cells)) print(line);
  return cells.some(({ samples }) =>
      samples.some(({ result }) => result.faults > 0)
    )
    ? 1
    : 0;
}

function kindsFor(options: PipelineOptions): readonly TargetKind[] {
  return [
    rawPipe,
    nginx,
    ...options.gatewayFolders.map((folder, index) => {
      const kind = ownGateway({ folder, denoFlags: options.denoFlags });
      return index === 0 ? kind : { ...kind, name: `gateway ${index + 1}` };
    }),
  ];
}

function cellLines(cells: readonly Cell[]): readonly string[] {
  const rows = cells.map((cell) => {
    const { scenario, target, samples, ratios } = cell;
    const cpu = samples.flatMap(({ cpuMicros }) => cpuMicros ?? []);
    const ratio = spreadOf(ratios);
    const most = target.startsWith("gateway") ? mostRatio(scenario) : undefined;
    const faults = samples.flatMap(({ result }) => result.told);
    return [
      scenario.name,
      target,
      figure(median(cpu)),
      figure(ratio?.median),
      `[${figure(ratio?.low)}–${figure(ratio?.high)}]`,
      most === undefined ? "" : `${most}`,
      most === undefined || ratio === undefined
        ? ""
        : ratio.median <= most
        ? "ok"
        : "over",
      figure(median(samples.map(({ perSecond }) => perSecond))),
      figure(median(samples.map(({ result }) => result.waits.p50))),
      figure(
        median(samples.flatMap(({ result }) => result.delays?.p50 ?? [])),
      ),
      faults.length > 0 ? `WRONG: ${faults[0]}` : "",
    ];
  });
  return tableLines([
    [
      "scenario",
      "target",
      "CPU µs",
      "ratio",
      "range",
      "at most",
      "",
      "per s",
      "wait p50 ms",
      "delay p50 ms",
      "",
    ],
    ...rows,
  ]);
}
