/**
 * `deno task bench size`: the cost of a call, a start and the memory of a gateway with a large
 * store and configuration, beside one with an empty store and none. `deno task bench size ENTRIES`
 * makes another number of ledger entries than ten million, and `--store=FILE` keeps them in a
 * SQLite file, which `bench books` uses too.
 */
import { openStore } from "../../gateway/accounts/store/open_store.ts";
import type { Store } from "../../gateway/accounts/store/store.ts";
import type { Bench } from "../bench.ts";
import { fillBooks } from "../books/books.ts";
import { startChild } from "../load/child.ts";
import { startMock } from "../mock/start_mock.ts";
import { openCpuClock, residentBytes } from "../measure/cpu_time.ts";
import { measure } from "../measure/measure.ts";
import { measureStart } from "../measure/memory.ts";
import { EXCHANGE_KINDS, scenarioOf } from "../measure/scenarios.ts";
import { type Spread, spreadOf } from "../report/statistics.ts";
import { figure, tableLines } from "../report/table.ts";
import { prepare } from "../targets/own_gateway.ts";
import type { Site, Target, Upstream } from "../targets/target.ts";

const ENTRIES = 10_000_000;
const ACCOUNTS = 10_000;
const KEYS = 100_000;
const MODELS = 500;
const CANDIDATES = 4;
const ROUNDS = 8;
const STARTS = 5;
const STORE_FLAG = "--store=";
const FOLDER = new URL("../../", import.meta.url).pathname;

const DIRECTION = { caller: "messages", upstream: "messages" } as const;
const KIND = EXCHANGE_KINDS.filter(({ name }) => name === "whole-small")[0];

/** The figures of one gateway. */
interface Measured {
  readonly name: string;
  readonly site: Site;
  readonly cpuMicros: number[];
  target?: Target;
  startMs?: Spread;
  idleBytes?: number;
}

/** `deno task bench size`. */
export const size: Bench = {
  about:
    `a call, a start and memory with ten million ledger entries, ${KEYS} keys, ${ACCOUNTS} accounts, ${MODELS} models, ${
      MODELS * CANDIDATES
    } candidates, beside an empty store`,
  takesFlags: true,
  async run({ print, record, measureMs }, flags) {
    const count = flags.find((flag) => !flag.startsWith("--"));
    const kept = flags.findLast((flag) => flag.startsWith(STORE_FLAG))
      ?.slice(STORE_FLAG.length);
    await using stack = new AsyncDisposableStack();
    const folder = await Deno.makeTempDir({ prefix: "bench-size-" });
    stack.defer(() => Deno.remove(folder, { recursive: true }));
    const file = kept ?? `${folder}/gateway.sqlite3`;
    const store = await openStore(`sqlite:${file}`);
    try {
      await fillBooks(store, Number(count ?? ENTRIES), print);
      await addAccounts(store);
    } finally {
      await store.close();
    }
    const config = `${folder}/config.json`;
    await Deno.writeTextFile(config, JSON.stringify(configuration()));
    const upstream = await startMock(stack);
    const all = await startAll(upstream, stack, file, config);
    const problem = await measureRounds(all, stack, measureMs);
    if (problem !== undefined) {
      print(problem);
      return 1;
    }
    for (const { name, cpuMicros, startMs, idleBytes } of all) {
      record?.({
        store: name,
        cpuMicros: spreadOf(cpuMicros),
        startMs,
        idleBytes,
      });
    }
    for (const line of sizeLines(all)) print(line);
    return 0;
  },
};

/** Starts the gateway with the empty store and the one with the full store, some times each. */
async function startAll(
  upstream: Upstream,
  stack: AsyncDisposableStack,
  file: string,
  config: string,
): Promise<readonly Measured[]> {
  const full = {
    env: { DATABASE_URL: `sqlite:${file}` },
    processEnv: { GATEWAY_CONFIG: config },
  };
  const all: Measured[] = [];
  for (
    const [name, settings] of [
      ["empty", { env: {}, processEnv: {} }],
      ["full", full],
    ] as const
  ) {
    const site = stack.use(
      await prepare(upstream, {
        folder: FOLDER,
        ...settings,
        denoFlags: ["--allow-all"],
      }),
    );
    all.push({ name, site, cpuMicros: [] });
  }
  for (const one of all) {
    const row = await measureStart(one, STARTS);
    if (row !== undefined) one.startMs = row.readyMs;
    one.target = stack.use(await one.site.start());
  }
  return all;
}

/** Measures the calls of each gateway in turn. Returns the problem of the first wrong reply. */
async function measureRounds(
  all: readonly Measured[],
  stack: AsyncDisposableStack,
  measureMs: number,
): Promise<string | undefined> {
  const clock = stack.use(openCpuClock());
  const load = stack.use(startChild("load/load.ts"));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const one of round % 2 === 0 ? all : all.toReversed()) {
      const address = one.target?.address(DIRECTION);
      if (
        one.target?.pid === undefined || address === undefined ||
        KIND === undefined
      ) throw new Error("the gateway does not run");
      one.idleBytes ??= residentBytes(one.target.pid);
      const { cpuMicros, result } = await measure(
        { load, clock },
        one.target,
        address,
        scenarioOf(KIND, DIRECTION),
        measureMs,
      );
      if (result.faults > 0) {
        return `${one.name}: replies were WRONG: ${result.problems[0]}`;
      }
      if (round > 0 && cpuMicros !== undefined) one.cpuMicros.push(cpuMicros);
    }
  }
  return undefined;
}

function sizeLines(all: readonly Measured[]): readonly string[] {
  return tableLines([
    ["store", "µs/call", "range", "start, ms", "idle, MiB"],
    ...all.map(({ name, cpuMicros, startMs, idleBytes = NaN }) => {
      const cpu = spreadOf(cpuMicros);
      return [
        name,
        figure(cpu?.median),
        `${figure(cpu?.low)}–${figure(cpu?.high)}`,
        figure(startMs?.median),
        figure(idleBytes / 2 ** 20),
      ];
    }),
  ]);
}

/** Adds accounts and keys to those of the entries, unless they exist. */
async function addAccounts(store: Store): Promise<void> {
  await store.write(async (sql) => {
    await sql.all(
      `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${
        ACCOUNTS - 1
      })
       INSERT INTO accounts (id, name, status, billing, plan_id, created_at_ms)
       SELECT 'size_' || i, '', 'active', 'postpaid', 'p', 0 FROM n WHERE true ON CONFLICT (id) DO NOTHING`,
    );
    await sql.all(
      `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${
        KEYS - 1
      })
       INSERT INTO keys (id, account_id, name, hash, hint, created_at_ms)
       SELECT 'size_key_' || i, 'size_' || (i % ${ACCOUNTS}), 'key ' || i, 'size_hash_' || i, 'sk-…' || i, 0
       FROM n WHERE true ON CONFLICT (id) DO NOTHING`,
    );
  });
}

/** Models that each have several candidates at hosts that are never called. */
function configuration(): unknown {
  const vendors = Array.from({ length: CANDIDATES }, (_, at) => `size_${at}`);
  return {
    vendors: Object.fromEntries(
      vendors.map((vendor) => [vendor, {
        kind: "vendorb",
        base_url: `https://${vendor.replace("_", "-")}.example.com/v1`,
        api_key_env: "VENDORB_API_KEY",
      }]),
    ),
    models: Object.fromEntries(
      Array.from({ length: MODELS }, (_, at) => [`size-model-${at}`, {
        vendor: vendors[0],
        upstream_model: `gpt-size-${at}`,
        price: { input: 1, output: 1, cache_read: 1, cache_write: 1 },
        candidates: vendors.map((vendor) => ({
          vendor,
          upstream_model: `gpt-size-${at}`,
        })),
      }]),
    ),
  };
}
