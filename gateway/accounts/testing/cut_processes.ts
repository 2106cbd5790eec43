/**
 * Cuts processes off from the store, or suspends them, while another one goes on.
 */
import assert from "node:assert/strict";
import { audit } from "../audits/audit.ts";
import { withCorrections } from "../ledger/correction.ts";
import { startTimer } from "../timer.ts";
import { checkKeyUse } from "./check_key_use.ts";
import { type CutProxy, startCutProxy } from "./cut_proxy.ts";
import { nothingOpen } from "./nothing_open.ts";
import { createTestCaller, openTestAccounts } from "./open_test_accounts.ts";
import { type GatewayProcess, readReply, startProcess } from "./processes.ts";
import type { TestStore } from "./stores.ts";

const HEARTBEAT_MS = 100;

/** Waits for something that another process of the store does meanwhile. */
interface Others {
  /** Resolves when another process has settled calls as lost. */
  recovered(): Promise<void>;
  /** Resolves after some heartbeats of another process: each looks for dead processes. */
  beats(): Promise<void>;
}

type Cut = (process: GatewayProcess, others: Others) => Promise<void>;

function cutsOf(proxy: CutProxy | undefined): readonly Cut[] {
  const freeze: Cut = async (process, { beats, recovered }) => {
    process.freeze();
    // A lease in SQLite is a lock, which a suspended process keeps.
    await (proxy === undefined ? beats() : recovered());
    process.thaw();
  };
  const cut = (what: "all" | "replies"): Cut => async (_, { recovered }) => {
    proxy?.hold(what);
    await recovered();
    proxy?.release();
  };
  return proxy === undefined ? [freeze] : [cut("all"), freeze, cut("replies")];
}

/** Cuts one process off after another; fails if any reply is not charged by its usage. */
export async function cutProcesses(
  kind: TestStore,
  cutCount: number,
): Promise<void> {
  await using database = await kind.createDatabase();
  await using proxy = kind.name === "sqlite"
    ? undefined
    : startCutProxy(database.url);
  const store = await database.open();
  const cuts = cutsOf(proxy);
  let onRecovered = (): void => {};
  let onBeat = (): void => {};
  await using opened = await openTestAccounts(
    store,
    { ms: 0, now: Date.now },
    {
      heartbeatMs: HEARTBEAT_MS,
      timer: (ms, run) =>
        startTimer(ms, () => {
          if (ms === HEARTBEAT_MS) onBeat();
          run();
        }),
      onEvent: (event) => event.type === "recovered" && onRecovered(),
    },
  );
  const others: Others = {
    recovered: () => new Promise((resolve) => onRecovered = resolve),
    beats: () =>
      new Promise((resolve) => {
        let count = 0;
        onBeat = () => ++count === 20 && resolve();
      }),
  };
  const { key } = await createTestCaller(opened, {
    balanceMicroUsd: 1_000_000_000,
    keyLimits: { spendPerMonthMicroUsd: 1e12 },
  });
  const exact = new Map<string, number>();
  const perhaps = new Set<string>();
  for (let time = 0; time < cutCount; time++) {
    await using process = await startProcess(
      proxy?.url ?? database.url,
    );
    await process.send({ do: "serve", keys: [key, opened.freshKey ?? ""] });
    const replies = async (count: number): Promise<void> => {
      for (let left = count; left > 0; left--) {
        exact.set(...readReply(await process.next()));
      }
    };
    await replies(1 + (time * 13) % 47);
    await cuts[time % cuts.length]?.(process, others);
    await replies(10);
    await process.send({ do: "flush" });
    for (;;) {
      const line = await process.next();
      if (line === "flushing") break;
      exact.set(...readReply(line));
    }
    for (;;) {
      const line = await process.next();
      if (line === "flushed") break;
      perhaps.add(readReply(line)[0]);
    }
    await process.kill();
    for (;;) {
      const line = await process.next();
      if (line === undefined) break;
      perhaps.add(readReply(line)[0]);
    }
    await nothingOpen(store, HEARTBEAT_MS);
  }
  const pages = opened.admin.allLedger({ kind: "charge" });
  const charges = (await Array.fromAsync(pages)).flat();
  const entries = new Map(
    withCorrections(charges).map((entry) => [entry.requestId, entry]),
  );
  for (const [id, output] of exact) {
    const entry = entries.get(id);
    assert.ok(entry !== undefined, `${id} is not in the ledger`);
    assert.deepEqual(
      [entry.ended, entry.estimated, entry.outputTokens, entry.microUsd],
      ["complete", false, output, -(10 + 2 * output)],
      id,
    );
  }
  for (const id of perhaps) {
    assert.ok(entries.has(id), `${id} is not in the ledger`);
  }
  assert.deepEqual(await audit(store), []);
  await checkKeyUse(store);
  const isCorrected = charges.some(({ corrects }) => corrects !== undefined);
  assert.equal(isCorrected, kind.name === "postgres");
}
