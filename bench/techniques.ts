/**
 * `deno task bench techniques`: what single techniques of a proxy cost beside the raw pipe, without a gateway around them.
 *
 * @module
 */
import { startChild } from "./child.ts";
import { openCpuClock } from "./cpu_time.ts";
import { measureMemory } from "./memory.ts";
import { OptionsError, parseOptions, type PipelineOptions } from "./options.ts";
import { cellLines, memoryLines } from "./report.ts";
import { type Contestant, type Entrant, runRounds } from "./rounds.ts";
import { isPassThrough } from "./targets/target.ts";
import { summarised } from "./summary.ts";
import { direct } from "./targets/direct.ts";
import { rawPipe } from "./targets/raw_pipe.ts";
import { handedThrough, siteFor, type TargetKind } from "./targets/target.ts";

const TECHNIQUES: readonly {
  readonly name: string;
  readonly about: string;
}[] = [
  { name: "request-read", about: "the request's body is read whole" },
  {
    name: "both-read",
    about: "and the reply's bytes are read, with fetch's reader",
  },
  { name: "undici", about: "the same with undici's dispatcher" },
  {
    name: "undici-joined",
    about: "and what one read of the socket brought goes on in one piece",
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
        // What the program says is in its file.
        const said = await child.next() as { readonly port: number };
        return {
          pid: child.pid,
          address: (direction) => handedThrough(said.port, direction),
          [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
        };
      }),
  };
}

/** Runs it. Gives the exit code: 1 where a reply was wrong, 2 where a flag is not understood. */
export async function runTechniques(
  flags: readonly string[],
  print: (line: string) => void,
): Promise<number> {
  let options: PipelineOptions;
  try {
    options = parseOptions(flags);
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    print(error.message);
    return 2;
  }
  await using stack = new AsyncDisposableStack();
  const clock = stack.use(openCpuClock());
  const mock = stack.use(startChild("mock_upstream.ts"));
  // What it says is in its file.
  const { port } = await mock.next() as { readonly port: number };
  const load = stack.use(startChild("load.ts"));
  const started = async (
    kind: TargetKind,
  ): Promise<Entrant & Contestant> => {
    const site = stack.use(await kind.prepare({ port, pid: mock.pid }));
    return {
      name: kind.name,
      site,
      target: stack.use(await site.start()),
    };
  };
  const pipe = await started(rawPipe);
  const entrants = [pipe];
  for (const one of TECHNIQUES) entrants.push(await started(technique(one)));
  const rows = summarised(
    await runRounds(
      { clock, load },
      { contestants: entrants, pipe, direct: await started(direct) },
      options.scenarios.filter(({ direction }) => isPassThrough(direction)),
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
  for (const line of [...cellLines(rows), ...memoryLines(found)]) print(line);
  return [...rows, ...found].every(({ faults }) => faults === 0) ? 0 : 1;
}
