/**
 * `deno task bench yardstick`: what a buyer asks of a gateway, by the definitions of the open
 * boards. Processor time of a call with eight at once; time added to a call, to the first token and
 * to each event, one at a time, with an upstream that takes 20 ms; the highest rates within bounds;
 * memory. This project's gateway is measured bare (one key, nothing kept) and governed (a plan with
 * limits, a ledger on disk).
 */
import { postgresAt } from "../../gateway/accounts/testing/stores.ts";
import type { BenchContext } from "../bench.ts";
import { startChild } from "../load/child.ts";
import { startMock } from "../mock/start_mock.ts";
import {
  CAN_READ_PROCESSES,
  openCpuClock,
  residentBytes,
} from "../measure/cpu_time.ts";
import { findFrontiers, type Frontier } from "./frontier.ts";
import type { LoadResult, Quantiles } from "../load/load_job.ts";
import {
  type Instruments,
  jobFor,
  measureJob,
  type Sample,
} from "../measure/measure.ts";
import {
  LATER_SECONDS,
  measureMemory,
  type MemoryRow,
} from "../measure/memory.ts";
import { parseOptions, type PipelineOptions } from "../options.ts";
import { pin } from "../load/pinning.ts";
import { DEFAULT_PLAN } from "../load/reply_plan.ts";
import type { InstalledTarget, RunningTarget } from "../measure/rounds.ts";
import { type ExchangeKind, scenarioOf } from "../measure/scenarios.ts";
import { median, type Spread, spreadOf } from "../report/statistics.ts";
import { figure, tableLines } from "../report/table.ts";
import { direct } from "../targets/direct.ts";
import { nginx } from "../targets/nginx.ts";
import { ownGateway } from "../targets/own_gateway.ts";
import { portkey } from "../targets/portkey.ts";
import { rawPipe } from "../targets/raw_pipe.ts";
import { Skipped, type TargetKind } from "../targets/target.ts";

/** The figures of a target. An absent one could not be measured. */
export interface YardstickRow {
  /** Name of the target. */
  readonly target: string;
  /** Microseconds of processor time per call, eight at once. */
  readonly cpuMicros?: Spread;
  /** Milliseconds added to a whole reply, one call at a time; medians over the windows. */
  readonly addedMs?: Quantiles;
  /** Milliseconds added to the first bytes of a stream. */
  readonly firstMs?: Quantiles;
  /** Milliseconds added to each event of a stream with 50 a second. */
  readonly eventMs?: Quantiles;
  /** The highest rates. */
  readonly frontiers: readonly Frontier[];
  /** Resident memory after these measurements, in bytes. */
  readonly steadyBytes?: number;
  /** Memory of a fresh process, with a thousand streams, and after them. */
  readonly memory?: MemoryRow;
  /** Number of windows left out because the direct connection's own time changed meanwhile. */
  readonly discarded: number;
}

const DIRECTION = { caller: "messages", upstream: "messages" } as const;
const UPSTREAM_MS = 20;
const BOUNDS_MS = [1, 5, 10, 50];
/** Ascending by a quarter. */
const RATES = Array.from({ length: 21 }, (_, n) => Math.round(200 * 1.25 ** n));
/** Served: at least this part of the calls that were due. */
const SERVED_PART = 0.95;
/** A window is left out if the direct connection's own time changed by this share. */
const MAX_DRIFT = 0.2;
const TARGET_CORE = 0;
const LOAD_CORE = 1;

const WHOLE: ExchangeKind = {
  name: "yardstick",
  about: "whole reply, 0.2 KB in, 1 KB out",
  unit: "request",
  plan: DEFAULT_PLAN,
  stream: false,
  promptBytes: 100,
  connections: 8,
  measures: "cpu",
};
const AWAITED = { ...DEFAULT_PLAN, waitMs: UPSTREAM_MS };
const ONE_AT_A_TIME: ExchangeKind = { ...WHOLE, plan: AWAITED, connections: 1 };
const FIRST_TOKEN: ExchangeKind = {
  ...ONE_AT_A_TIME,
  plan: { ...AWAITED, events: 10 },
  stream: true,
};
const PACED: ExchangeKind = {
  ...ONE_AT_A_TIME,
  unit: "event",
  plan: { ...AWAITED, events: 100, perSecond: 50 },
  stream: true,
};
/** The connections that are busy at the highest rate within the widest bound. */
const FRONTIER_CONNECTIONS = 256;

/** A part of a result that is compared with the direct connection's. */
type Part = (result: LoadResult) => Quantiles | undefined;

/**
 * Runs the benchmark, with the flags `--rounds`, `--seconds`, `--quick` and `--peers` of the main
 * one. Returns the exit code: 1 when a reply is wrong.
 */
export async function runYardstick(
  flags: readonly string[],
  { print, record, postgresUrl }: BenchContext,
): Promise<number> {
  const options = parseOptions(flags);
  await using stack = new AsyncDisposableStack();
  const clock = stack.use(openCpuClock());
  const upstream = await startMock(stack);
  const load = stack.use(startChild("load/load.ts"));
  const isPinned = (await Promise.all(
    [upstream.pid, load.pid].map((pid) => pin(pid, LOAD_CORE)),
  )).every(Boolean);
  const installed: InstalledTarget[] = [];
  for (const kind of await targetKinds(options, postgresUrl, stack)) {
    try {
      const site = await kind.prepare(upstream);
      installed.push({ name: kind.name, site: stack.use(site) });
    } catch (error) {
      if (!(error instanceof Skipped)) throw error;
      print(`${kind.name}: SKIPPED, because ${error.message}`);
    }
  }
  if (postgresUrl === undefined) {
    print(
      "governed on Postgres: SKIPPED, because TEST_POSTGRES_URL is not set",
    );
  }
  const course = new Course({ load, clock }, options);
  try {
    const rows = await course.run(installed, print);
    for (const row of rows) record?.({ ...row });
    for (const line of yardstickLines(rows)) print(line);
    print(
      isPinned
        ? "each target on one core, the load generator and the mock upstream on another"
        : "all processes on the same cores",
    );
    return 0;
  } catch (error) {
    if (!(error instanceof WrongReply)) throw error;
    print(error.message);
    return 1;
  }
}

class WrongReply extends Error {}

async function targetKinds(
  { gatewayFolders: [folder = ""], gatewayFlags: denoFlags, peers }:
    PipelineOptions,
  postgresUrl: string | undefined,
  stack: AsyncDisposableStack,
): Promise<readonly TargetKind[]> {
  const own = { folder, denoFlags };
  const kinds = [
    direct,
    rawPipe,
    ...[nginx, portkey()].filter(({ name }) => peers.includes(name)),
    { ...ownGateway({ ...own, isBare: true }), name: "gateway, bare" },
    { ...ownGateway(own), name: "gateway, governed on SQLite" },
  ];
  if (postgresUrl === undefined) return kinds;
  const { url } = stack.use(await postgresAt(postgresUrl).createDatabase());
  return [...kinds, {
    ...ownGateway({ ...own, env: { DATABASE_URL: url } }),
    name: "gateway, governed on Postgres",
  }];
}

/** The measurements, on the first target (the direct connection) and the others. */
class Course {
  readonly #instruments: Instruments;
  readonly #rounds: number;
  readonly #ms: number;

  constructor(
    instruments: Instruments,
    { rounds, ms }: Pick<PipelineOptions, "rounds" | "ms">,
  ) {
    this.#instruments = instruments;
    this.#rounds = rounds;
    this.#ms = ms;
  }

  async run(
    installed: readonly InstalledTarget[],
    print: (line: string) => void,
  ): Promise<readonly YardstickRow[]> {
    await using stack = new AsyncDisposableStack();
    const running: RunningTarget[] = [];
    for (const { name, site } of installed) {
      const target = stack.use(await site.start());
      if (name !== direct.name && target.pid !== undefined) {
        await pin(target.pid, TARGET_CORE);
      }
      running.push({ name, target });
    }
    const [base, ...targets] = running;
    if (base === undefined) throw new Error("there is no direct connection");
    print("processor time");
    const cpu = await this.#cpuTimes(targets);
    const rows: Omit<YardstickRow, "memory">[] = [];
    for (const one of targets) {
      print(one.name);
      const [whole, first, event] = [
        await this.#added(base, one, ONE_AT_A_TIME, ({ waits }) => waits),
        await this.#added(base, one, FIRST_TOKEN, ({ firsts }) => firsts),
        await this.#added(base, one, PACED, ({ delays }) => delays),
      ];
      const cpuMicros = cpu.get(one);
      const frontiers = await this.#frontiers(base, one);
      const { pid } = one.target;
      rows.push({
        target: one.name,
        ...(cpuMicros === undefined ? {} : { cpuMicros }),
        ...(whole.ms === undefined ? {} : { addedMs: whole.ms }),
        ...(first.ms === undefined ? {} : { firstMs: first.ms }),
        ...(event.ms === undefined ? {} : { eventMs: event.ms }),
        frontiers,
        ...(pid === undefined || !CAN_READ_PROCESSES
          ? {}
          : { steadyBytes: residentBytes(pid) }),
        discarded: whole.discarded + first.discarded + event.discarded,
      });
    }
    print("memory");
    const memories = await Promise.all(
      installed.slice(1).map((one) => measureMemory(one, LATER_SECONDS, true)),
    );
    return rows.map((row, at) => {
      const memory = memories[at];
      return memory === undefined ? row : { ...row, memory };
    });
  }

  /** Processor time of a call, all targets in turn in each round; the first is a warm-up. */
  async #cpuTimes(
    targets: readonly RunningTarget[],
  ): Promise<ReadonlyMap<RunningTarget, Spread>> {
    const micros = new Map(targets.map((one) => [one, [] as number[]]));
    for (let round = 0; round <= this.#rounds; round++) {
      for (const [one, found] of micros) {
        const { cpuMicros } = await this.#measure(one, WHOLE, 2 * this.#ms);
        if (round > 0 && cpuMicros !== undefined) found.push(cpuMicros);
      }
    }
    return new Map(
      [...micros].flatMap(([one, found]) => {
        const spread = spreadOf(found);
        return spread === undefined ? [] : [[one, spread]];
      }),
    );
  }

  /** What a target adds, in windows between two of the direct connection. */
  async #added(
    base: RunningTarget,
    one: RunningTarget,
    kind: ExchangeKind,
    part: Part,
  ): Promise<{ readonly ms?: Quantiles; readonly discarded: number }> {
    const ms = 5 * this.#ms;
    const found: Quantiles[] = [];
    for (let round = 0; round < this.#rounds; round++) {
      const before = part((await this.#measure(base, kind, ms)).result);
      const own = part((await this.#measure(one, kind, ms)).result);
      const after = part((await this.#measure(base, kind, ms)).result);
      if (before === undefined || own === undefined || after === undefined) {
        throw new Error(`${kind.name} has no such times`);
      }
      // The upstream's wait is not the connection's own time.
      const waitMs = kind === PACED ? 0 : UPSTREAM_MS;
      const drift = Math.abs(after.p50 - before.p50) / (before.p50 - waitMs);
      if (drift > MAX_DRIFT) continue;
      found.push({
        p50: own.p50 - (before.p50 + after.p50) / 2,
        p99: own.p99 - (before.p99 + after.p99) / 2,
      });
    }
    return {
      ...(found.length === 0 ? {} : {
        ms: {
          p50: median(found.map(({ p50 }) => p50)),
          p99: median(found.map(({ p99 }) => p99)),
        },
      }),
      discarded: this.#rounds - found.length,
    };
  }

  async #frontiers(
    base: RunningTarget,
    one: RunningTarget,
  ): Promise<readonly Frontier[]> {
    const ms = 4 * this.#ms;
    return await findFrontiers(RATES, BOUNDS_MS, async (perSecond) => {
      const { result: direct } = await this.#measure(
        base,
        WHOLE,
        ms,
        perSecond,
      );
      const { result } = await this.#measure(one, WHOLE, ms, perSecond, true);
      return {
        addedMs: result.waits.p99 - direct.waits.p99,
        isServed: result.faults === 0 &&
          result.requests >= SERVED_PART * perSecond * ms / 1000 &&
          result.tookMs <= ms / SERVED_PART,
      };
    });
  }

  async #measure(
    { name, target }: RunningTarget,
    kind: ExchangeKind,
    ms: number,
    perSecond?: number,
    mayFail = false,
  ): Promise<Sample> {
    const address = target.address(DIRECTION);
    if (address === undefined) throw new Error(`${name} has no address`);
    const job = {
      ...jobFor(address, scenarioOf(kind, DIRECTION), ms),
      lenient: target.lenient === true,
    };
    const sample = await measureJob(
      this.#instruments,
      target,
      perSecond === undefined ? job : {
        ...job,
        connections: FRONTIER_CONNECTIONS,
        until: { ms, perSecond },
      },
      kind.unit,
    );
    const { faults, problems } = sample.result;
    if (faults > 0 && !mayFail) {
      throw new WrongReply(
        `${name}: ${faults} replies were WRONG: ${problems[0]}`,
      );
    }
    return sample;
  }
}

const MEBIBYTE = 2 ** 20;

/** The table: a row for each figure, a column for each target. */
export function yardstickLines(
  rows: readonly YardstickRow[],
): readonly string[] {
  const times = (
    name: string,
    of: (row: YardstickRow) => Quantiles | undefined,
  ) =>
    (["p50", "p99"] as const).map((part) => ({
      name: `added to ${name}, ${part}, ms`,
      of: (row: YardstickRow) => figure(of(row)?.[part]),
    }));
  const mebibytes = (bytes: number | undefined): string =>
    figure(bytes === undefined ? undefined : bytes / MEBIBYTE);
  const lines = [
    {
      name: "processor time of a call, µs",
      of: ({ cpuMicros }: YardstickRow) => figure(cpuMicros?.median),
    },
    ...times("a whole reply", ({ addedMs }) => addedMs),
    ...times("the first token", ({ firstMs }) => firstMs),
    ...times("an event", ({ eventMs }) => eventMs),
    ...BOUNDS_MS.map((boundMs, at) => ({
      name: `calls/s with p99 ≤ ${boundMs} ms added`,
      of: ({ frontiers }: YardstickRow) => frontierText(frontiers[at]),
    })),
    {
      name: "memory idle, MiB",
      of: ({ memory }: YardstickRow) => mebibytes(memory?.idleBytes),
    },
    {
      name: "memory under load, MiB",
      of: ({ steadyBytes }: YardstickRow) => mebibytes(steadyBytes),
    },
    {
      name: "memory a held stream, KiB",
      of: ({ memory }: YardstickRow) =>
        figure(memory && memory.perStreamLaterBytes / 1024),
    },
    {
      name: "memory after 1,000 streams, MiB",
      of: ({ memory }: YardstickRow) => mebibytes(memory?.recoveredBytes),
    },
    {
      name: "windows left out",
      of: ({ discarded }: YardstickRow) => `${discarded}`,
    },
  ];
  return tableLines([
    ["", ...rows.map(({ target }) => target)],
    ...lines.map(({ name, of }) => [name, ...rows.map(of)]),
  ]);
}

function frontierText(frontier: Frontier | undefined): string {
  if (frontier === undefined) return "–";
  const { perSecond, isOpen } = frontier;
  if (perSecond === 0) return `< ${RATES[0]}`;
  return isOpen ? `≥ ${perSecond}` : `${perSecond}`;
}
