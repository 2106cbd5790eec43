/**
 * `deno task bench`: compares the gateway with a direct connection, the raw pipe, nginx and
 * Portkey, in one run.
 */
import { startChild } from "../load/child.ts";
import { startMock } from "../mock/start_mock.ts";
import { openCpuClock } from "../measure/cpu_time.ts";
import { measureMemory, measureStart } from "../measure/memory.ts";
import {
  OPTIONS_HELP,
  OptionsError,
  parseOptions,
  type PipelineOptions,
} from "../options.ts";
import { profileLines } from "../measure/profile.ts";
import { reportLines } from "../report/report.ts";
import {
  keepResult,
  machine,
  resultText,
  type RunResult,
  versionOf,
} from "../report/results.ts";
import {
  type Cell,
  type InstalledTarget,
  type RunningTarget,
  runRounds,
  type TargetSet,
} from "../measure/rounds.ts";
import { directionName } from "../measure/scenarios.ts";
import { shortestRunMs } from "../measure/shortest_run.ts";
import {
  measureSteady,
  type SteadyOptions,
  type SteadyRow,
} from "../measure/steady.ts";
import { summarise } from "../report/summary.ts";
import { direct } from "../targets/direct.ts";
import { nginx, nginxProgram } from "../targets/nginx.ts";
import { otherTarget } from "../targets/other.ts";
import { ownGateway } from "../targets/own_gateway.ts";
import { portkey } from "../targets/portkey.ts";
import { rawPipe } from "../targets/raw_pipe.ts";
import { Skipped, type TargetKind, type Upstream } from "../targets/target.ts";

const CERTIFICATES =
  new URL("../../tests/support/certificates/", import.meta.url).pathname;
const RESULTS = new URL("../results/", import.meta.url);

/** Runs the benchmark. Returns the exit code: 1 when a reply is wrong, 2 for an invalid flag. */
export async function runPipeline(
  flags: readonly string[],
  print: (line: string) => void,
): Promise<number> {
  if (flags.includes("--help")) {
    for (const line of ["deno task bench [FLAGS]", ...OPTIONS_HELP]) {
      print(line);
    }
    return 0;
  }
  let options: PipelineOptions;
  try {
    options = parseOptions(flags);
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    for (const line of [error.message, "", ...OPTIONS_HELP]) print(line);
    return 2;
  }
  const leastSeconds = Math.ceil(shortestRunMs(options) / 1000);
  print(`at least ${leastSeconds} s, and what starts and checks take`);
  const result = await run(options, print);
  for (const line of reportLines(result)) print(line);
  if (options.cpuProfile !== undefined) {
    for (const line of await profileLines(options.cpuProfile)) print(line);
  }
  if (options.json !== undefined) {
    await Deno.writeTextFile(options.json, resultText(result));
  } else if (options.complete) {
    print(`result in bench/results/${await keepResult(result, RESULTS)}`);
  }
  return isCorrect(result) ? 0 : 1;
}

/** Whether every reply was correct. */
export function isCorrect(
  { rows, memory, steady = [] }: Pick<RunResult, "rows" | "memory" | "steady">,
): boolean {
  return [...rows, ...memory, ...steady].every(({ faults }) => faults === 0);
}

async function run(
  options: PipelineOptions,
  print: (line: string) => void,
): Promise<RunResult> {
  const facts = {
    date: new Date().toISOString(),
    machine: machine(),
    versions: await versions(),
    ...options.tls ? { tls: true } : {},
    rounds: options.rounds,
    pacedRounds: options.pacedRounds,
    ms: options.ms,
  };
  const skipped: Skip[] = [];
  await using stack = new AsyncDisposableStack();
  const kinds = kindsFor(options);
  const fields: Field[] = [];
  for (const tls of upstreamsFor(options)) {
    const upstream = await startUpstream(options, tls, stack);
    const entrants = await install(kinds, upstream, options, skipped, stack);
    fields.push({ tls, entrants });
  }
  const rows = options.scenarios.length === 0
    ? []
    : summarise(await measureExchanges(fields, options, skipped, print));
  const entrants = fields.find(({ tls }) => tls === options.tls)?.entrants ??
    [];
  // Only targets that this program can start afresh.
  const fresh = entrants.filter(({ name }) =>
    name !== direct.name && options.others.every((other) => other.name !== name)
  );
  if (options.memory) print("memory");
  const memory = options.memory
    ? await Promise.all(
      fresh.map((entrant) => measureMemory(entrant, options.laterSeconds)),
    )
    : [];
  if (options.steady !== undefined) print("steady");
  const steady = options.steady === undefined
    ? undefined
    : await steadyRows(entrants, fresh, options.steady);
  if (options.starts > 0) print("start");
  const starts = [];
  for (const entrant of options.starts > 0 ? fresh : []) {
    starts.push(await measureStart(entrant, options.starts));
  }
  return {
    ...facts,
    targets: kinds.map(({ name, about }) => ({ name, about })),
    skipped,
    rows,
    memory: memory.filter((row) => row !== undefined),
    ...steady === undefined ? {} : { steady },
    starts: starts.filter((row) => row !== undefined),
  };
}

interface Skip {
  readonly what: string;
  readonly why: string;
}

/** The installed targets that call one upstream. */
interface Field {
  readonly tls: boolean;
  readonly entrants: readonly InstalledTarget[];
}

/**
 * The upstreams that a run needs, false for the plain one and true for the one over TLS. Memory,
 * steady rates and starts are measured over TLS only with `--tls`.
 */
function upstreamsFor(
  { scenarios, tls, memory, steady, starts }: PipelineOptions,
): readonly boolean[] {
  const needsOther = memory || steady !== undefined || starts > 0;
  return [true, false].filter((one) =>
    scenarios.some((scenario) => scenario.tls === one) ||
    needsOther && one === tls
  );
}

async function startUpstream(
  options: PipelineOptions,
  tls: boolean,
  stack: AsyncDisposableStack,
): Promise<Upstream> {
  const upstream = await startMock(stack, [
    String(tls === options.tls ? options.upstreamPort : 0),
    ...tls ? [`${CERTIFICATES}right`] : [],
  ]);
  return {
    ...upstream,
    ...tls ? { authority: `${CERTIFICATES}authority.pem` } : {},
  };
}

/** Installs the targets in front of an upstream, except for those that this machine lacks. */
async function install(
  kinds: readonly TargetKind[],
  upstream: Upstream,
  { tls, others }: PipelineOptions,
  skipped: Skip[],
  stack: AsyncDisposableStack,
): Promise<readonly InstalledTarget[]> {
  const entrants: InstalledTarget[] = [];
  const overTls = upstream.authority !== undefined;
  for (const kind of kinds) {
    // A gateway that runs already calls the upstream whose port the command line sets.
    if (overTls !== tls && others.some(({ name }) => name === kind.name)) {
      continue;
    }
    try {
      const site = stack.use(await kind.prepare(upstream));
      entrants.push({ name: kind.name, site });
    } catch (error) {
      if (!(error instanceof Skipped)) throw error;
      if (skipped.some(({ what }) => what === kind.name)) continue;
      skipped.push({ what: kind.name, why: error.message });
    }
  }
  return entrants;
}

async function steadyRows(
  entrants: readonly InstalledTarget[],
  fresh: readonly InstalledTarget[],
  options: SteadyOptions,
): Promise<readonly SteadyRow[]> {
  using clock = openCpuClock();
  await using load = startChild("load/load.ts");
  const base = entrants.filter(({ name }) => name === direct.name);
  return await measureSteady({ clock, load }, [...base, ...fresh], options);
}

async function measureExchanges(
  fields: readonly Field[],
  options: PipelineOptions,
  skipped: Skip[],
  print: (line: string) => void,
): Promise<readonly Cell[]> {
  await using stack = new AsyncDisposableStack();
  const clock = stack.use(openCpuClock());
  const load = stack.use(startChild("load/load.ts"));
  const sets: TargetSet[] = [];
  for (const { tls, entrants } of fields) {
    const scenarios = options.scenarios.filter((one) => one.tls === tls);
    if (scenarios.length === 0) continue;
    const targets: RunningTarget[] = [];
    for (const { name, site } of entrants) {
      const target = stack.use(await site.start());
      targets.push({ name, target });
      for (const { direction } of scenarios) {
        if (target.address(direction) === undefined) {
          reportUnsupported(name, directionName(direction), skipped);
        }
      }
    }
    sets.push(targetSet(tls, targets));
  }
  return await runRounds(
    { load, clock },
    sets,
    options.scenarios,
    { ...options, progress: print },
  );
}

function targetSet(
  tls: boolean,
  targets: readonly RunningTarget[],
): TargetSet {
  const findTarget = (wanted: string): RunningTarget => {
    const found = targets.find(({ name }) => name === wanted);
    if (found === undefined) throw new Error(`there is no ${wanted}`);
    return found;
  };
  return {
    tls,
    targets: targets.filter(({ name }) => name !== direct.name),
    direct: findTarget(direct.name),
    pipe: findTarget(rawPipe.name),
  };
}

/**
 * Reports a direction that a gateway does not support. Proxies without translation are not
 * reported.
 */
function reportUnsupported(
  name: string,
  direction: string,
  skipped: Skip[],
): void {
  const what = `${name}, ${direction}`;
  const translates = ![direct, rawPipe, nginx].some((kind) =>
    kind.name === name
  );
  if (translates && !skipped.some((one) => one.what === what)) {
    skipped.push({ what, why: "it does not support this direction" });
  }
}

function kindsFor(options: PipelineOptions): readonly TargetKind[] {
  return [
    direct,
    rawPipe,
    ...options.gatewayFolders.flatMap((folder, index) =>
      gatewaysOf(
        folder,
        index === 0 ? "gateway" : `gateway ${index + 1}`,
        options,
      )
    ),
    ...[nginx, portkey()].filter(({ name }) => options.peers.includes(name)),
    ...options.others.map(otherTarget),
  ];
}

/** A checkout as one target, or as one for each version of Deno. */
function gatewaysOf(
  folder: string,
  name: string,
  { gatewayFlags: denoFlags, denoVersions, gatewaySettings }: PipelineOptions,
): readonly TargetKind[] {
  if (denoVersions.length === 0) {
    return [
      { ...ownGateway({ folder, denoFlags }), name },
      ...gatewaySettings.map((settings) => ({
        ...ownGateway({ folder, denoFlags, env: settingsOf(settings) }),
        name: `${name} ${settings}`,
      })),
    ];
  }
  return denoVersions.map((denoVersion) => ({
    ...ownGateway({ folder, denoFlags, denoVersion }),
    name: `${name} on ${denoVersion}`,
  }));
}

/** Settings such as `GATEWAY_CALLS_DAYS=0,GATEWAY_CONSOLE=off`. */
function settingsOf(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text.split(",").map((setting) => {
      const at = setting.indexOf("=");
      if (at < 1) {
        throw new OptionsError("--gateway-setting must be NAME=VALUE,…");
      }
      return [setting.slice(0, at), setting.slice(at + 1)];
    }),
  );
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
