/**
 * `deno task bench`: what the gateway costs, side by side with no proxy, the raw pipe, nginx and another gateway, in one run.
 *
 * @module
 */
import { type Child, startChild } from "./child.ts";
import { openCpuClock } from "./cpu_time.ts";
import { measureMemory, measureStart, type MemoryRow } from "./memory.ts";
import {
  OPTIONS_HELP,
  OptionsError,
  parseOptions,
  type PipelineOptions,
} from "./options.ts";
import { reportLines } from "./report.ts";
import {
  keepResult,
  machine,
  resultText,
  type RunResult,
  versionOf,
} from "./results.ts";
import { type Contestant, runRounds } from "./rounds.ts";
import { directionName } from "./scenarios.ts";
import { summarised } from "./summary.ts";
import { direct } from "./targets/direct.ts";
import { nginx, nginxProgram } from "./targets/nginx.ts";
import { otherTarget } from "./targets/other.ts";
import { ownGateway } from "./targets/own_gateway.ts";
import { portkey } from "./targets/portkey.ts";
import { rawPipe } from "./targets/raw_pipe.ts";
import { Skipped, type TargetKind, type Upstream } from "./targets/target.ts";

const RESULTS = new URL("results/", import.meta.url);

/** Runs it. Gives the exit code: 1 where a reply was wrong, 2 where a flag is not understood. */
export async function runPipeline(
  flags: readonly string[],
  print: (line: string) => void,
): Promise<number> {
  let options: PipelineOptions;
  try {
    options = parseOptions(flags);
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    for (const line of [error.message, "", ...OPTIONS_HELP]) print(line);
    return 2;
  }
  const result = await run(options, print);
  for (const line of reportLines(result)) print(line);
  if (options.json !== undefined) {
    await Deno.writeTextFile(options.json, resultText(result));
  } else if (options.complete) {
    print(`kept as bench/results/${await keepResult(result, RESULTS)}`);
  }
  return isRight(result) ? 0 : 1;
}

/** Whether no reply was wrong. */
export function isRight(
  { rows, memory }: Pick<RunResult, "rows" | "memory">,
): boolean {
  return [...rows, ...memory].every(({ faults }) => faults === 0);
}

async function run(
  options: PipelineOptions,
  print: (line: string) => void,
): Promise<RunResult> {
  const facts = {
    date: new Date().toISOString(),
    machine: machine(),
    versions: await versions(),
    rounds: options.rounds,
    pacedRounds: options.pacedRounds,
    ms: options.ms,
  };
  const skipped: { readonly what: string; readonly why: string }[] = [];
  const kinds = kindsFor(options);
  await using mock = startChild("mock_upstream.ts", [
    String(options.upstreamPort),
  ]);
  // What it says is in its file.
  const upstream = await mock.next() as Upstream;
  const rows = options.scenarios.length === 0
    ? []
    : summarised(await exchanges(kinds, upstream, options, skipped, print));
  // Others that run already cannot be started, nor are they as they were when they had done nothing.
  const own = kinds.filter(({ name }) =>
    options.others.every((other) => other.name !== name)
  );
  if (options.memory) print("memory");
  const memory = options.memory
    ? await Promise.all(own.map((kind) => memoryOf(kind, upstream, skipped)))
    : [];
  if (options.starts > 0) print("start");
  const starts = [];
  for (const kind of options.starts > 0 ? own : []) {
    starts.push(
      await orSkip(
        `${kind.name}/start`,
        skipped,
        () => measureStart(kind, upstream, options.starts),
      ),
    );
  }
  return {
    ...facts,
    targets: kinds.map(({ name, about }) => ({ name, about })),
    skipped,
    rows,
    memory: memory.filter((row) => row !== undefined),
    starts: starts.filter((row) => row !== undefined),
  };
}

async function exchanges(
  kinds: readonly TargetKind[],
  upstream: Upstream,
  options: PipelineOptions,
  skipped: { readonly what: string; readonly why: string }[],
  print: (line: string) => void,
) {
  await using stack = new AsyncDisposableStack();
  const clock = stack.use(openCpuClock());
  const load: Child = stack.use(startChild("load.ts"));
  const started = async (kind: TargetKind): Promise<Contestant> => ({
    name: kind.name,
    target: stack.use(await kind.start(upstream)),
  });
  const baseline = {
    direct: await started(direct),
    pipe: await started(rawPipe),
  };
  const contestants: Contestant[] = [baseline.pipe];
  for (const kind of kinds) {
    if (kind === rawPipe) continue;
    const contestant = await orSkip(kind.name, skipped, () => started(kind));
    if (contestant === undefined) continue;
    contestants.push(contestant);
    for (const { name, direction } of options.scenarios) {
      if (contestant.target.address(direction) === undefined) {
        notKnown(kind, directionName(direction), name, skipped);
      }
    }
  }
  return await runRounds(
    { load, clock },
    { contestants, ...baseline },
    options.scenarios,
    { ...options, progress: print },
  );
}

/** A gateway that lacks a direction is told of; a proxy lacks all that need a translation. */
function notKnown(
  kind: TargetKind,
  direction: string,
  scenario: string,
  skipped: { readonly what: string; readonly why: string }[],
): void {
  const what = `${kind.name}, ${direction}`;
  if (kind === nginx || skipped.some((one) => one.what === what)) return;
  skipped.push({
    what,
    why: `it does not know this direction (such as ${scenario})`,
  });
}

function memoryOf(
  kind: TargetKind,
  upstream: Upstream,
  skipped: { readonly what: string; readonly why: string }[],
): Promise<MemoryRow | undefined> {
  return orSkip(
    `${kind.name}/memory`,
    skipped,
    () => measureMemory(kind, upstream),
  );
}

async function orSkip<T>(
  what: string,
  skipped: { readonly what: string; readonly why: string }[],
  make: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await make();
  } catch (error) {
    if (!(error instanceof Skipped)) throw error;
    skipped.push({ what, why: error.message });
    return undefined;
  }
}

function kindsFor(options: PipelineOptions): readonly TargetKind[] {
  return [
    rawPipe,
    ...options.gatewayFolders.map((folder, index) => {
      const kind = ownGateway({ folder, denoFlags: options.gatewayFlags });
      return index === 0 ? kind : { ...kind, name: `gateway ${index + 1}` };
    }),
    ...[nginx, portkey].filter(({ name }) => options.peers.includes(name)),
    ...options.others.map(otherTarget),
  ];
}

async function versions(): Promise<Readonly<Record<string, string>>> {
  const program = await nginxProgram();
  const found = {
    Deno: Deno.version.deno,
    V8: Deno.version.v8,
    Node: await versionOf("node", "--version"),
    nginx: program === undefined ? undefined : await versionOf(program, "-v"),
  };
  return Object.fromEntries(
    Object.entries(found).filter((entry): entry is [string, string] =>
      entry[1] !== undefined
    ),
  );
}
