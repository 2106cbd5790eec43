/**
 * `deno task bench techniques`: the cost of single proxy techniques, compared with the raw pipe,
 * without a gateway around them.
 */
import type { BenchContext } from "../bench.ts";
import { startChild } from "../load/child.ts";
import { startMock } from "../mock/start_mock.ts";
import { openCpuClock } from "../measure/cpu_time.ts";
import { measureMemory } from "../measure/memory.ts";
import { parseOptions } from "../options.ts";
import { cellLines, memoryLines } from "../report/report.ts";
import {
  type InstalledTarget,
  type RunningTarget,
  runRounds,
} from "../measure/rounds.ts";
import { isPassThrough } from "../targets/target.ts";
import { summarise } from "../report/summary.ts";
import { direct } from "../targets/direct.ts";
import { rawPipe } from "../targets/raw_pipe.ts";
import {
  passThroughAddress,
  siteFor,
  type TargetKind,
} from "../targets/target.ts";

const TECHNIQUES: readonly {
  readonly name: string;
  readonly about: string;
}[] = [
  { name: "request-read", about: "reads the whole request body" },
  {
    name: "both-read",
    about: "also reads the reply's bytes, with fetch's reader",
  },
  { name: "undici", about: "reads both with undici's dispatcher" },
  {
    name: "undici-joined",
    about: "also joins the bytes of one socket read into one piece",
  },
];

function technique({ name, about }: typeof TECHNIQUES[number]): TargetKind {
  return {
    name,
    about,
    prepare: ({ port }) =>
      siteFor(async () => {
        const child = startChild("targets/technique_server.ts", [
          name,
          String(port),
        ]);
        // The message's shape is defined in technique_server.ts.
        const listening = await child.receive() as { readonly port: number };
        return {
          pid: child.pid,
          address: (direction) => passThroughAddress(listening.port, direction),
          [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
        };
      }),
  };
}

/** Runs the benchmark. Returns the exit code: 1 when a reply is wrong. */
export async function runTechniques(
  flags: readonly string[],
  { print, record }: BenchContext,
): Promise<number> {
  const options = parseOptions(flags);
  await using stack = new AsyncDisposableStack();
  const clock = stack.use(openCpuClock());
  const upstream = await startMock(stack);
  const load = stack.use(startChild("load/load.ts"));
  const started = async (
    kind: TargetKind,
  ): Promise<InstalledTarget & RunningTarget> => {
    const site = stack.use(await kind.prepare(upstream));
    return {
      name: kind.name,
      site,
      target: stack.use(await site.start()),
    };
  };
  const pipe = await started(rawPipe);
  const entrants = [pipe];
  for (const one of TECHNIQUES) entrants.push(await started(technique(one)));
  const rows = summarise(
    await runRounds(
      { clock, load },
      [{
        tls: false,
        targets: entrants,
        pipe,
        direct: await started(direct),
      }],
      options.scenarios.filter(({ direction, tls }) =>
        !tls && isPassThrough(direction)
      ),
      { ...options, progress: print },
    ),
  );
  const memory = options.memory
    ? await Promise.all(entrants.map((entrant) => measureMemory(entrant)))
    : [];
  for (const { name, about } of TECHNIQUES) {
    print(`${name}: ${about}`);
  }
  const found = memory.filter((row) => row !== undefined);
  for (const row of [...rows, ...found]) record?.({ ...row });
  for (const line of [...cellLines(rows), ...memoryLines(found)]) print(line);
  return [...rows, ...found].every(({ faults }) => faults === 0) ? 0 : 1;
}
