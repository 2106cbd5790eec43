/**
 * Tests of calls that were charged as lost although their process lives: it could not reach the
 * store, or was suspended, for longer than its lease.
 */
import assert from "node:assert/strict";
import type { Reservation } from "../accounts.ts";
import type { CallOutcome } from "../call_outcome.ts";
import { reconcile } from "../../reconcile/reconcile.ts";
import { exportLedger } from "../../admin/ledger.ts";
import { audit } from "../audits/audit.ts";
import { chargeFor } from "../charges/charge.ts";
import { explainCharge } from "../charges/explanation.ts";
import { applyEvents } from "../ledger/transaction.ts";
import type { LedgerEntry, LimitSettings } from "../records.ts";
import type { AccountsEvent, OpenedAccounts } from "../service.ts";
import type { Store } from "../store/store.ts";
import { checkKeyUse } from "../testing/check_key_use.ts";
import { type FaultyStore, faultyStores } from "../testing/faulty_store.ts";
import {
  createTestCaller,
  expectRefusal,
  openTestAccounts,
  PRICE,
  reserve,
  testCall,
  type TestCaller,
  type TestClock,
  testClock,
} from "../testing/open_test_accounts.ts";
import type { TestStore } from "../testing/stores.ts";

/** What the upstream reported: 7 and 2 · 90 micro-dollars. */
const REPORTED: CallOutcome = {
  usage: { input: 7, output: 90 },
  generatedChars: 360,
  ended: "complete",
};
const CALL = { inputTokens: 10, maxOutputTokens: 100 };

interface Scene {
  readonly clock: TestClock;
  readonly store: Store;
  /** The process that serves the calls. */
  readonly serving: OpenedAccounts & { readonly store: FaultyStore };
  /** The process that finds them. */
  readonly other: OpenedAccounts;
  readonly events: AccountsEvent[];
  readonly who: TestCaller;
  /** The serving process loses the store, and the other one settles its calls. */
  cut(): Promise<void>;
  /** The serving process reaches the store again and writes what it has. */
  heal(): Promise<void>;
  entries(): Promise<readonly LedgerEntry[]>;
  balance(): Promise<number>;
}

export function lateSettlementSpec(kind: TestStore): void {
  const test = (
    name: string,
    run: (scene: Scene) => Promise<void>,
    limits: LimitSettings & { readonly balanceMicroUsd?: number } = {},
  ): void => {
    Deno.test(`${kind.name}: ${name}`, async () => {
      await using database = await kind.createDatabase();
      await using store = await database.open();
      const view = faultyStores(store);
      const clock = testClock();
      const events: AccountsEvent[] = [];
      const servingStore = view();
      let heartbeat = (): void => {};
      await using serving = await openTestAccounts(servingStore, clock, {
        onEvent: (event) => events.push(event),
        calls: { maxAgeMs: 1e12, maxRows: 1e6 },
      });
      const recovered = Promise.withResolvers<void>();
      await using other = await openTestAccounts(view(), clock, {
        heartbeatMs: 1234,
        timer: (ms, run) => {
          if (ms === 1234) heartbeat = run;
          return () => {};
        },
        onEvent: (event) => event.type === "recovered" && recovered.resolve(),
      });
      const who = await createTestCaller(serving, {
        ...limits,
        keyLimits: { tokensPerMonth: 1e12 },
      });
      await run({
        clock,
        store,
        serving: { ...serving, store: servingStore },
        other,
        events,
        who,
        async cut() {
          servingStore.setDown(true);
          servingStore.die();
          heartbeat();
          await recovered.promise;
        },
        async heal() {
          servingStore.setDown(false);
          clock.ms += 1000;
          await serving.flush();
          await serving.calls?.flush();
        },
        entries: async () =>
          (await Array.fromAsync(other.admin.allLedger({ kind: "charge" })))
            .flat(),
        balance: async () =>
          (await other.admin.accounts.get(who.accountId)).balanceMicroUsd,
      });
      assert.deepEqual(await audit(store), []);
    });
  };

  const lose = async (scene: Scene): Promise<Reservation> => {
    const { serving, who } = scene;
    const call = testCall(CALL);
    const reservation = await reserve(serving.accounts, who.caller, call);
    await scene.cut();
    return reservation;
  };
  /** A call that is charged as lost and then as reported. */
  const loseAndHeal = async (
    scene: Scene,
    outcome = REPORTED,
  ): Promise<void> => {
    (await lose(scene)).settle(outcome);
    await scene.heal();
  };

  test("a call charged as lost is charged by its true usage when its process is back", async (scene) => {
    const reservation = await lose(scene);
    const [lost] = await scene.entries();
    assert.equal(lost?.ended, "lost");
    // The average of a model without calls is above the call's maximum.
    assert.equal(lost.microUsd, -210);
    reservation.settle(REPORTED);
    await scene.heal();
    const [first, correction, ...others] = await scene.entries();
    assert.deepEqual([first, others], [lost, []]);
    assert.equal(correction?.corrects, lost.requestId);
    assert.equal(correction.ended, "complete");
    assert.equal(correction.estimated, false);
    assert.equal(correction.microUsd, 210 - 187);
    assert.equal(correction.inputTokens, 7 - 10);
    assert.equal(correction.outputTokens, 90 - 100);
    assert.equal(await scene.balance(), 1_000_000 - 187);
    assert.ok(
      scene.events.some((event) =>
        event.type === "corrected" && event.calls === 1
      ),
    );
    await checkKeyUse(scene.store);
    const { totals } = await scene.other.admin.usage({ by: ["model"] });
    assert.deepEqual(totals, {
      requests: 1,
      estimatedRequests: 0,
      inputTokens: 7,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      outputTokens: 90,
      reasoningTokens: 0,
      microUsd: 187,
      estimatedMicroUsd: 0,
    });
    const { requestId } = lost;
    const { data } = await scene.other.admin.ledger({ requestId });
    assert.deepEqual(data, [lost, correction]);
  });

  test("the call's record and explanation follow the correction", async (scene) => {
    const { serving, other } = scene;
    const reservation = await lose(scene);
    const [lost] = await scene.entries();
    const requestId = lost?.requestId ?? "";
    const before = await other.admin.calls.get(requestId, {});
    assert.equal(before.record.ended, "lost");
    reservation.settle(REPORTED);
    await scene.heal();
    const { record, entry } = await other.admin.calls.get(requestId, {});
    assert.deepEqual(
      [record.ended, record.microUsd, record.outputTokens, record.estimated],
      ["complete", 187, 90, false],
    );
    assert.equal(entry?.corrects, requestId);
    assert.equal(explainCharge(entry)?.microUsd, 187);
    // The process's own record has what only it knows.
    serving.calls?.add({ ...record, status: 200, durationMs: 30_000 });
    await serving.calls?.flush();
    const [found] = (await other.admin.calls.list({})).data;
    assert.deepEqual(
      [found?.record.status, found?.record.durationMs, found?.entry],
      [200, 30_000, entry],
    );
    const [count] = await scene.store.read("SELECT rows_kept FROM call_count");
    assert.equal(count?.["rows_kept"], 1);
  });

  test("a process's own record of a call replaces the one of its loss", async (scene) => {
    const { serving, other } = scene;
    const reservation = await lose(scene);
    const { data: [call] } = await other.admin.calls.list({});
    assert.ok(call !== undefined);
    serving.store.setDown(false);
    serving.calls?.add({ ...call.record, ended: "complete", status: 200 });
    await serving.calls?.flush();
    reservation.settle(REPORTED);
    await scene.heal();
    const { data } = await other.admin.calls.list({});
    assert.deepEqual(
      data.map(({ record, entry }) => [record.status, entry?.microUsd]),
      [[200, -187]],
    );
  });

  test("a correction is entered once, whatever is repeated", async (scene) => {
    const { serving, store, clock } = scene;
    const reservation = await lose(scene);
    reservation.settle(REPORTED);
    // Committed, but the reply is lost: the settlement is repeated.
    serving.store.failNext("after");
    await scene.heal();
    await scene.heal();
    assert.deepEqual(
      scene.events.filter(({ type }) => type === "corrected"),
      [{ type: "corrected", calls: 1 }],
    );
    const entries = await scene.entries();
    assert.equal(entries.length, 2);
    const [lost] = entries;
    assert.ok(lost?.keyId !== undefined && lost.model !== undefined);
    const call = {
      ...CALL,
      requestId: lost.requestId,
      accountId: lost.accountId,
      keyId: lost.keyId,
      model: lost.model,
      price: PRICE,
      reservedMicroUsd: 210,
      atMs: clock.ms,
    };
    const again = {
      type: "settle" as const,
      call,
      charge: chargeFor(call, REPORTED),
      atMs: clock.ms,
    };
    const voided = { type: "void" as const, call, atMs: clock.ms };
    const results = await store.write((sql) =>
      applyEvents(sql, store.dialect, [again, again, voided])
    );
    assert.ok(results.every(({ type }) => type === "duplicate"));
    assert.equal(results.length, 3);
    assert.deepEqual(await scene.entries(), entries);
    assert.equal(await scene.balance(), 1_000_000 - 187);
  });

  test("a call settled before it is found lost has one entry", async (scene) => {
    const { serving, who } = scene;
    const call = testCall(CALL);
    const reservation = await reserve(serving.accounts, who.caller, call);
    const other = await reserve(serving.accounts, who.caller, testCall(CALL));
    reservation.settle(REPORTED);
    await serving.flush();
    await scene.cut();
    other.settle({ ...REPORTED, usage: { input: 7, output: 100 } });
    await scene.heal();
    assert.deepEqual(
      (await scene.entries()).map(({ microUsd }) => microUsd),
      // The estimate is the average of the calls before.
      [-187, -190, 190 - 207],
    );
    assert.equal(await scene.balance(), 1_000_000 - 187 - 207);
  });

  test(
    "a charge above the estimate is taken from the same balance, and warns",
    async (scene) => {
      const { other, who } = scene;
      const topUp = { microUsd: 300, model: "small" };
      await other.admin.accounts.topUp(who.accountId, topUp);
      await other.admin.webhooks.set(who.accountId, "https://example.com/");
      const usage = { input: 10, output: 400 };
      await loseAndHeal(scene, { ...REPORTED, usage });
      const [, correction] = await scene.entries();
      assert.equal(correction?.microUsd, 210 - 810);
      assert.equal(correction.balanceModel, "small");
      const account = await other.admin.accounts.get(who.accountId);
      assert.deepEqual(
        account.modelBalances.map(({ balanceMicroUsd }) => balanceMicroUsd),
        [300 - 810],
      );
      assert.equal(account.balanceMicroUsd, 1_000_000);
      const [message, ...others] = await scene.store.read(
        "SELECT body FROM webhook_messages",
      );
      assert.match(String(message?.["body"]), /"used_micro_usd":810,/);
      assert.deepEqual(others, []);
    },
    { spendPerDayMicroUsd: 1000 },
  );

  test("a refused call whose reservation was written is charged nothing", async (scene) => {
    const { serving, who } = scene;
    serving.store.failNext("after");
    const call = testCall(CALL);
    await expectRefusal(serving.accounts, who.caller, { status: 503 }, call);
    await scene.cut();
    assert.equal(await scene.balance(), 1_000_000 - 210);
    await scene.heal();
    const [lost, correction] = await scene.entries();
    assert.equal(lost?.ended, "lost");
    assert.equal(correction?.microUsd, 210);
    assert.equal(correction.ended, "refused");
    assert.equal(await scene.balance(), 1_000_000);
  });

  test("an estimate is corrected whatever became of the key, the account and the plan", async (scene) => {
    const { admin } = scene.other;
    const { keyId, accountId, planId } = scene.who;
    const reservation = await lose(scene);
    await admin.keys.update(keyId, { tokensPerMonth: null });
    await admin.keys.revoke(keyId);
    await admin.accounts.update(accountId, { status: "disabled" });
    await admin.plans.update(planId, { models: ["large"], tokensPerDay: 1 });
    reservation.settle(REPORTED);
    await scene.heal();
    assert.equal(await scene.balance(), 1_000_000 - 187);
  });

  test("a correction counts in the day, week and month of the charge that it corrects", async (scene) => {
    const { clock, other, who } = scene;
    const reservation = await lose(scene);
    // From Saturday to Monday: another day and week, the same month.
    clock.ms += 2 * 86_400_000;
    reservation.settle({ ...REPORTED, usage: { input: 10, output: 200 } });
    await scene.heal();
    const { data } = await other.admin.usage({ by: ["day"] });
    assert.deepEqual(
      data.map(({ day, microUsd }) => [day, microUsd]),
      [["2026-11-21", 410]],
    );
    const [row] = await scene.store.read(
      "SELECT day_spent_micro_usd AS day, week_spent_micro_usd AS week, month_spent_micro_usd AS month FROM accounts WHERE id = $1",
      [who.accountId],
    );
    assert.deepEqual({ ...row }, { day: 0, week: 0, month: 410 });
    const [, correction] = await scene.entries();
    assert.equal(correction?.atMs, (await scene.entries())[0]?.atMs);
  });

  test("exports have the correction, and add up", async (scene) => {
    await loseAndHeal(scene);
    const [lost] = await scene.entries();
    const textOf = async (format: string): Promise<readonly string[]> => {
      const account = scene.who.accountId;
      const { text } = exportLedger(scene.other.admin, { format, account });
      return (await Array.fromAsync(text)).join("").trim().split(/\r?\n/);
    };
    const cell = (lines: readonly string[], line: string, name: string) =>
      line.split(",")[(lines[0] ?? "").split(",").indexOf(name)];
    const csv = await textOf("csv");
    const last = csv.at(-1) ?? "";
    assert.equal(cell(csv, last, "micro_usd"), "23");
    assert.equal(cell(csv, last, "corrects"), lost?.requestId);
    const focus = await textOf("focus");
    assert.deepEqual(
      focus.slice(1).map((line) => [
        cell(focus, line, "ConsumedQuantity"),
        cell(focus, line, "BilledCost"),
        cell(focus, line, "ResourceId") === lost?.requestId,
        cell(focus, line, "ChargeDescription"),
      ]),
      [
        ["10", "0.00001", true, "Input tokens of small"],
        ["100", "0.0002", true, "Output tokens of small"],
        ["-3", "-0.000003", true, "Input tokens of small (correction)"],
        ["-10", "-0.00002", true, "Output tokens of small (correction)"],
      ],
    );
  });

  test("a corrected charge agrees with the vendor's line of the call", async (scene) => {
    const { serving, who } = scene;
    const other = await reserve(serving.accounts, who.caller, testCall(CALL));
    const reservation = await lose(scene);
    reservation.settle(REPORTED);
    other.settle({ ...REPORTED, usage: { input: 9, output: 80 } });
    await scene.heal();
    // The price of the second call differs.
    const file = `date,model,request_id,input_tokens,output_tokens,cost_usd
2026-11-21,small,a,7,90,0.000187
2026-11-21,small,b,9,80,0.000269
`;
    const { groups: [group], findings } = await reconcile(
      scene.other.admin,
      [{ id: "small", price: PRICE, candidates: [] }],
      ReadableStream.from([file]),
      {},
    );
    assert.equal(group?.ours.calls, 2);
    assert.deepEqual(
      findings.map(({ cause, picoUsd, tokens }) => [
        cause,
        picoUsd,
        tokens?.output,
      ]),
      [["priceChanged", 100_000_000n, 80]],
    );
  });

  test("the audit finds a correction without its charge", async (scene) => {
    await loseAndHeal(scene);
    const { store } = scene;
    const SET = "UPDATE ledger SET corrects = $1 WHERE corrects IS NOT NULL";
    const change = (corrects: string): Promise<unknown> =>
      store.write((sql) => sql.all(SET, [corrects]));
    const [lost] = await scene.entries();
    await change("req_other");
    assert.deepEqual(await audit(store), [
      `${lost?.requestId}.correction: a correction does not belong to one lost call of its account: 1 stored, 0 computed`,
    ]);
    await change(lost?.requestId ?? "");
  });
}
