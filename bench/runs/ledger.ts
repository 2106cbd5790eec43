/**
 * Throughput and processor time of the ledger: each request is reserved against a balance, waits
 * until the reservation is durable, and is settled.
 */
import process from "node:process";
import {
  openAccountService,
  type OpenedAccounts,
} from "../../gateway/accounts/mod.ts";
import {
  postgresAt,
  SQLITE,
  type TestStore,
} from "../../gateway/accounts/testing/stores.ts";
import type { Bench, BenchContext } from "../bench.ts";

const CONCURRENCY: readonly number[] = [1, 16, 128];
const PRICE = {
  input: 1_000_000,
  cacheRead: 100_000,
  cacheWrite: 1_000_000,
  output: 2_000_000,
};

/** `deno task bench ledger`. */
export const ledger: Bench = {
  about:
    "settled requests per second on each store, their processor time, and the time to reserve",
  async run(context) {
    context.print(
      row([
        "store",
        "at once",
        "settled/s",
        "CPU µs each",
        "reserve p50",
        "reserve p99",
      ]),
    );
    await measureOn(SQLITE, context);
    if (context.postgresUrl === undefined) {
      context.print(
        "postgres  SKIPPED, because TEST_POSTGRES_URL is not set",
      );
    } else await measureOn(postgresAt(context.postgresUrl), context);
  },
};

async function measureOn(
  kind: TestStore,
  { print, measureMs, record }: BenchContext,
): Promise<void> {
  for (const concurrency of CONCURRENCY) {
    await using database = await kind.createDatabase();
    const opened = await openAccountService({
      store: await database.open(),
      price: () => PRICE,
    });
    try {
      const { perSecond, cpuMicros, waitsMs } = await measure(
        opened,
        concurrency,
        measureMs,
      );
      const findings = await opened.admin.audit();
      if (findings.length > 0) throw new Error(findings.join("\n"));
      record?.({
        store: kind.name,
        atOnce: concurrency,
        perSecond,
        cpuMicros,
        reserveMs: {
          p50: quantile(waitsMs, 0.5),
          p99: quantile(waitsMs, 0.99),
        },
      });
      print(row([
        kind.name,
        String(concurrency),
        perSecond.toFixed(0),
        cpuMicros.toFixed(0),
        `${quantile(waitsMs, 0.5).toFixed(2)} ms`,
        `${quantile(waitsMs, 0.99).toFixed(2)} ms`,
      ]));
    } finally {
      await opened.accounts.close();
    }
  }
}

interface Measured {
  readonly perSecond: number;
  /** Microseconds of this process per settled request, on all threads, without a server's. */
  readonly cpuMicros: number;
  /** In ascending order. */
  readonly waitsMs: readonly number[];
}

async function measure(
  { accounts, admin, flush }: OpenedAccounts,
  concurrency: number,
  measureMs: number,
): Promise<Measured> {
  const { id: accountId } = await admin.accounts.create({});
  await admin.accounts.topUp(accountId, { microUsd: 1_000_000_000_000 });
  const { text: key = "" } = await admin.keys.issue({ accountId });
  const caller = await accounts.authenticate([key]);
  const waitsMs: number[] = [];
  const startedMs = performance.now();
  const cpuBefore = process.cpuUsage();
  const lane = async (): Promise<void> => {
    while (performance.now() - startedMs < measureMs) {
      const askedMs = performance.now();
      const reservation = await accounts.reserve(caller, {
        requestId: crypto.randomUUID(),
        model: "small",
        inputTokens: 10,
        maxOutputTokens: 20,
      });
      await reservation.durable();
      waitsMs.push(performance.now() - askedMs);
      reservation.settle({
        usage: { input: 10, output: 12 },
        generatedChars: 48,
        ended: "complete",
      });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  // A settlement counts once it is in the ledger, not while it is queued.
  await flush();
  const tookMs = performance.now() - startedMs;
  const cpu = process.cpuUsage(cpuBefore);
  return {
    perSecond: waitsMs.length / tookMs * 1000,
    cpuMicros: (cpu.user + cpu.system) / waitsMs.length,
    waitsMs: waitsMs.toSorted((a, b) => a - b),
  };
}

function quantile(sorted: readonly number[], part: number): number {
  const index = Math.min(sorted.length - 1, Math.floor(sorted.length * part));
  return sorted[index] ?? 0;
}

function row(cells: readonly string[]): string {
  return cells.map((cell, index) =>
    index === 0 ? cell.padEnd(10) : cell.padStart(13)
  ).join("");
}
