/**
 * `deno task bench growth`: how processor time grows with bytes and events. Sizes are doubled
 * several times and the exponent is fitted: 1 is linear. Below 1 the fixed cost of a call
 * dominates; well above 1 bytes are processed repeatedly. The exponent of the upper half of the
 * sizes matters most.
 */
import type { BenchContext } from "../bench.ts";
import { startChild } from "../load/child.ts";
import { startMock } from "../mock/start_mock.ts";
import { openCpuClock } from "../measure/cpu_time.ts";
import { type Instruments, measure } from "../measure/measure.ts";
import { parseOptions } from "../options.ts";
import type { Figures } from "../report/part_result.ts";
import { DEFAULT_PLAN } from "../load/reply_plan.ts";
import {
  DIRECTIONS,
  type ExchangeKind,
  scenarioOf,
} from "../measure/scenarios.ts";
import { exponent, median } from "../report/statistics.ts";
import { figure, tableLines } from "../report/table.ts";
import { ownGateway } from "../targets/own_gateway.ts";
import { rawPipe } from "../targets/raw_pipe.ts";
import type { Target, TargetKind } from "../targets/target.ts";

/** A quantity that grows. */
interface Growth {
  readonly name: string;
  readonly about: string;
  /** Ascending; each is twice the one before. */
  readonly sizes: readonly number[];
  /** The exchange of a size. */
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

/** Runs the benchmark. Returns the exit code: 1 when a reply is wrong. */
export async function runGrowth(
  flags: readonly string[],
  { print, record }: BenchContext,
): Promise<number> {
  const { gatewayFolders: [folder = ""], rounds, ms, gatewayFlags } =
    parseOptions(flags);
  await using stack = new AsyncDisposableStack();
  const clock = stack.use(openCpuClock());
  const upstream = await startMock(stack);
  const load = stack.use(startChild("load/load.ts"));
  const started = async (kind: TargetKind): Promise<Target> =>
    stack.use(await stack.use(await kind.prepare(upstream)).start());
  const instruments = { clock, load };
  const pipe = await started(rawPipe);
  const gateway = await started(
    ownGateway({ folder, denoFlags: gatewayFlags }),
  );
  let wrong = 0;
  for (const growth of GROWTHS) {
    const { lines, figures, faults } = await measureGrowth(
      instruments,
      growth,
      { pipe, gateway },
      { rounds, ms },
    );
    for (const line of lines) print(line);
    for (const row of figures) record?.(row);
    wrong += faults;
  }
  print(
    wrong === 0 ? "every reply was correct" : `${wrong} replies were WRONG`,
  );
  return wrong === 0 ? 0 : 1;
}

/** The measurements of one direction on one target. */
interface Series {
  readonly name: string;
  readonly target: Target;
  readonly direction: (typeof DIRECTIONS)[number];
  /** For each size, the processor time per request in each round. */
  readonly micros: readonly number[][];
}

interface GrowthResult {
  readonly lines: readonly string[];
  readonly figures: readonly Figures[];
  readonly faults: number;
}

async function measureGrowth(
  instruments: Instruments,
  growth: Growth,
  { pipe, gateway }: { readonly pipe: Target; readonly gateway: Target },
  { rounds, ms }: { readonly rounds: number; readonly ms: number },
): Promise<GrowthResult> {
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
  // The first round is a warm-up.
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
  return {
    lines: growthLines(growth, all),
    figures: all.map(({ name, micros }) => ({
      growth: growth.name,
      target: name,
      sizes: growth.sizes,
      cpuMicros: micros.map(median),
    })),
    faults,
  };
}

function growthLines(
  { name, about, sizes }: Growth,
  all: readonly Series[],
): readonly string[] {
  return [
    `${name}: ${about}; CPU µs of the process per request`,
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
          // The fixed cost of a call matters less here.
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
