/**
 * `deno task bench cores`: throughput and processor time of several gateway processes on one store,
 * behind nginx, compared with one process.
 *
 * @module
 */
import { type Child, startChild } from "./child.ts";
import { type CpuClock, openCpuClock } from "./cpu_time.ts";
import { jobFor, runJob } from "./measure.ts";
import { OptionsError, parseOptions } from "./options.ts";
import { EXCHANGE_KINDS, type Scenario, scenarioOf } from "./scenarios.ts";
import { median } from "./statistics.ts";
import { figure, tableLines } from "./table.ts";
import { startNginx } from "./targets/nginx.ts";
import { type OwnGatewayOptions, prepare } from "./targets/own_gateway.ts";
import {
  type Address,
  Skipped,
  type Target,
  type Upstream,
} from "./targets/target.ts";

const DIRECTION = { caller: "messages", upstream: "messages" } as const;
const KINDS: readonly string[] = ["whole-small", "stream-unpaced"];
/** Enough for an even share per process: the kernel distributes connections, not requests. */
const CONNECTIONS = 64;

/** Gateway processes that are reached at one address. */
interface Arrangement extends AsyncDisposable {
  readonly name: string;
  readonly address: Address;
  readonly pids: readonly number[];
}

/** Runs the benchmark. Returns the exit code: 1 when a reply is wrong, 2 for an invalid flag. */
export async function runCores(
  flags: readonly string[],
  print: (line: string) => void,
): Promise<number> {
  try {
    const { gatewayFolders: [folder = ""], rounds, ms, gatewayFlags } =
      parseOptions(flags);
    await using stack = new AsyncDisposableStack();
    const clock = stack.use(openCpuClock());
    const mock = stack.use(startChild("mock_upstream.ts"));
    // The message's shape is defined in mock_upstream.ts.
    const upstream = await mock.receive() as Upstream;
    const load = stack.use(startChild("load.ts"));
    const count = Math.max(2, navigator.hardwareConcurrency);
    const options = { folder, denoFlags: gatewayFlags };
    const arrangements: Arrangement[] = [];
    for (
      const start of [
        () => alone(upstream, options),
        () => behindNginx(upstream, options, count),
      ]
    ) {
      try {
        arrangements.push(stack.use(await start()));
      } catch (error) {
        if (!(error instanceof Skipped)) throw error;
        print(`SKIPPED, because ${error.message}`);
      }
    }
    let faults = 0;
    for (
      const kind of EXCHANGE_KINDS.filter(({ name }) => KINDS.includes(name))
    ) {
      const scenario = scenarioOf(
        { ...kind, connections: CONNECTIONS },
        DIRECTION,
      );
      const { lines, wrong } = await compare(
        { clock, load },
        arrangements,
        scenario,
        { rounds, ms: ms * 2 },
      );
      for (const line of lines) print(line);
      faults += wrong;
    }
    print(
      `${navigator.hardwareConcurrency} cores, shared with the mock upstream and the load generator`,
    );
    return faults === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    print(error.message);
    return 2;
  }
}

async function compare(
  { clock, load }: { readonly clock: CpuClock; readonly load: Child },
  arrangements: readonly Arrangement[],
  scenario: Scenario,
  { rounds, ms }: { readonly rounds: number; readonly ms: number },
): Promise<{ readonly lines: readonly string[]; readonly wrong: number }> {
  const found = arrangements.map((arrangement) => ({
    arrangement,
    perSecond: [] as number[],
    cpuMicros: [] as number[],
    shares: [] as number[][],
  }));
  let wrong = 0;
  // The first round is a warm-up.
  for (let round = 0; round <= rounds; round++) {
    for (const { arrangement, perSecond, cpuMicros, shares } of found) {
      const { pids, address } = arrangement;
      const before = pids.map((pid) => clock.microsOf(pid));
      const { requests, tookMs, faults, problems } = await runJob(
        load,
        jobFor(address, scenario, ms),
      );
      const used = pids.map((pid, at) =>
        clock.microsOf(pid) - (before[at] ?? 0)
      );
      wrong += faults;
      if (faults > 0) throw new Error(`${arrangement.name}: ${problems[0]}`);
      if (round === 0) continue;
      const sum = used.reduce((one, other) => one + other, 0);
      perSecond.push(requests / tookMs * 1000);
      cpuMicros.push(sum / requests);
      shares.push(used.map((micros) => micros / sum));
    }
  }
  const one = median(found[0]?.perSecond ?? []);
  return {
    wrong,
    lines: [
      `${scenario.kind.name}: ${CONNECTIONS} connections`,
      ...tableLines([
        ["", "requests/s", "over one", "CPU µs/request", "share of each"],
        ...found.map(({ arrangement, perSecond, cpuMicros, shares }) => [
          arrangement.name,
          median(perSecond).toFixed(0),
          figure(median(perSecond) / one),
          figure(median(cpuMicros)),
          arrangement.pids.map((_, at) =>
            `${
              (median(shares.map((each) => each[at] ?? 0)) * 100).toFixed(0)
            } %`
          ).join(" "),
        ]),
      ]),
      "",
    ],
  };
}

async function alone(
  upstream: Upstream,
  options: OwnGatewayOptions,
): Promise<Arrangement> {
  await using stack = new AsyncDisposableStack();
  const site = stack.use(await prepare(upstream, options));
  const target = stack.use(await site.start());
  return arrangement("one process", [target], stack.move());
}

async function behindNginx(
  upstream: Upstream,
  options: OwnGatewayOptions,
  count: number,
): Promise<Arrangement> {
  await using stack = new AsyncDisposableStack();
  const site = stack.use(await prepare(upstream, options));
  const targets: Target[] = [];
  const ports: number[] = [];
  for (let index = 0; index < count; index++) {
    const target = stack.use(await site.start());
    targets.push(target);
    ports.push(target.address(DIRECTION)?.port ?? 0);
  }
  const proxy = stack.use(await startNginx(ports));
  return {
    ...arrangement(`${count} behind nginx`, targets, stack.move(), proxy.port),
  };
}

function arrangement(
  name: string,
  targets: readonly Target[],
  stack: AsyncDisposableStack,
  port?: number,
): Arrangement {
  const address = targets[0]?.address(DIRECTION);
  if (address === undefined) throw new Error("there is no process");
  return {
    name,
    address: port === undefined ? address : { ...address, port },
    pids: targets.flatMap(({ pid }) => pid ?? []),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
