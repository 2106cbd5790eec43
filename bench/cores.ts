/**
 * `deno task bench cores`: processor time and throughput of several gateway processes on one store,
 * compared with one process, and with as many that have a store each. The load generator spreads
 * its connections over the processes: as many in all as one process has, or as many each. A process
 * with fewer calls at once has smaller batches and sleeps more often, whatever its store: that part
 * shows in the rows of stores apart, and is absent where each has as many.
 *
 * @module
 */
import { postgresAt } from "../gateway/accounts/testing/stores.ts";
import type { BenchContext } from "./bench.ts";
import { startChild } from "./child.ts";
import { openCpuClock } from "./cpu_time.ts";
import { MAX_CORES_RATIO } from "./goals.ts";
import { type Instruments, jobFor, runJob } from "./measure.ts";
import { OptionsError, parseOptions } from "./options.ts";
import { EXCHANGE_KINDS, type ExchangeKind, scenarioOf } from "./scenarios.ts";
import { median, type Spread, spreadOf } from "./statistics.ts";
import { type Goal, goal } from "./summary.ts";
import { figure, tableLines } from "./table.ts";
import { type OwnGatewayOptions, prepare } from "./targets/own_gateway.ts";
import type { Address, Target, Upstream } from "./targets/target.ts";

/** Several processes on one store. */
export interface CoresRow {
  /** Name of the store. */
  readonly store: string;
  /** Name of the kind of exchange. */
  readonly kind: string;
  /** Number of processes. */
  readonly processes: number;
  /** True: each process has a store of its own. */
  readonly apart: boolean;
  /** Connections to all processes together. */
  readonly connections: number;
  /** Requests per second of real time, median over the rounds. */
  readonly perSecond: number;
  /** Microseconds of processor time of all processes per request. */
  readonly cpuMicros: Spread;
  /** Ratio of `cpuMicros` to one process's in the same round; absent for one process. */
  readonly overOne?: Spread;
  /** Each process's part of the processor time, medians over the rounds. */
  readonly shares: readonly number[];
  /** The goal for `overOne`. */
  readonly goal?: Goal;
}

const DIRECTION = { caller: "messages", upstream: "messages" } as const;
const KINDS: readonly string[] = ["whole-small", "stream-unpaced"];
/** Connections to one process. */
const CONNECTIONS = 64;
/** Whether several processes share that number, or have it each. */
const LOADS = ["shared", "each"] as const;
type Load = typeof LOADS[number];
const STANDARD_PROCESSES: readonly number[] = [1, 2, 4];

/** The store of an arrangement: a file of its own, or an empty Postgres schema. */
interface StoreKind {
  readonly name: string;
  open(stack: AsyncDisposableStack): Promise<Readonly<Record<string, string>>>;
}

/** Gateway processes on one store. */
interface Arrangement {
  readonly apart: boolean;
  readonly address: Address;
  readonly others: readonly Address[];
  readonly pids: readonly number[];
}

/**
 * Runs the benchmark; `--processes=1,2,4` sets the numbers of processes, and `--load=shared` or
 * `--load=each` chooses one load of the two. Returns the exit code: 1 when a reply is wrong, 2 for
 * an invalid flag.
 */
export async function runCores(
  flags: readonly string[],
  context: BenchContext,
): Promise<number> {
  const { print, record } = context;
  try {
    const { counts, rest: others } = processesOf(flags);
    const { loads, rest } = loadsOf(others);
    const { gatewayFolders: [folder = ""], rounds, ms, gatewayFlags } =
      parseOptions(rest);
    await using stack = new AsyncDisposableStack();
    const clock = stack.use(openCpuClock());
    const mock = stack.use(startChild("mock_upstream.ts"));
    // The message's shape is defined in mock_upstream.ts.
    const upstream = await mock.receive() as Upstream;
    const load = stack.use(startChild("load.ts"));
    const options = { folder, denoFlags: gatewayFlags };
    const stores = storesOf(context);
    const length = { rounds, ms: ms * 2 };
    const leastMs = stores.length * leastCoresMs(counts, loads, length);
    print(
      `at least ${Math.ceil(leastMs / 1000)} s, and what starts take`,
    );
    const goals: Goal[] = [];
    for (const store of stores) {
      print(`${store.name}: starting`);
      // One store at a time: idle gateways renew their leases.
      await using running = new AsyncDisposableStack();
      const arrangements: Arrangement[] = [];
      for (const count of counts) {
        for (const apart of count === 1 ? [false] : [false, true]) {
          arrangements.push(
            await arrange(upstream, options, store, { count, apart }, running),
          );
        }
      }
      for (const kind of EXCHANGE_KINDS) {
        if (!KINDS.includes(kind.name)) continue;
        const rows = await compare(
          { clock, load },
          arrangements,
          store.name,
          kind,
          loads,
          length,
        );
        goals.push(...rows.flatMap((row) => row.goal ?? []));
        for (const line of coresLines(rows)) print(line);
        for (const row of rows) record?.({ ...row });
      }
    }
    if (context.postgresUrl === undefined) {
      print("postgres: SKIPPED, because TEST_POSTGRES_URL is not set");
    }
    if (goals.length > 0) {
      const reached = goals.filter((one) => one.reached);
      print(`${reached.length} of ${goals.length} goals are reached`);
    }
    print(
      `${navigator.hardwareConcurrency} cores, shared with the mock upstream and the load generator`,
    );
    return 0;
  } catch (error) {
    if (error instanceof WrongReply) {
      print(error.message);
      return 1;
    }
    if (!(error instanceof OptionsError)) throw error;
    print(error.message);
    return 2;
  }
}

class WrongReply extends Error {}

interface Length {
  readonly rounds: number;
  readonly ms: number;
}

/** The least time in which one store is measured, in milliseconds. */
export function leastCoresMs(
  counts: readonly number[],
  loads: readonly unknown[],
  { rounds, ms }: Length,
): number {
  // One process has one load; several have each load, on one store and apart.
  const turns = counts.reduce(
    (sum, count) => sum + (count === 1 ? 1 : 2 * loads.length),
    0,
  );
  return KINDS.length * turns * (rounds + 1) * ms;
}

function processesOf(
  flags: readonly string[],
): { readonly counts: readonly number[]; readonly rest: readonly string[] } {
  const prefix = "--processes=";
  const own = flags.findLast((flag) => flag.startsWith(prefix));
  const counts = own === undefined
    ? STANDARD_PROCESSES
    : own.slice(prefix.length).split(",").map(Number);
  if (counts.some((count) => !Number.isInteger(count) || count < 1)) {
    throw new OptionsError("--processes must be numbers such as 1,2,4");
  }
  return { counts, rest: flags.filter((flag) => !flag.startsWith(prefix)) };
}

function loadsOf(
  flags: readonly string[],
): { readonly loads: readonly Load[]; readonly rest: readonly string[] } {
  const prefix = "--load=";
  const own = flags.findLast((flag) => flag.startsWith(prefix))
    ?.slice(prefix.length);
  const loads = LOADS.filter((load) => own === undefined || load === own);
  if (loads.length === 0) {
    throw new OptionsError("--load must be shared or each");
  }
  return { loads, rest: flags.filter((flag) => !flag.startsWith(prefix)) };
}

function storesOf({ postgresUrl }: BenchContext): readonly StoreKind[] {
  const sqlite = { name: "sqlite", open: () => Promise.resolve({}) };
  return postgresUrl === undefined ? [sqlite] : [sqlite, {
    name: "postgres",
    async open(stack) {
      const database = stack.use(
        await postgresAt(postgresUrl).createDatabase(),
      );
      return { DATABASE_URL: database.url };
    },
  }];
}

async function arrange(
  upstream: Upstream,
  options: OwnGatewayOptions,
  store: StoreKind,
  { count, apart }: { readonly count: number; readonly apart: boolean },
  stack: AsyncDisposableStack,
): Promise<Arrangement> {
  const targets: Target[] = [];
  for (let stores = 0; stores < (apart ? count : 1); stores++) {
    const env = await store.open(stack);
    const site = stack.use(await prepare(upstream, { ...options, env }));
    for (let index = 0; index < (apart ? 1 : count); index++) {
      targets.push(stack.use(await site.start()));
    }
  }
  const [address, ...others] = targets.flatMap((one) =>
    one.address(DIRECTION) ?? []
  );
  if (address === undefined) throw new Error("there is no process");
  return {
    apart,
    address,
    others,
    pids: targets.flatMap(({ pid }) => pid ?? []),
  };
}

/** Measures the arrangements in turns, with each load. */
async function compare(
  { clock, load }: Instruments,
  arrangements: readonly Arrangement[],
  store: string,
  kind: ExchangeKind,
  loads: readonly Load[],
  { rounds, ms }: Length,
): Promise<readonly CoresRow[]> {
  const found = arrangements.flatMap((arrangement) => {
    const { length } = arrangement.pids;
    // The loads of one process are the same.
    return (length === 1 ? loads.slice(0, 1) : loads).map((load) => ({
      ...arrangement,
      connections: load === "each" ? CONNECTIONS * length : CONNECTIONS,
      perSecond: [] as number[],
      cpuMicros: [] as number[],
      shares: [] as number[][],
    }));
  });
  // The first round is a warm-up.
  for (let round = 0; round <= rounds; round++) {
    for (const one of found) {
      const before = one.pids.map((pid) => clock.microsOf(pid));
      const { requests, tookMs, faults, problems } = await runJob(load, {
        ...jobFor(
          one.address,
          scenarioOf({ ...kind, connections: one.connections }, DIRECTION),
          ms,
        ),
        others: one.others,
      });
      const used = one.pids.map((pid, at) =>
        clock.microsOf(pid) - (before[at] ?? 0)
      );
      if (faults > 0) {
        throw new WrongReply(
          `${one.pids.length} on ${store}: ${faults} replies were WRONG: ${
            problems[0]
          }`,
        );
      }
      if (round === 0) continue;
      const sum = used.reduce((total, micros) => total + micros, 0);
      one.perSecond.push(requests / tookMs * 1000);
      one.cpuMicros.push(sum / requests);
      one.shares.push(used.map((micros) => micros / sum));
    }
  }
  return coresRows(
    store,
    kind.name,
    found.map(({ pids, ...one }) => ({ ...one, processes: pids.length })),
  );
}

/** The measurements of one number of processes; one value, or list of shares, per round. */
export interface CoresRounds {
  readonly processes: number;
  readonly apart: boolean;
  readonly connections: number;
  readonly perSecond: readonly number[];
  readonly cpuMicros: readonly number[];
  readonly shares: readonly (readonly number[])[];
}

/** Compares each number of processes with one process, in the same round. */
export function coresRows(
  store: string,
  kind: string,
  measured: readonly CoresRounds[],
): readonly CoresRow[] {
  const single = measured.find(({ processes }) => processes === 1)?.cpuMicros;
  const atMost = MAX_CORES_RATIO[store];
  return measured.flatMap(
    ({ processes, apart, connections, ...one }): readonly CoresRow[] => {
      const cpuMicros = spreadOf(one.cpuMicros);
      if (cpuMicros === undefined) return [];
      const overOne = processes === 1 || single === undefined
        ? undefined
        : spreadOf(
          one.cpuMicros.map((micros, at) => micros / (single[at] ?? NaN)),
        );
      return [{
        store,
        kind,
        processes,
        apart,
        connections,
        perSecond: median(one.perSecond),
        cpuMicros,
        ...(overOne === undefined ? {} : { overOne }),
        shares: Array.from(
          { length: processes },
          (_, at) => median(one.shares.map((each) => each[at] ?? 0)),
        ),
        ...(overOne === undefined || atMost === undefined || apart
          ? {}
          : { goal: goal("one process", overOne.median, atMost) }),
      }];
    },
  );
}

/** The table of one kind of exchange on one store. */
export function coresLines(rows: readonly CoresRow[]): readonly string[] {
  const [first] = rows;
  if (first === undefined) return [];
  return [
    `${first.store}, ${first.kind}: processes on one store; apart: with a store each`,
    ...tableLines([
      [
        "processes",
        "connections",
        "requests/s",
        "CPU µs/request",
        "over one process",
        "range",
        "at most",
        "",
        "share of each",
      ],
      ...rows.map((
        {
          processes,
          apart,
          connections,
          perSecond,
          cpuMicros,
          overOne,
          ...row
        },
      ) => [
        `${processes}${apart ? " apart" : ""}`,
        String(connections),
        perSecond.toFixed(0),
        figure(cpuMicros.median),
        overOne === undefined ? "" : figure(overOne.median),
        overOne === undefined
          ? ""
          : `[${figure(overOne.low)}–${figure(overOne.high)}]`,
        ...(row.goal === undefined
          ? ["", ""]
          : [figure(row.goal.atMost), row.goal.reached ? "ok" : "OVER"]),
        row.shares.map((share) => `${(share * 100).toFixed(0)} %`).join(" "),
      ]),
    ]),
    "",
  ];
}
