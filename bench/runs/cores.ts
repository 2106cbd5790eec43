/**
 * `deno task bench cores`: processor time and throughput of several gateway processes on one store,
 * compared with one process, and with as many that have a store each. The load generator spreads
 * its connections over the processes: as many in all as one process has, or as many each. A process
 * with fewer calls at once has smaller batches and sleeps more often, whatever its store. The rows
 * of stores apart show how much that costs; it costs nothing where each process has as many
 * connections as one alone. On Postgres the calls can be of many accounts, and the database can be
 * some milliseconds away.
 */
import { keyHash, keyHint, newKey } from "../../gateway/accounts/key.ts";
import { openPostgresStore } from "../../gateway/accounts/store/postgres/postgres.ts";
import { postgresAt } from "../../gateway/accounts/testing/stores.ts";
import { compact } from "../../replay/compact.ts";
import type { BenchContext } from "../bench.ts";
import { startChild } from "../load/child.ts";
import { startMock } from "../mock/start_mock.ts";
import { openCpuClock } from "../measure/cpu_time.ts";
import { startDelayRelay } from "./delay_relay.ts";
import { MAX_CORES_RATIO } from "../report/goals.ts";
import type { LoadJob, Quantiles } from "../load/load_job.ts";
import { type Instruments, jobFor, runJob } from "../measure/measure.ts";
import { OptionsError, parseOptions } from "../options.ts";
import {
  EXCHANGE_KINDS,
  type ExchangeKind,
  scenarioOf,
} from "../measure/scenarios.ts";
import { median, type Spread, spreadOf } from "../report/statistics.ts";
import { type Goal, goal } from "../report/summary.ts";
import { figure, tableLines } from "../report/table.ts";
import { type OwnGatewayOptions, prepare } from "../targets/own_gateway.ts";
import type { Address, Target, Upstream } from "../targets/target.ts";

/** Several processes on one store. */
interface CoresRow {
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
  /** Accounts that make the calls in turn. */
  readonly accounts: number;
  /** Milliseconds of the network between a process and the database, each way. */
  readonly delayMs: number;
  /**
   * Median and 99th percentile of the time to the end of a reply in milliseconds, medians over the
   * rounds.
   */
  readonly waits: Quantiles;
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

/** The store of an arrangement: a file of its own, or an empty Postgres schema. */
interface StoreKind {
  readonly name: string;
  readonly accounts: number;
  readonly delayMs: number;
  /**
   * The settings of the store for this program (`here`) and for the gateway processes (`there`),
   * whose network may be slower.
   */
  open(
    stack: AsyncDisposableStack,
  ): Promise<{ readonly here: Settings; readonly there: Settings }>;
}

type Settings = Readonly<Record<string, string>>;

/** Gateway processes on one store. */
interface Arrangement {
  readonly apart: boolean;
  readonly address: Address;
  readonly others: readonly Address[];
  readonly pids: readonly number[];
  /** Headers with the keys of many accounts. */
  readonly inTurn?: LoadJob["inTurn"];
}

/**
 * Runs the benchmark; `--processes=1,2,4` sets the numbers of processes, and `--load=shared` or
 * `--load=each` chooses one load of the two. `--accounts=1,1000` and `--delay=0,5` set the numbers
 * of accounts and the distances of a Postgres server. Returns the exit code: 1 when a reply is
 * wrong.
 */
export async function runCores(
  flags: readonly string[],
  context: BenchContext,
): Promise<number> {
  const { print, record } = context;
  try {
    const { values: counts, rest: others } = numbersOf(flags, "processes", 1, [
      1,
      2,
      4,
    ]);
    const { loads, rest: further } = loadsOf(others);
    const { values: accounts, rest: more } = numbersOf(further, "accounts", 1);
    const { values: delays, rest } = numbersOf(more, "delay", 0);
    const { gatewayFolders: [folder = ""], rounds, ms, gatewayFlags } =
      parseOptions(rest);
    await using stack = new AsyncDisposableStack();
    const clock = stack.use(openCpuClock());
    const upstream = await startMock(stack);
    const load = stack.use(startChild("load/load.ts"));
    const options = { folder, denoFlags: gatewayFlags };
    const stores = storesOf(context, accounts, delays);
    const length = { rounds, ms: ms * 2 };
    const leastMs = stores.reduce(
      (sum, store) =>
        sum + leastCoresMs(counts, loads, length, kindsOf(store).length),
      0,
    );
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
        const isPlain = store.accounts === 1 && store.delayMs === 0;
        for (const apart of count > 1 && isPlain ? [false, true] : [false]) {
          arrangements.push(
            await arrange(upstream, options, store, { count, apart }, running),
          );
        }
      }
      for (const kind of EXCHANGE_KINDS) {
        if (!kindsOf(store).includes(kind.name)) continue;
        const rows = await compare(
          { clock, load },
          arrangements,
          store,
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
    if (!(error instanceof WrongReply)) throw error;
    print(error.message);
    return 1;
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
  kinds: number = KINDS.length,
): number {
  // One process has one load; several have each load, on one store and apart.
  const turns = counts.reduce(
    (sum, count) => sum + (count === 1 ? 1 : 2 * loads.length),
    0,
  );
  return kinds * turns * (rounds + 1) * ms;
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

function numbersOf(
  flags: readonly string[],
  name: string,
  least: number,
  standard: readonly number[] = [least],
): { readonly values: readonly number[]; readonly rest: readonly string[] } {
  const prefix = `--${name}=`;
  const own = flags.findLast((flag) => flag.startsWith(prefix));
  const values = own === undefined
    ? standard
    : own.slice(prefix.length).split(",").map(Number);
  if (values.some((value) => !Number.isInteger(value) || value < least)) {
    throw new OptionsError(`--${name} must be numbers such as 1,20`);
  }
  return { values, rest: flags.filter((flag) => !flag.startsWith(prefix)) };
}

function storesOf(
  { postgresUrl }: BenchContext,
  accounts: readonly number[],
  delays: readonly number[],
): readonly StoreKind[] {
  if (postgresUrl === undefined) return [SQLITE];
  const postgres = delays.flatMap((delayMs) =>
    accounts.map((accounts): StoreKind => ({
      name: "postgres",
      accounts,
      delayMs,
      async open(stack) {
        const database = stack.use(
          await postgresAt(postgresUrl).createDatabase(),
        );
        const here = { DATABASE_URL: database.url };
        if (delayMs === 0) return { here, there: here };
        const relay = stack.use(startDelayRelay(database.url, delayMs));
        return { here, there: { DATABASE_URL: relay.url } };
      },
    }))
  );
  // Numbers of accounts and delays matter on Postgres only.
  return accounts.length * delays.length > 1 ? postgres : [SQLITE, ...postgres];
}

const SQLITE: StoreKind = {
  name: "sqlite",
  accounts: 1,
  delayMs: 0,
  open: () => Promise.resolve({ here: {}, there: {} }),
};

/** The kinds of exchange that are measured on a store. */
function kindsOf({ accounts, delayMs }: StoreKind): readonly string[] {
  return accounts > 1 || delayMs > 0 ? KINDS.slice(0, 1) : KINDS;
}

/** Adds accounts to a store with the account `bench`. Returns a key of each. */
async function addAccounts(
  databaseUrl: string,
  count: number,
): Promise<readonly string[]> {
  const store = openPostgresStore(databaseUrl);
  const keys = Array.from({ length: count }, newKey);
  try {
    await store.write(async (sql) => {
      for (const [at, key] of keys.entries()) {
        const id = `bench_${at}`;
        await sql.all(
          "INSERT INTO accounts (id, name, status, billing, plan_id, created_at_ms) VALUES ($1, $1, 'active', 'postpaid', 'bench', 0)",
          [id],
        );
        await sql.all(
          "INSERT INTO keys (id, account_id, name, hash, hint, created_at_ms) VALUES ($1, $2, '', $3, $4, 0)",
          [`key_${id}`, id, keyHash(key), keyHint(key)],
        );
      }
    });
  } finally {
    await store.close();
  }
  return keys;
}

async function arrange(
  upstream: Upstream,
  options: OwnGatewayOptions,
  store: StoreKind,
  { count, apart }: { readonly count: number; readonly apart: boolean },
  stack: AsyncDisposableStack,
): Promise<Arrangement> {
  const targets: Target[] = [];
  const keys: string[] = [];
  for (let stores = 0; stores < (apart ? count : 1); stores++) {
    const { here, there } = await store.open(stack);
    const site = stack.use(
      await prepare(upstream, { ...options, env: here, processEnv: there }),
    );
    if (store.accounts > 1 && !apart) {
      keys.push(
        ...await addAccounts(here["DATABASE_URL"] ?? "", store.accounts),
      );
    }
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
    ...(keys.length === 0
      ? {}
      : { inTurn: keys.map((key) => ({ "x-api-key": key })) }),
  };
}

/** Measures the arrangements in turns, with each load. */
async function compare(
  { clock, load }: Instruments,
  arrangements: readonly Arrangement[],
  store: StoreKind,
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
      waits: [] as Quantiles[],
      shares: [] as number[][],
    }));
  });
  // The first round is a warm-up.
  for (let round = 0; round <= rounds; round++) {
    for (const one of found) {
      const before = one.pids.map((pid) => clock.microsOf(pid));
      const { requests, tookMs, waits, faults, problems } = await runJob(load, {
        ...jobFor(
          one.address,
          scenarioOf({ ...kind, connections: one.connections }, DIRECTION),
          ms,
        ),
        others: one.others,
        ...compact({ inTurn: one.inTurn }),
      });
      const used = one.pids.map((pid, at) =>
        clock.microsOf(pid) - (before[at] ?? 0)
      );
      if (faults > 0) {
        throw new WrongReply(
          `${one.pids.length} on ${store.name}: ${faults} replies were WRONG: ${
            problems[0]
          }`,
        );
      }
      if (round === 0) continue;
      const sum = used.reduce((total, micros) => total + micros, 0);
      one.perSecond.push(requests / tookMs * 1000);
      one.cpuMicros.push(sum / requests);
      one.waits.push(waits);
      one.shares.push(used.map((micros) => micros / sum));
    }
  }
  const { name, accounts, delayMs } = store;
  return coresRows(
    name,
    kind.name,
    found.map(({ pids, ...one }) => ({ ...one, processes: pids.length })),
    { accounts, delayMs },
  );
}

/** The measurements of one number of processes; one value, or list of shares, per round. */
interface CoresRounds {
  readonly processes: number;
  readonly apart: boolean;
  readonly connections: number;
  readonly perSecond: readonly number[];
  readonly cpuMicros: readonly number[];
  readonly waits: readonly Quantiles[];
  readonly shares: readonly (readonly number[])[];
}

/** Compares each number of processes with one process, in the same round. */
export function coresRows(
  store: string,
  kind: string,
  measured: readonly CoresRounds[],
  { accounts, delayMs }: Pick<CoresRow, "accounts" | "delayMs"> = {
    accounts: 1,
    delayMs: 0,
  },
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
        accounts,
        delayMs,
        waits: {
          p50: median(one.waits.map(({ p50 }) => p50)),
          p99: median(one.waits.map(({ p99 }) => p99)),
        },
        perSecond: median(one.perSecond),
        cpuMicros,
        ...compact({ overOne }),
        shares: Array.from(
          { length: processes },
          (_, at) => median(one.shares.map((each) => each[at] ?? 0)),
        ),
        ...(overOne === undefined || atMost === undefined || apart ||
            accounts > 1 || delayMs > 0
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
    `${first.store}, ${first.kind}, ${first.accounts} ${
      first.accounts === 1 ? "account" : "accounts"
    }, ${first.delayMs} ms away: processes on one store; apart: with a store each`,
    ...tableLines([
      [
        "processes",
        "connections",
        "requests/s",
        "p50 ms",
        "p99 ms",
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
          waits,
          cpuMicros,
          overOne,
          ...row
        },
      ) => [
        `${processes}${apart ? " apart" : ""}`,
        String(connections),
        perSecond.toFixed(0),
        figure(waits.p50),
        figure(waits.p99),
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
