/**
 * Tests of charges by rate cards that every store must pass.
 */
import assert from "node:assert/strict";
import type { AccountsTest } from "./accounts_spec.ts";
import { explainCharge } from "../charges/explanation.ts";
import type { LedgerEntry } from "../records.ts";
import { MIGRATIONS } from "../store/migrations.ts";
import { readReservations } from "../rows/reservation_rows.ts";
import {
  CARD,
  createTestCaller,
  openTestAccounts,
  reserve,
  settleWhole,
  testCall,
  testClock,
} from "../testing/open_test_accounts.ts";
import type { TestStore } from "../testing/stores.ts";

export function rateCardsSpec(test: AccountsTest, kind: TestStore): void {
  test("a charge is stored with its lines, and explained by them whatever the price is later", async (bench) => {
    const { accounts, admin } = bench;
    const { caller } = await createTestCaller(bench, {
      balanceMicroUsd: 2_000_000,
    });
    const call = testCall({
      model: "carded",
      asked: {
        speed: "fast",
        meters: ["cache_write_1h"],
        uses: { web_search: 5 },
      },
    });
    const reservation = await reserve(accounts, caller, call);
    const charge = reservation.settle({
      usage: {
        input: 10,
        cacheWrite: 300,
        cacheWrite5m: 100,
        cacheWrite1h: 200,
        output: 20,
        speed: "fast",
        uses: { web_search: 2 },
      },
      generatedChars: 0,
      ended: "complete",
    });
    // (10 + 100 + 200 × 2 + 20 × 2) × 6 + 2 × 10,000
    assert.equal(charge.costMicroUsd, 3300 + 20_000);
    await bench.flush();
    const { data: [entry] } = await admin.ledger({ requestId: call.requestId });
    assert.ok(entry !== undefined);
    assert.equal(entry.microUsd, -23_300);
    assert.equal(entry.cacheWriteTokens, 300);
    assert.equal(entry.price, "1000000/100000/1000000/2000000@2026-11-01");
    const fast = { reasons: [{ because: "speed=fast", factor: 6 }] };
    assert.deepEqual(entry.lines, [
      { meter: "input", quantity: 10, rate: 1_000_000, ...fast },
      { meter: "cache_write", quantity: 100, rate: 1_000_000, ...fast },
      { meter: "cache_write_1h", quantity: 200, rate: 2_000_000, ...fast },
      { meter: "output", quantity: 20, rate: 2_000_000, ...fast },
      { meter: "uses.web_search", quantity: 2, rate: 10_000 },
    ]);
    const explained = explainCharge(entry);
    assert.equal(explained?.microUsd, 23_300);
    assert.equal(explained.version, "2026-11-01");
    assert.deepEqual(
      explained.parts.map(({ of, price }) => [of, price]),
      [
        ["input", 6_000_000],
        ["cache_write", 6_000_000],
        ["cache_write_1h", 12_000_000],
        ["output", 12_000_000],
        ["uses.web_search", 10_000],
      ],
    );
  });

  test("a call at the four base rates is stored without lines", async (bench) => {
    const { accounts, admin } = bench;
    const { caller } = await createTestCaller(bench);
    const call = testCall({ model: "carded", asked: { speed: "fast" } });
    settleWhole(await reserve(accounts, caller, call), 10, 20);
    await bench.flush();
    const { data: [entry] } = await admin.ledger({ requestId: call.requestId });
    assert.ok(entry !== undefined);
    assert.equal(entry.lines, undefined);
    assert.equal(entry.price, "1000000/100000/1000000/2000000@2026-11-01");
    assert.equal(explainCharge(entry)?.microUsd, 50);
  });

  test("the reservation is the dearest that the request can cause, at the rates that it asks for", async (bench) => {
    const { accounts, store } = bench;
    const { caller } = await createTestCaller(bench);
    const call = testCall({
      model: "carded",
      asked: { speed: "fast", uses: { web_search: 1 } },
    });
    const reservation = await reserve(accounts, caller, call);
    const rows = await readReservations({ all: store.read }, store.dialect, [
      call.requestId,
    ]);
    const stored = rows.get(call.requestId)?.call;
    // (10 + 20,000 + 20 × 2) × 6 + 10,000: what a search finds is part of the prompt.
    assert.equal(stored?.reservedMicroUsd, 130_300);
    assert.deepEqual(stored.price, {
      input: 6_000_000,
      cacheRead: 600_000,
      cacheWrite: 6_000_000,
      output: 12_000_000,
      version: CARD.version,
    });
    reservation.settle({ usage: {}, generatedChars: 0, ended: "refused" });
  });

  Deno.test(`${kind.name}: charges and reservations of before the rate cards stay as they were`, async () => {
    await using database = await kind.createDatabase();
    const clock = testClock();
    const old = await database.open({
      migrations: MIGRATIONS.slice(
        0,
        MIGRATIONS.findIndex((steps) =>
          steps.some((step) => step.includes("ADD COLUMN lines"))
        ),
      ),
    });
    const price = "1000000/100000/1000000/2000000";
    await old.write(async (sql) => {
      await sql.all("INSERT INTO plans (id, created_at_ms) VALUES ('p', 1)");
      await sql.all(
        `INSERT INTO accounts (id, name, status, billing, plan_id, balance_micro_usd, reserved_micro_usd,
           reserved_tokens, open_requests, created_at_ms)
         VALUES ('a', '', 'active', 'prepaid', 'p', 4000, 600, 300, 1, 1)`,
      );
      await sql.all(
        `INSERT INTO ledger (request_id, kind, account_id, key_id, model, purse, input_tokens, cache_read_tokens,
           cache_write_tokens, output_tokens, reasoning_tokens, price, estimated, ended, micro_usd, at_ms)
         VALUES ('top', 'top_up', 'a', NULL, NULL, '', 0, 0, 0, 0, 0, NULL, 0, NULL, 4231, 1),
           ('req_old', 'charge', 'a', 'k', 'small', '', 100, 205, 30, 40, 0, '${price}', 0, 'complete', -231, 2)`,
      );
      await sql.all(
        `INSERT INTO reservations (request_id, owner_id, account_id, key_id, model, purse, input_tokens,
           max_output_tokens, price, reserved_micro_usd, reserved_tokens, at_ms)
         VALUES ('req_open', 'gone', 'a', 'k', 'carded', '', 100, 200, '${price}', 600, 300, $1)`,
        [clock.ms - 3 * 3_600_000],
      );
    });
    await old.close();
    await using opened = await openTestAccounts(await database.open(), clock);
    const entryOf = async (requestId: string): Promise<LedgerEntry> => {
      const { data: [entry] } = await opened.admin.ledger({ requestId });
      assert.ok(entry !== undefined);
      return entry;
    };
    const entry = await entryOf("req_old");
    assert.equal(entry.lines, undefined);
    assert.deepEqual(
      explainCharge(entry)?.parts.map((
        { of, tokens, price },
      ) => [of, tokens, price]),
      [
        ["input", 100, 1_000_000],
        ["cache_read", 205, 100_000],
        ["cache_write", 30, 1_000_000],
        ["output", 40, 2_000_000],
      ],
    );
    assert.equal(explainCharge(entry)?.microUsd, 231);
    // 100 + 200 × 2: the average output of a model without replies is above the call's maximum.
    assert.equal((await entryOf("req_open")).microUsd, -500);
    const account = await opened.admin.accounts.get("a");
    assert.equal(account.balanceMicroUsd, 4000 - 500);
    assert.equal(account.reservedMicroUsd, 0);
  });
}
