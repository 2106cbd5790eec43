/**
 * `deno task bench growth`: how the cost grows. Bytes and events are doubled again and again, and the exponent is told: 1 is linear.
 * Below 1 is what every call costs whatever its size; well above it, something is looked at again and again. The exponent of the
 * upper half of the sizes is the one to look at.
 *
 * @module
 */
import { startChild } from "./child.ts";
import { openCpuClock } from "./cpu_time.ts";
import { type Instruments, measure } from "./measure.ts";
import { OptionsError, parseOptions } from "./options.ts";
import { DEFAULT_PLAN } from "./reply_plan.ts";
import { DIRECTIONS, type ExchangeKind, scenarioOf } from "./scenarios.ts";
import { exponent, median } from "./statistics.ts";
import { figure, tableLines } from "./table.ts";
import { ownGateway } from "./targets/own_gateway.ts";
import { rawPipe } from "./targets/raw_pipe.ts";
import type { Target, TargetKind, Upstream } from "./targets/target.ts";

/** Something that grows. */
interface Growth {
  readonly name: string;
  readonly about: string;
  /** From the least to the most, each double the one before. */
  readonly sizes: readonly number[];
  /** What is asked at a size. */
  kind(size: number): ExchangeKind;
}

const WHOLE: ExchangeKind = {
  name: "growth",
  about: "",
  unit: "request",
  plan: DEFAULT_PLAN,
  stream: false,
  promptBytes: 100,
  connections: 4,
  measures: "cpu",
};

const GROWTHS: readonly Growth[] = [
  {
    name: "request bytes",
    about: "whole reply, the prompt grows",
    sizes: doubled(50_000, 6),
    kind: (size) => ({ ...WHOLE, promptBytes: size }),
  },
  {
    name: "reply bytes",
    about: "whole reply, its text grows",
    sizes: doubled(50_000, 6),
    kind: (size) => ({
      ...WHOLE,
      plan: { ...DEFAULT_PLAN, events: 10, textBytes: size / 10 },
    }),
  },
  {
    name: "events",
    about: "stream, one write each, the number of events grows",
    sizes: doubled(100, 6),
    kind: (size) => ({
      ...WHOLE,
      stream: true,
      plan: { ...DEFAULT_PLAN, events: size },
    }),
  },
  {
    name: "frame bytes",
    about: "stream of 4 events whose text grows",
    sizes: doubled(1_000, 12),
    kind: (size) => ({
      ...WHOLE,
      stream: true,
      plan: { ...DEFAULT_PLAN, events: 4, textBytes: size },
    }),
  },
];

function doubled(least: number, times: number): readonly number[] {
  return Array.from({ length: times }, (_, power) => least * 2 ** power);
}

/** Runs it. Gives the exit code: 1 where a reply was wrong, 2 where a flag is not understood. */
export async function runGrowth(
  flags: readonly string[],
  print: (line: string) => void,
): Promise<number> {
  try {
    const { gatewayFolders: [folder = ""], rounds, ms, gatewayFlags } =
      parseOptions(flags);
    await using stack = new AsyncDisposableStack();
    const clock = stack.use(openCpuClock());
    const mock = stack.use(startChild("mock_upstream.ts"));
    // What it says is in its file.
    const upstream = await mock.next() as Upstream;
    const load = stack.use(startChild("load.ts"));
    const started = async (kind: TargetKind): Promise<Target> =>
      stack.use(await stack.use(await kind.prepare(upstream)).start());
    const instruments = { clock, load };
    const pipe = await started(rawPipe);
    const gateway = await started(
      ownGateway({ folder, denoFlags: gatewayFlags }),
    );
    let wrong = 0;
    for (const growth of GROWTHS) {
      const { lines, faults } = await measureGrowth(
        instruments,
        growth,
        { pipe, gateway },
        { rounds, ms },
      );
      for (const line of lines) print(line);
      wrong += faults;
    }
    print(
      wrong === 0 ? "every reply was right" : `${wrong} replies were WRONG`,
    );
    return wrong === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    print(error.message);
    return 2;
  }
}

/** A direction on a target, and what each size cost. */
interface Series {
  readonly name: string;
  readonly target: Target;
  readonly direction: (typeof DIRECTIONS)[number];
  /** Of each size: the processor time of a request in each round. */
  readonly micros: readonly number[][];
}

async function measureGrowth(
  instruments: Instruments,
  growth: Growth,
  { pipe, gateway }: { readonly pipe: Target; readonly gateway: Target },
  { rounds, ms }: { readonly rounds: number; readonly ms: number },
): Promise<{ readonly lines: readonly string[]; readonly faults: number }> {
  const series = (
    name: string,
    target: Target,
    caller: string,
    to: string,
  ): readonly Series[] =>
    DIRECTIONS.filter((one) => one.caller === caller && one.upstream === to)
      .map((direction) => ({
        name,
        target,
        direction,
        micros: growth.sizes.map(() => []),
      }));
  const all = [
    ...series("raw pipe", pipe, "messages", "messages"),
    ...series("messages", gateway, "messages", "messages"),
    ...series("messages to chat", gateway, "messages", "chat_completions"),
    ...series("chat to messages", gateway, "chat_completions", "messages"),
    ...series(
      "chat to generate",
      gateway,
      "chat_completions",
      "generate_content",
    ),
  ];
  let faults = 0;
  // The first round only warms up.
  for (let round = 0; round <= rounds; round++) {
    for (const [at, size] of growth.sizes.entries()) {
      for (const { target, direction, micros } of all) {
        const address = target.address(direction);
        if (address === undefined) continue;
        const { cpuMicros, result } = await measure(
          instruments,
          target,
          address,
          scenarioOf(growth.kind(size), direction),
          round === 0 ? ms / 4 : ms,
        );
        faults += result.faults;
        if (round > 0 && cpuMicros !== undefined) micros[at]?.push(cpuMicros);
      }
    }
  }
  return { lines: growthLines(growth, all), faults };
}

function growthLines(
  { name, about, sizes }: Growth,
  all: readonly Series[],
): readonly string[] {
  return [
    `${name}: ${about}; CPU µs of the process for a request`,
    ...tableLines([
      ["", ...sizes.map(sizeText), "exponent", "upper half"],
      ...all.map((series) => {
        const points = sizes.map((x, at) => ({
          x,
          y: median(series.micros[at] ?? []),
        }));
        return [
          series.name,
          ...points.map(({ y }) => figure(y)),
          figure(exponent(points)),
          // Where what every call costs no longer counts.
          figure(exponent(points.slice(-Math.ceil(points.length / 2)))),
        ];
      }),
    ]),
    "",
  ];
}

function sizeText(size: number): string {
  return size >= 1e6
    ? `${figure(size / 1e6)}M`
    : size >= 10_000
    ? `${(size / 1000).toFixed(0)}K`
    : String(size);
}
