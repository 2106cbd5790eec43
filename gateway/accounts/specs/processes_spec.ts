/**
 * Tests with several real processes on one store, also when a process dies.
 */
import assert from "node:assert/strict";
import { audit } from "../audits/audit.ts";
import type { LedgerEntry } from "../records.ts";
import { checkKeyUse } from "../testing/check_key_use.ts";
import {
  createTestCaller,
  openTestAccounts,
  testClock,
} from "../testing/open_test_accounts.ts";
import { startProcess } from "../testing/processes.ts";
import type { TestStore } from "../testing/stores.ts";

const KILLS = 20;

/** A reply that reached a client. */
interface Delivered {
  readonly requestId: string;
  readonly output: number;
}

/** Registers the tests for a kind of store. */
export function processesSpec(kind: TestStore): void {
  Deno.test(`${kind.name}: two processes spend one balance completely, but no more`, async () => {
    await using database = await kind.createDatabase();
    const store = await database.open();
    await using opened = await openTestAccounts(store, testClock());
    const { key, accountId } = await createTestCaller(opened, {
      balanceMicroUsd: 10_000,
    });
    const spent = await spendInTwo(database.url, key);
    const account = await opened.admin.accounts.get(accountId);
    assert.equal(account.balanceMicroUsd, 10_000 - spent);
    // Another call would have reserved 50.
    assert.ok(
      account.balanceMicroUsd >= 0 && account.balanceMicroUsd < 50 * 21,
    );
    assert.equal(account.reservedMicroUsd, 0);
    assert.deepEqual(await audit(store), []);
  });

  Deno.test(`${kind.name}: two processes spend the limit of one key completely, but no more`, async () => {
    await using database = await kind.createDatabase();
    const store = await database.open();
    // The processes use the system's clock; the limit of a month hardly ends during the test.
    await using opened = await openTestAccounts(store, testClock(Date.now()));
    const { key, accountId } = await createTestCaller(opened, {
      keyLimits: { spendPerMonthMicroUsd: 10_000 },
    });
    const spent = await spendInTwo(database.url, key);
    const account = await opened.admin.accounts.get(accountId);
    assert.equal(account.balanceMicroUsd, 1_000_000 - spent);
    // Another call would have reserved 50.
    assert.ok(spent <= 10_000 && spent > 10_000 - 50 * 21, `${spent} is spent`);
    await checkKeyUse(store);
    assert.deepEqual(await audit(store), []);
  });

  Deno.test(`${kind.name}: a key revoked in one process is soon refused by another`, async () => {
    await using database = await kind.createDatabase();
    const store = await database.open();
    await using opened = await openTestAccounts(store, testClock());
    const { key, caller } = await createTestCaller(opened);
    await using other = await startProcess(database.url);
    const isValid = async (): Promise<unknown> => {
      await other.send({ do: "authenticate", key });
      return await other.next();
    };
    assert.equal(await isValid(), true);
    await opened.admin.keys.revoke(caller.keyId);
    const revokedAtMs = performance.now();
    while (await isValid() === true);
    const tookMs = performance.now() - revokedAtMs;
    assert.ok(
      tookMs < (kind.name === "sqlite" ? 1000 : 5000),
      `it took ${tookMs} ms`,
    );
  });

  Deno.test(`${kind.name}: kill -9 under load, ${KILLS} times: every reply is in the ledger, once`, async () => {
    await using database = await kind.createDatabase();
    const delivered = new Map<string, Delivered>();
    const { keys, accountIds } = await (async () => {
      await using opened = await openTestAccounts(
        await database.open(),
        testClock(),
      );
      const prepaid = await createTestCaller(opened, {
        balanceMicroUsd: 1_000_000_000,
        concurrentRequests: 1000,
        keyLimits: { requestsPerMinute: 1e9, spendPerMonthMicroUsd: 1e12 },
      });
      return {
        keys: [opened.freshKey ?? "", prepaid.key],
        accountIds: ["default", prepaid.accountId],
      };
    })();
    for (let kill = 0; kill < KILLS; kill++) {
      await using process = await startProcess(database.url);
      await process.send({ do: "load", keys });
      // Killed after a varying number of replies: each time at another point of its work.
      for (let replies = (kill * 13) % 47; replies >= 0; replies--) {
        note(delivered, await process.next());
      }
      await process.kill();
      for (;;) {
        const line = await process.next();
        if (line === undefined) break;
        note(delivered, line);
      }
    }
    const store = await database.open();
    const nothingOpen = Promise.withResolvers<void>();
    const checkReservations = async (): Promise<void> => {
      const rows = await store.read("SELECT request_id FROM open_calls");
      if (rows.length === 0) nothingOpen.resolve();
    };
    await using opened = await openTestAccounts(
      store,
      { ms: 0, now: Date.now },
      {
        heartbeatMs: 100,
        onEvent: () => void checkReservations(),
      },
    );
    await checkReservations();
    await nothingOpen.promise;
    assert.deepEqual(await audit(store), []);
    const entries = new Map<string, LedgerEntry>();
    for (const accountId of accountIds) {
      for await (const page of opened.admin.allLedger({ accountId })) {
        for (const entry of page) entries.set(entry.requestId, entry);
      }
    }
    let exact = 0;
    for (const { requestId, output } of delivered.values()) {
      const entry = entries.get(requestId);
      assert.ok(entry !== undefined, `${requestId} is not in the ledger`);
      if (entry.ended === "lost") assert.equal(entry.estimated, true);
      else {
        exact++;
        assert.equal(entry.outputTokens, output);
        assert.equal(entry.microUsd, -(10 + 2 * output));
      }
    }
    assert.ok(exact > 0);
    const lost = [...entries.values()].filter((entry) =>
      entry.ended === "lost"
    );
    assert.ok(lost.length > 0);
    assert.ok(lost.every((entry) => entry.microUsd >= -50));
  });
}

function note(delivered: Map<string, Delivered>, line: unknown): void {
  assert.ok(typeof line === "object" && line !== null);
  assert.ok("requestId" in line && typeof line.requestId === "string");
  assert.ok("output" in line && typeof line.output === "number");
  const { requestId, output } = line;
  assert.ok(!delivered.has(requestId));
  delivered.set(requestId, { requestId, output });
}

/** Spends with a key in two processes at once, until it is refused; gives what both have spent. */
async function spendInTwo(url: string, key: string): Promise<number> {
  await using one = await startProcess(url);
  await using two = await startProcess(url);
  const processes = [one, two];
  let spent = 0;
  for (const process of processes) await process.send({ do: "spend", key });
  for (const process of processes) spent += Number(await process.next());
  for (const process of processes) {
    await process.send({ do: "end" });
    assert.equal(await process.next(), "ended");
  }
  return spent;
}
