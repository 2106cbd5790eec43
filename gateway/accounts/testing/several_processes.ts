/**
 * Several processes serve the same accounts on one Postgres while processes are killed or
 * suspended, the server crashes, accounts are administered, and the ledger is audited and exported
 * all the time.
 */
import assert from "node:assert/strict";
import { compact } from "../../../translate/bytes/compact.ts";
import { auditAccounts } from "../audits/account_audit.ts";
import { audit } from "../audits/audit.ts";
import { withCorrections } from "../ledger/correction.ts";
import type { LedgerEntry } from "../records.ts";
import type { Store } from "../store/store.ts";
import { checkKeyUse } from "./check_key_use.ts";
import {
  createTestCaller,
  openTestAccounts,
  type TestCaller,
} from "./open_test_accounts.ts";
import { nothingOpen } from "./nothing_open.ts";
import type { PostgresServer } from "./postgres_server.ts";
import { type GatewayProcess, readReply, startProcess } from "./processes.ts";
import { postgresAt } from "./stores.ts";

/** How much is done. */
interface SeveralProcesses {
  readonly processes: number;
  readonly accounts: number;
  /** Mishaps, one after another. */
  readonly mishaps: number;
}

const HEARTBEAT_MS = 100;
const FROZEN_MS = 2000;

/** What became known of a process's calls. */
interface Served {
  readonly process: GatewayProcess;
  /** Replies that reached a client, with their output. */
  readonly replies: Map<string, number>;
  /** Ends with the process. */
  readonly reading: Promise<void>;
  isKilled: boolean;
  /** Resolves at the next reply. */
  next(): Promise<void>;
  /** Resolves when the process has written what its calls owe. */
  flushed(): Promise<void>;
}

async function serve(url: string, keys: readonly string[]): Promise<Served> {
  const process = await startProcess(url);
  const replies = new Map<string, number>();
  let onReply = (): void => {};
  const flushed = Promise.withResolvers<void>();
  const reading = (async () => {
    for (;;) {
      const line = await process.next();
      if (line === undefined) break;
      if (line === "flushed") flushed.resolve();
      if (typeof line === "string") continue;
      // Between `flushing` and `flushed` calls go on, and need not be written.
      replies.set(...readReply(line));
      onReply();
    }
    onReply();
  })();
  await process.send({ do: "serve", keys });
  return {
    process,
    replies,
    reading,
    isKilled: false,
    next: () => new Promise((resolve) => onReply = resolve),
    flushed: () => flushed.promise,
  };
}

/** Repeats until it succeeds: the server may be away. */
async function persistently<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Does it again and again until it is stopped, as far as the store answers. */
function repeatedly(work: () => Promise<void>): () => Promise<number> {
  let stops = false;
  let done = 0;
  let failure: unknown;
  const running = (async () => {
    while (!stops) {
      try {
        await work();
        done++;
      } catch (error) {
        if (error instanceof assert.AssertionError) {
          failure = error;
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  })();
  return async () => {
    stops = true;
    await running;
    if (failure !== undefined) throw failure;
    return done;
  };
}

async function auditOnce(store: Store): Promise<void> {
  const onRead = (): Promise<void> => Promise.resolve();
  const accounts = auditAccounts({ store, rows: 500, onRead });
  for await (const { findings } of accounts) assert.deepEqual(findings, []);
}

/** Fails if any reply is not charged, or charged twice, or any sum differs. */
export async function severalProcesses(
  server: PostgresServer,
  { processes: count, accounts, mishaps }: SeveralProcesses,
): Promise<void> {
  await using database = await postgresAt(server.url).createDatabase();
  const store = await database.open();
  await using opened = await openTestAccounts(
    store,
    { ms: 0, now: Date.now },
    { heartbeatMs: HEARTBEAT_MS },
  );
  const callers: TestCaller[] = [];
  for (let at = 0; at < accounts; at++) {
    callers.push(
      await createTestCaller(opened, {
        balanceMicroUsd: 1_000_000_000,
        keyLimits: { spendPerMonthMicroUsd: 1e12 },
      }),
    );
  }
  const keys = callers.map(({ key }) => key);
  const served: Served[] = [];
  const running: Served[] = [];
  const start = async (): Promise<void> => {
    const one = await serve(database.url, keys);
    served.push(one);
    running.push(one);
  };
  try {
    for (let at = 0; at < count; at++) await start();
    const { admin } = opened;
    let toppedUp = 0;
    let cursor: string | undefined;
    const exported: string[] = [];
    const exportOn = async (): Promise<void> => {
      const page = await admin.ledger({
        limit: 100,
        ...compact({ after: cursor }),
      });
      exported.push(...page.data.map(({ requestId }) => requestId));
      cursor = String(page.data.at(-1)?.seq ?? cursor ?? 0);
    };
    let turn = 0;
    const background = [
      repeatedly(() => auditOnce(store)),
      repeatedly(exportOn),
      repeatedly(async () => assert.deepEqual(await audit(store), [])),
      repeatedly(async () => {
        const one = callers[++turn % callers.length];
        if (one === undefined) return;
        const idempotencyKey = { key: `top up ${turn}`, fingerprint: "" };
        const { accountId } = one;
        await persistently(() =>
          admin.accounts.topUp(accountId, { microUsd: 7 }, idempotencyKey)
        );
        toppedUp += 7;
        await admin.plans.update(one.planId, { tokensPerDay: 1e12 + turn });
        await admin.accounts.update(accountId, { name: `name ${turn}` });
        await admin.keys.update(one.keyId, { name: `name ${turn}` });
        await admin.webhooks.set(accountId, "http://127.0.0.1:9/");
        await admin.webhooks.set(accountId, undefined);
      }),
    ];
    for (let at = 0; at < mishaps; at++) {
      const one = running[at % running.length];
      assert.ok(one !== undefined);
      for (let left = (at * 13) % 31; left >= 0; left--) await one.next();
      if (at % 3 === 0) {
        running.splice(running.indexOf(one), 1);
        one.isKilled = true;
        await one.process.kill();
        await one.reading;
        await start();
      } else if (at % 3 === 1) {
        one.process.freeze();
        await new Promise((resolve) => setTimeout(resolve, FROZEN_MS));
        one.process.thaw();
      } else {
        await server.crash();
        await server.start();
        await one.next();
      }
    }
    for (const one of running) {
      await one.process.send({ do: "flush" });
      await one.flushed();
    }
    for (const one of running) {
      await one.process.kill();
      await one.reading;
    }
    for (const stop of background) assert.ok(await stop() > 0);
    await nothingOpen(store, HEARTBEAT_MS);
    await exportOn();
    while (exported.length > 0) {
      const before = exported.length;
      await exportOn();
      if (exported.length === before) break;
    }
    const entries = (await Array.fromAsync(admin.allLedger({}))).flat();
    assert.deepEqual(exported, entries.map(({ requestId }) => requestId));
    assert.equal(new Set(exported).size, exported.length);
    checkReplies(served, entries);
    const topUps = entries.filter(({ kind }) => kind === "top_up");
    assert.equal(
      topUps.reduce((sum, { microUsd }) => sum + microUsd, 0),
      accounts * 1_000_000_000 + toppedUp,
    );
    assert.deepEqual(await audit(store), []);
    await auditOnce(store);
    await checkKeyUse(store);
  } finally {
    for (const { process } of served) await process[Symbol.asyncDispose]();
  }
}

function checkReplies(
  served: readonly Served[],
  entries: readonly LedgerEntry[],
): void {
  const charges = new Map(
    withCorrections(entries.filter(({ kind }) => kind === "charge"))
      .map((entry) => [entry.requestId, entry]),
  );
  let exact = 0;
  for (const { replies } of served) {
    for (const [id, output] of replies) {
      const entry = charges.get(id);
      assert.ok(entry !== undefined, `${id} is not in the ledger`);
      // A call that was under way at the end of its process is settled as estimated.
      if (entry.ended === "lost") continue;
      exact++;
      assert.deepEqual(
        [entry.ended, entry.estimated, entry.outputTokens, entry.microUsd],
        ["complete", false, output, -(10 + 2 * output)],
        id,
      );
    }
  }
  assert.ok(exact > 0);
}
