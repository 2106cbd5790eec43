/**
 * Tests with a process whose clock is wrong.
 */
import assert from "node:assert/strict";
import { dayOf, dayText } from "../limits/calendar_window.ts";
import {
  callWhole,
  createTestCaller,
  expectRefusal,
  openTestAccounts,
} from "../testing/open_test_accounts.ts";
import { type AccountsEvent } from "../service.ts";
import type { TestStore } from "../testing/stores.ts";

const AHEAD_MS = 400 * 86_400_000;

export function clockSpec(kind: TestStore): void {
  Deno.test(`${kind.name}: a process whose clock is 400 days ahead locks no account beyond today, and reports it`, async () => {
    await using database = await kind.createDatabase();
    const events: AccountsEvent[] = [];
    const open = async (now: () => number) => {
      const store = await database.open({ now });
      return await openTestAccounts(store, {
        ms: 0,
        now: () => store.clock.now(),
      }, {
        onEvent: (event) => events.push(event),
      });
    };
    await using wrong = await open(() => Date.now() + AHEAD_MS);
    await using right = await open(Date.now);
    const { caller, key, accountId } = await createTestCaller(wrong, {
      spendPerDayMicroUsd: 100,
      tokensPerMinute: 1000,
    });
    await callWhole(wrong.accounts, caller, [100, 0]);
    await wrong.flush();
    const { data: [entry] } = await right.admin.ledger({
      accountId,
      kind: "charge",
    });
    assert.ok(Math.abs((entry?.atMs ?? 0) - Date.now()) < 60_000);
    const today = dayOf(Date.now());
    const error = await expectRefusal(
      right.accounts,
      await right.accounts.authenticate([key]),
    );
    const opens = [today, today + 1].map((day) => dayText(day + 1));
    assert.ok(
      opens.some((text) => error.message.includes(text)),
      error.message,
    );
    // Only the wrong one reports.
    const [event, ...others] = events;
    assert.equal(event?.type, "clock_differs");
    assert.ok(Math.abs(event.ahead_ms - AHEAD_MS) < 60_000);
    assert.deepEqual(others, []);
    assert.ok(Math.abs(right.storeClock.aheadMs()) < 5000);
  });
}
