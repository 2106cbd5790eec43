/**
 * The records of calls: tests that every store must pass.
 */
import assert from "node:assert/strict";
import { compact } from "../../../translate/bytes/compact.ts";
import { ApiError } from "../../../translate/model/error.ts";
import { type CallBook, openCallBook } from "../calls/call_book.ts";
import { CALL, type CallRecord, firstCallId } from "../calls/call_record.ts";
import { outcomeOf } from "../calls/outcome.ts";
import type { Admin } from "../repositories/admin.ts";
import type { CallHealthQuery } from "../reports/call_health.ts";
import type { CallQuery } from "../reports/call_report.ts";
import { correctCall, insertCalls, removeOldCalls } from "../rows/call_rows.ts";
import { migrate } from "../store/migrate.ts";
import { MIGRATIONS } from "../store/migrations.ts";
import { insertRow, rowOf } from "../rows/record_rows.ts";
import { intOf, type Store } from "../store/store.ts";
import { faultyStores } from "../testing/faulty_store.ts";
import {
  PRICE,
  type TestClock,
  testClock,
} from "../testing/open_test_accounts.ts";
import { readingAdmin } from "../testing/reading_admin.ts";
import type { TestStore } from "../testing/stores.ts";
import { chargeFor } from "../charges/charge.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

interface Bench {
  readonly store: Store;
  readonly clock: TestClock;
  readonly admin: Admin;
  readonly book: CallBook;
  /** Runs the timers with this wait; false: what they do not write stays in memory. */
  readonly elapse: (ms: number, flushes?: boolean) => Promise<void>;
}

let made = 0;

/** A record that arrived at a time. */
function record(atMs: number, fields: Partial<CallRecord> = {}): CallRecord {
  return {
    requestId: firstCallId(atMs) + String(made++).padStart(15, "0"),
    accountId: "acme",
    keyId: "key_1",
    model: "small",
    endpoint: "/v1/messages",
    stream: false,
    status: 200,
    ended: "complete",
    durationMs: 10,
    estimated: false,
    microUsd: 5,
    more: 0,
    ...fields,
  };
}

const refusal = {
  status: 429,
  ended: "refused",
  code: "requests_per_minute",
  why: { limit: 60, used: 60, needed: 1, retry_after_seconds: 1 },
  microUsd: 0,
} as const;

export function callBookSpec(kind: TestStore): void {
  const test = (
    name: string,
    run: (bench: Bench) => Promise<void>,
    options: { readonly maxRows?: number } = {},
  ): void => {
    Deno.test(`${kind.name}: ${name}`, async () => {
      await using database = await kind.createDatabase();
      await using store = await database.open();
      const clock = testClock();
      const timers = new Set<{ readonly ms: number; run(): void }>();
      const book = openCallBook({
        dialect: store.dialect,
        write: store.write,
        now: clock.now,
        timer: (ms, run) => {
          const one = { ms, run };
          timers.add(one);
          return () => timers.delete(one);
        },
        maxAgeMs: 30 * DAY_MS,
        maxRows: options.maxRows ?? 1_000_000,
      });
      try {
        await run({
          store,
          clock,
          book,
          admin: readingAdmin(store, clock.now, book.flush),
          async elapse(ms, flushes = true) {
            for (const one of [...timers]) {
              if (one.ms !== ms) continue;
              timers.delete(one);
              one.run();
            }
            if (flushes) await book.flush();
            await store.write(() => Promise.resolve());
          },
        });
      } finally {
        await book.close();
      }
    });
  };

  test("the records of a second are written together, and read as they were", async ({ book, admin, clock, elapse }) => {
    const full = record(clock.ms, {
      user: "ann",
      stream: true,
      code: "upstream",
      why: { limit: 1 },
      firstByteMs: 3,
      firstTokenMs: 4,
      inputTokens: 1,
      cacheReadTokens: 2,
      cacheWriteTokens: 3,
      outputTokens: 4,
      reasoningTokens: 2,
      estimated: true,
      upstream: "vendora/x",
      attempts: [{ upstream: "vendora/x", after_ms: 1, duration_ms: 9 }],
      dropped: ["seed"],
      traceId: "ab".repeat(16),
    });
    const { model: _, stream: __, ...plain } = record(clock.ms + 1, refusal);
    book.add(full);
    book.add(plain);
    assert.deepEqual((await admin.calls.list({})).data, []);
    await elapse(1000);
    const { data } = await admin.calls.list({});
    assert.deepEqual(data.map((call) => call.record), [plain, full]);
    assert.deepEqual(data.map(({ atMs }) => atMs), [clock.ms + 1, clock.ms]);
  });

  test("many records are written soon, so that no write is long", async ({ book, clock, store, elapse }) => {
    const written = async (): Promise<number> =>
      Number((await store.read("SELECT count(*) AS n FROM calls"))[0]?.["n"]);
    for (let at = 0; at < 24; at++) book.add(record(clock.ms));
    await elapse(50, false);
    assert.equal(await written(), 0);
    book.add(record(clock.ms));
    book.add(record(clock.ms));
    await elapse(50, false);
    // On Postgres, writes run beside each other.
    let rows = 0;
    for (let look = 0; look < 1000 && rows === 0; look++) {
      rows = await written();
    }
    assert.equal(rows, 26);
  });

  test("a call is found by its id before its second is over, by its own account only", async ({ book, admin, clock }) => {
    const one = record(clock.ms);
    book.add(one);
    const { requestId } = one;
    for (const scope of [{}, { accountId: "acme" }, { keyId: "key_1" }]) {
      assert.deepEqual((await admin.calls.get(requestId, scope)).record, one);
    }
    for (const scope of [{ accountId: "other" }, { keyId: "key_2" }]) {
      await assert.rejects(
        admin.calls.get(requestId, scope),
        (error) => error instanceof ApiError && error.kind === "not_found",
      );
    }
  });

  test("each filter of a list equals the same filter over all records, page by page", async ({ book, admin, clock }) => {
    const all: CallRecord[] = [];
    for (let at = 0; at < 2600; at++) {
      all.push(record(clock.ms + at * 60_000, {
        accountId: at % 2 === 0 ? "acme" : "other",
        keyId: `key_${at % 4}`,
        model: `model_${at % 3}`,
        status: at % 7 === 0 ? 503 : 200,
        ended: at % 7 === 0 ? "failed" : "complete",
        ...(at % 7 === 0 ? { code: "unavailable" } : {}),
        ...(at % 900 === 0 ? { user: "rare" } : {}),
        microUsd: at,
        durationMs: 2600 - at,
      }));
    }
    for (const one of all) book.add(one);
    await book.flush();
    const from = clock.ms + 100 * 60_000;
    const to = clock.ms + 1500 * 60_000;
    const cases: readonly (readonly [
      CallQuery,
      (one: CallRecord, at: number) => boolean,
    ])[] = [
      [{}, () => true],
      [{ accountId: "acme" }, (one) => one.accountId === "acme"],
      [{ keyId: "key_3" }, (one) => one.keyId === "key_3"],
      [{ keyId: "key_3", accountId: "acme" }, () => false],
      [{ model: "model_1" }, (one) => one.model === "model_1"],
      [
        { status: 503, accountId: "acme" },
        (one) => one.status === 503 && one.accountId === "acme",
      ],
      [{ ended: "failed" }, (one) => one.ended === "failed"],
      [{ code: "unavailable" }, (one) => one.code === "unavailable"],
      [{ user: "rare" }, (one) => one.user === "rare"],
      [{ minMicroUsd: 2590 }, (one) => one.microUsd >= 2590],
      [{ minMs: 2590 }, (one) => (one.durationMs ?? 0) >= 2590],
      [{ fromMs: from, toMs: to }, (_, at) => at >= 100 && at < 1500],
      [
        { fromMs: from, keyId: "key_0", status: 503 },
        (one, at) => at >= 100 && one.keyId === "key_0" && one.status === 503,
      ],
    ];
    const limited = cases.filter((_, at) => at > 2).map(([query, matches]) =>
      [{ ...query, scanLimit: 700 }, matches] as const
    );
    for (const [query, matches] of [...cases, ...limited]) {
      const found: string[] = [];
      let after: string | undefined;
      for (;;) {
        const page = await admin.calls.list({
          ...query,
          limit: 200,
          ...compact({ after }),
        });
        found.push(...page.data.map((call) => call.record.requestId));
        after = page.next;
        if (after === undefined) break;
      }
      assert.deepEqual(
        found,
        all.filter(matches).map((one) => one.requestId).toReversed(),
        JSON.stringify(query),
      );
    }
    assert.equal((await admin.calls.list({})).data.length, 50);
    // Of the newest 700 none matches: the page ends there, and its cursor leads on.
    const first = await admin.calls.list({ user: "rare", scanLimit: 700 });
    assert.deepEqual(first, {
      data: [],
      next: all.at(-700)?.requestId,
    });
    await assert.rejects(
      admin.calls.list({ after: "7" }),
      (error) => error instanceof ApiError && error.details.param === "after",
    );
  });

  test("a hundred refusals of a key a minute have a record each, the rest are counted", async ({ book, admin, clock, store }) => {
    const add = (count: number, keyId: string): void => {
      for (let at = 0; at < count; at++) {
        book.add(record(clock.ms, { ...refusal, keyId }));
      }
    };
    add(250, "key_1");
    add(3, "key_2");
    await book.flush();
    add(50, "key_1");
    clock.ms += MINUTE_MS;
    add(101, "key_1");
    await book.flush();
    const more = async (keyId: string): Promise<readonly number[]> => {
      const text =
        "SELECT more FROM calls WHERE key_id = $1 ORDER BY request_id";
      return (await store.read(text, [keyId])).map((row) => intOf(row, "more"));
    };
    assert.deepEqual(await more("key_2"), [0, 0, 0]);
    const ofBusy = await more("key_1");
    assert.equal(ofBusy.length, 200);
    assert.deepEqual(ofBusy.filter((one) => one > 0), [200, 1]);
    const { data } = await admin.calls.list({ keyId: "key_1", limit: 1 });
    assert.equal(data[0]?.record.more, 1);
  });

  test(
    "records beyond their age or number are removed, oldest first",
    async ({ book, admin, clock, elapse, store }) => {
      const oldMs = clock.ms - 31 * DAY_MS;
      const old = Array.from({ length: 250 }, (_, at) => record(oldMs + at));
      const fresh = Array.from({ length: 300 }, (_, n) => record(clock.ms - n));
      for (const one of [...old, ...fresh]) book.add(one);
      await book.flush();
      await elapse(MINUTE_MS);
      const kept = async (): Promise<number> =>
        (await store.read("SELECT request_id FROM calls")).length;
      // A removal may still be under way when its timer is looked for.
      while (await kept() > 250) await elapse(20);
      const left = await admin.calls.list({ limit: 200 });
      assert.equal(left.data.length, 200);
      assert.ok(left.data.every(({ atMs }) => atMs > clock.ms - 1000));
      await assert.rejects(admin.calls.get(old[249]?.requestId ?? "", {}));
      assert.equal(await kept(), 250);
      const ofNow = await admin.calls.get(fresh[0]?.requestId ?? "", {});
      assert.deepEqual(ofNow.record, fresh[0]);
    },
    { maxRows: 250 },
  );

  test("while the store is down records wait, and are written once when it is back", async ({ store, clock }) => {
    const faulty = faultyStores(store)();
    const book = openCallBook({
      dialect: store.dialect,
      write: faulty.write,
      now: clock.now,
      timer: () => () => {},
      maxAgeMs: DAY_MS,
      maxRows: 100,
    });
    const count = async (): Promise<number> =>
      (await store.read("SELECT request_id FROM calls")).length;
    faulty.setDown(true);
    book.add(record(clock.ms));
    await book.flush();
    assert.equal(await count(), 0);
    faulty.setDown(false);
    faulty.failNext("after");
    await book.flush();
    assert.equal(await count(), 1, "written, but its reply was lost");
    book.add(record(clock.ms));
    await book.flush();
    assert.equal(await count(), 2);
    // The counts by minute are of the same calls, also where one replaces that of a lost process.
    const admin = readingAdmin(store, clock.now);
    const health = () => admin.callHealth(0, clock.ms + MINUTE_MS);
    assert.deepEqual((await health()).outcomes, { complete: 2 });
    const own = record(clock.ms, { firstTokenMs: 100 });
    const { status: _, firstTokenMs: _none, ...lost } = own;
    await store.write((sql) =>
      insertCalls(sql, store.dialect, [{ ...lost, ended: "lost" }])
    );
    book.add(own);
    await book.flush();
    const { calls, outcomes, firstTokenMs } = await health();
    assert.equal(calls, 3);
    assert.equal(outcomes.complete, 3);
    assert.equal(outcomes.lost, 0);
    assert.ok(Math.abs((firstTokenMs?.p95 ?? 0) - 100) <= 10);
    await book.close();
  });

  test("calls are counted by hour and day, of all accounts, of each, and of its keys and models", async ({ store, clock }) => {
    const admin = readingAdmin(store, clock.now);
    const hour = Math.floor(clock.ms / HOUR_MS) * HOUR_MS;
    const made: readonly CallRecord[] = [
      // Two that are counted in one row by one write.
      record(hour, { accountId: "a", keyId: "k", firstTokenMs: 100 }),
      record(hour, { accountId: "a", keyId: "k", firstTokenMs: 100 }),
      record(hour + HOUR_MS, { accountId: "a", keyId: "l", model: "n" }),
      record(hour, { accountId: "b", keyId: "m", ended: "failed" }),
      record(hour, {
        accountId: "b",
        keyId: "m",
        model: "invented",
        ended: "refused",
        code: "model_not_found",
        status: 404,
      }),
    ];
    await store.write((sql) => insertCalls(sql, store.dialect, made));
    const hours = { step: "hour", fromMs: hour } as const;
    /** Calls by name, and how many of them failed. */
    const counts = async (
      query: Partial<CallHealthQuery> & Pick<CallHealthQuery, "by">,
    ): Promise<unknown> => {
      const toMs = hour + 2 * HOUR_MS;
      const found = await admin.callHealths({ ...hours, toMs, ...query });
      return Object.fromEntries(
        Array.from(
          found,
          ([name, { calls, outcomes }]) => [name, [calls, outcomes.cut ?? 0]],
        ),
      );
    };
    const first = String(hour / HOUR_MS);
    const accountId = "a";
    const small = made[0]?.model ?? "";
    for (
      const [query, expected] of [
        [{ by: "step" }, { [first]: [4, 1], [hour / HOUR_MS + 1]: [1, 0] }],
        [{ by: "account", ids: ["a", "b"] }, { a: [3, 0], b: [2, 1] }],
        [{ by: "key", ids: ["k"], accountId }, { k: [2, 0] }],
        [{ by: "model", accountId }, { [small]: [2, 0], n: [1, 0] }],
      ] as const
    ) assert.deepEqual(await counts(query), expected);
    // Names that no model has are counted without a name.
    const models = JSON.stringify(await counts({ by: "model" }));
    assert.ok(models.includes(small) && !models.includes("invented"));
    const day = Math.floor(hour / DAY_MS) * DAY_MS;
    const days = { step: "day", fromMs: day, toMs: day + 2 * DAY_MS } as const;
    const ofDays = (await admin.callHealths({ ...days, accountId })).get("");
    assert.equal(ofDays?.calls, 3);
    assert.ok(Math.abs((ofDays.firstTokenMs?.p50 ?? 0) - 100) <= 10);
    assert.equal(await admin.callsCountedFrom("hour"), hour);
    // A correction moves a lost call to its outcome.
    const lost = record(hour, { accountId: "c", keyId: "o", ended: "lost" });
    const { status: _, ...without } = lost;
    await store.write((sql) => insertCalls(sql, store.dialect, [without]));
    const call = {
      requestId: lost.requestId,
      accountId: "c",
      keyId: "o",
      model: lost.model ?? "",
      inputTokens: 1,
      maxOutputTokens: 1,
      price: PRICE,
      reservedMicroUsd: 3,
      atMs: hour,
    };
    const charge = chargeFor(call, {
      usage: { input: 1, output: 1 },
      generatedChars: 4,
      ended: "complete",
    });
    await store.write((sql) => correctCall(sql, store.dialect, call, charge));
    const health = await admin.callHealths({
      ...hours,
      toMs: hour + HOUR_MS,
      accountId: "c",
      by: "step",
    });
    assert.deepEqual(health.get(first)?.outcomes, { lost: 0, complete: 1 });
    // Hours go first.
    const removeAll = async (beforeMs: number, hoursBeforeMs?: number) => {
      while (
        await store.write((sql) =>
          removeOldCalls(sql, beforeMs, 100, hoursBeforeMs)
        ) > 0
      );
    };
    await removeAll(hour - DAY_MS, hour + HOUR_MS);
    assert.equal(await admin.callsCountedFrom("hour"), hour + HOUR_MS);
    assert.equal(await admin.callsCountedFrom("day"), day);
    // Old counts go with the records.
    await removeAll(hour + 2 * DAY_MS);
    assert.equal(await admin.callsCountedFrom("hour"), undefined);
    assert.equal(await admin.callsCountedFrom("day"), undefined);
  });

  Deno.test(`${kind.name}: records of before the outcomes are found by theirs`, async () => {
    await using database = await kind.createDatabase();
    const first = MIGRATIONS.findIndex((steps) =>
      steps.some((step) => step.includes("ADD COLUMN outcome"))
    );
    await using store = await database.open({
      migrations: MIGRATIONS.slice(0, first),
    });
    const failed = { upstream: "a", status: 503, error: "unavailable" };
    const refused = { upstream: "a", status: 400, error: "invalid_request" };
    const records = [
      { ended: "complete" },
      { ended: "failed" },
      { ended: "caller_left", status: 499 },
      { ended: "lost" },
      { ended: "refused", status: 503, code: "x", attempts: [failed] },
      { ended: "refused", status: 400, code: "x", attempts: [refused] },
      { ended: "refused", status: 404, code: "model_not_found" },
      { ended: "refused", status: 429, code: "key_spending_per_day" },
      { ended: "refused", status: 402, code: "insufficient_balance" },
      { ended: "refused", status: 503, code: "unavailable" },
    ].map((fields, at) => record(1000 + at, fields));
    await store.write(async (sql) => {
      for (const one of records) {
        const { attempts = [], stream, endpoint, estimated } = one;
        await insertRow(sql, "calls", {
          ...rowOf(CALL, one),
          detail: JSON.stringify({ endpoint, stream, estimated, attempts }),
        });
      }
    });
    await migrate(store);
    const admin = readingAdmin(store, () => 2000);
    for (const one of records) {
      const { data } = await admin.calls.list({ outcome: outcomeOf(one) });
      assert.ok(
        data.some(({ record }) => record.requestId === one.requestId),
        JSON.stringify(one),
      );
    }
  });
}
