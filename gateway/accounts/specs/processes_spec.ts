/**
 * Tests with several real processes on one store, also when a process dies.
 */
import assert from "node:assert/strict";
import { audit } from "../audits/audit.ts";
import { checkKeyUse } from "../testing/check_key_use.ts";
import {
  createTestCaller,
  openTestAccounts,
  testClock,
} from "../testing/open_test_accounts.ts";
import { nothingOpen } from "../testing/nothing_open.ts";
import { readReply, startProcess } from "../testing/processes.ts";
import type { TestStore } from "../testing/stores.ts";

const KILLS = 20;

export function processesSpec(kind: TestStore): void {
  for (
    const [what, balanceMicroUsd, keyLimits] of [
      ["one balance", 10_000, { spendPerMonthMicroUsd: 1e12 }],
      ["the limit of one key", 1_000_000, { spendPerMonthMicroUsd: 10_000 }],
    ] as const
  ) {
    Deno.test(`${kind.name}: two processes spend ${what} completely, but no more`, async () => {
      await using database = await kind.createDatabase();
      const store = await database.open();
      // The processes use the system's clock; the limit of a month hardly ends during the test.
      await using opened = await openTestAccounts(store, testClock(Date.now()));
      const { key, accountId } = await createTestCaller(opened, {
        balanceMicroUsd,
        keyLimits,
      });
      const spent = await spendInTwo(database.url, key);
      const account = await opened.admin.accounts.get(accountId);
      assert.equal(account.balanceMicroUsd, balanceMicroUsd - spent);
      assert.equal(account.reservedMicroUsd, 0);
      // Another call would have reserved 50.
      assert.ok(spent <= 10_000 && spent > 10_000 - 50 * 21, `${spent}`);
      await checkKeyUse(store);
      assert.deepEqual(await audit(store), []);
    });
  }

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
    const maxMs = kind.name === "sqlite" ? 1000 : 5000;
    assert.ok(tookMs < maxMs, `it took ${tookMs} ms`);
  });

  Deno.test(`${kind.name}: kill -9 under load, ${KILLS} times: every reply is in the ledger, once`, async () => {
    await using database = await kind.createDatabase();
    const delivered = new Map<string, number>();
    const note = (line: unknown): void => {
      const [requestId, output] = readReply(line);
      assert.ok(!delivered.has(requestId));
      delivered.set(requestId, output);
    };
    const keys = await (async () => {
      await using opened = await openTestAccounts(
        await database.open(),
        testClock(),
      );
      const prepaid = await createTestCaller(opened, {
        balanceMicroUsd: 1_000_000_000,
        concurrentRequests: 1000,
        keyLimits: { requestsPerMinute: 1e9, spendPerMonthMicroUsd: 1e12 },
      });
      return [opened.freshKey ?? "", prepaid.key];
    })();
    for (let kill = 0; kill < KILLS; kill++) {
      await using process = await startProcess(database.url);
      await process.send({ do: "load", keys });
      // Killed after a varying number of replies: each time at another point of its work.
      for (let replies = (kill * 13) % 47; replies >= 0; replies--) {
        note(await process.next());
      }
      await process.kill();
      for (;;) {
        const line = await process.next();
        if (line === undefined) break;
        note(line);
      }
    }
    const store = await database.open();
    const heartbeatMs = 100;
    await using opened = await openTestAccounts(
      store,
      { ms: 0, now: Date.now },
      { heartbeatMs },
    );
    await nothingOpen(store, heartbeatMs);
    assert.deepEqual(await audit(store), []);
    const all = await Array.fromAsync(opened.admin.allLedger({}));
    const entries = new Map(all.flat().map((one) => [one.requestId, one]));
    let exact = 0;
    for (const [requestId, output] of delivered) {
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
