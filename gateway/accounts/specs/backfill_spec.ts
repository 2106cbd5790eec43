/**
 * Upgrades of a store from every earlier version, and the roll-ups of its ledger: tests that
 * every store must pass.
 */
import assert from "node:assert/strict";
import { compact } from "../../../translate/bytes/compact.ts";
import { audit } from "../audits/audit.ts";
import {
  backfillSlice,
  REMOVED_HOURS_ROWS,
  removeOldHours,
} from "../ledger/backfill.ts";
import { MIGRATIONS } from "../store/migrations.ts";
import { insertRows, insertStatement } from "../store/store.ts";
import { openTestAccounts, testClock } from "../testing/open_test_accounts.ts";
import { readingAdmin } from "../testing/reading_admin.ts";
import type { TestDatabase, TestStore } from "../testing/stores.ts";

/** The first version with roll-ups. */
const ROLLED_UP = 4;
const DAY_MS = 86_400_000;
const FIRST_DAY = Date.UTC(2026, 7, 1) / DAY_MS;
const DAYS = 90;
const NOW_MS = (FIRST_DAY + DAYS) * DAY_MS - 1;
const ENTRIES = 900;

/** The entry at a place of the ledger: ten a day; each ninth is a top-up. */
function entryAt(at: number): {
  readonly [column: string]: string | number | null;
} {
  const isTopUp = at % 9 === 0;
  return {
    request_id: `req_${at}`,
    kind: isTopUp ? "top_up" : "charge",
    account_id: `account_${at % 2}`,
    key_id: isTopUp ? null : `key_${at % 4}`,
    model: isTopUp ? null : `model_${at % 3}`,
    purse: "",
    input_tokens: isTopUp ? 0 : at,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: isTopUp ? 0 : 1,
    reasoning_tokens: 0,
    price: isTopUp ? null : "1/1/1/1",
    estimated: isTopUp ? 0 : at % 5 === 0 ? 1 : 0,
    ended: isTopUp ? null : "complete",
    micro_usd: isTopUp ? 1000 : -at,
    at_ms: FIRST_DAY * DAY_MS + Math.floor(at / ENTRIES * DAYS * DAY_MS),
  };
}

const LEDGER = insertStatement("ledger", {
  request_id: "TEXT",
  kind: "TEXT",
  account_id: "TEXT",
  key_id: "TEXT",
  model: "TEXT",
  purse: "TEXT",
  input_tokens: "BIGINT",
  cache_read_tokens: "BIGINT",
  cache_write_tokens: "BIGINT",
  output_tokens: "BIGINT",
  reasoning_tokens: "BIGINT",
  price: "TEXT",
  estimated: "BIGINT",
  ended: "TEXT",
  micro_usd: "BIGINT",
  at_ms: "BIGINT",
});

/** Makes a store of an earlier version, filled as that version did. */
async function makeOldStore(
  database: TestDatabase,
  version: number,
): Promise<void> {
  await using store = await database.open({
    migrations: MIGRATIONS.slice(0, version),
  });
  await store.write(async (sql) => {
    await sql.all("INSERT INTO plans (id, created_at_ms) VALUES ('p', 0)");
    for (const id of ["account_0", "account_1"]) {
      await sql.all(
        `INSERT INTO accounts (id, name, status, billing, plan_id, created_at_ms)
         VALUES ($1, $1, 'active', 'postpaid', 'p', 0)`,
        [id],
      );
    }
    await insertRows(
      sql,
      store.dialect,
      LEDGER,
      Array.from({ length: ENTRIES }, (_, at) => entryAt(at)),
    );
    await sql.all(
      `INSERT INTO usage_daily SELECT at_ms / ${DAY_MS}, account_id, key_id, model, '', COUNT(*), SUM(estimated),
         SUM(input_tokens), 0, 0, SUM(output_tokens), 0, 0 - SUM(micro_usd)
       FROM ledger WHERE kind = 'charge' GROUP BY 1, 2, 3, 4`,
    );
    await sql.all(
      `UPDATE accounts SET balance_micro_usd =
         (SELECT SUM(micro_usd) FROM ledger WHERE account_id = accounts.id)`,
    );
  });
}

const charges = Array.from({ length: ENTRIES }, (_, at) => at)
  .filter((at) => at % 9 !== 0);
const sum = (numbers: readonly number[]): number =>
  numbers.reduce((total, one) => total + one, 0);

export function backfillSpec(kind: TestStore): void {
  for (let version = 1; version < ROLLED_UP; version++) {
    Deno.test(`${kind.name}: a store of schema version ${version} is upgraded with all its books`, async () => {
      await using database = await kind.createDatabase();
      await makeOldStore(database, version);
      await using store = await database.open();
      const admin = readingAdmin(store, () => NOW_MS);
      assert.deepEqual(await audit(store), [], "before the backfill");
      const newest = await admin.usage({ by: ["model"] });
      assert.equal(newest.totals.requests, 0);
      assert.equal(newest.figuresFromDay, "2026-10-30");
      for (let slices = 0;; slices++) {
        assert.deepEqual(await audit(store), [], `after slice ${slices}`);
        const part = await admin.usage({});
        for (const { day = "", requests } of part.data) {
          if (day < (part.figuresFromDay ?? "")) continue;
          const number = Date.parse(day) / DAY_MS;
          const expected = charges.filter((at) =>
            Math.floor(Number(entryAt(at)["at_ms"]) / DAY_MS) === number
          );
          assert.equal(requests, expected.length, day);
        }
        if (!await store.write((sql) => backfillSlice(sql, 170, NOW_MS))) {
          assert.equal(slices, Math.ceil(ENTRIES / 170) - 1);
          break;
        }
      }
      assert.deepEqual(await audit(store), [], "after the backfill");
      const report = await admin.usage({ by: ["model"] });
      assert.equal(report.figuresFromDay, undefined);
      assert.deepEqual(report.totals, {
        requests: charges.length,
        estimatedRequests: charges.filter((at) => at % 5 === 0).length,
        inputTokens: sum(charges),
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        outputTokens: charges.length,
        reasoningTokens: 0,
        microUsd: sum(charges),
        estimatedMicroUsd: sum(charges.filter((at) => at % 5 === 0)),
      });
      const hours = await admin.usage({ by: ["hour"], limit: 1000 });
      assert.equal(hours.figuresFromDay, "2026-09-25");
      assert.equal(
        hours.totals.requests,
        charges.filter((at) =>
          Number(entryAt(at)["at_ms"]) >= NOW_MS + 1 - 35 * DAY_MS - 3_600_000
        ).length,
      );
      assert.equal(
        (await admin.ledger({ kind: "top_up", limit: 1000 })).data.length,
        ENTRIES - charges.length,
      );
    });
  }

  Deno.test(`${kind.name}: a list of the ledger is the same before, during and after the backfill`, async () => {
    await using database = await kind.createDatabase();
    await makeOldStore(database, 3);
    await using store = await database.open();
    const admin = readingAdmin(store, () => NOW_MS);
    const dayMs = (day: number): number => (FIRST_DAY + day) * DAY_MS;
    const entries = Array.from({ length: ENTRIES }, (_, at) => entryAt(at));
    const compare = async (): Promise<void> => {
      for (const accountId of [undefined, "account_0"]) {
        for (const kind of [undefined, "charge", "top_up"] as const) {
          for (
            const [fromMs, toMs] of [
              [undefined, undefined],
              [dayMs(3), dayMs(9)],
              [dayMs(85) + 7, undefined],
              [undefined, dayMs(80)],
              [dayMs(200), undefined],
            ]
          ) {
            for (const newestFirst of [false, true]) {
              const expected = entries.filter((entry) =>
                (accountId === undefined ||
                  entry["account_id"] === accountId) &&
                (kind === undefined || entry["kind"] === kind) &&
                Number(entry["at_ms"]) >= (fromMs ?? 0) &&
                Number(entry["at_ms"]) < (toMs ?? Infinity)
              ).map((entry) => entry["request_id"]);
              const { data } = await admin.ledger({
                limit: 1000,
                newestFirst,
                ...compact({ accountId, kind, fromMs, toMs }),
              });
              assert.deepEqual(
                data.map(({ requestId }) => requestId),
                newestFirst ? expected.toReversed() : expected,
              );
            }
          }
        }
      }
    };
    await compare();
    await store.write((sql) => backfillSlice(sql, ENTRIES / 2, NOW_MS));
    await compare();
    await store.write((sql) => backfillSlice(sql, ENTRIES, NOW_MS));
    await compare();
  });

  Deno.test(`${kind.name}: the accounts fill the roll-ups after they are opened, and remove old hours`, async () => {
    await using database = await kind.createDatabase();
    await makeOldStore(database, 3);
    const store = await database.open();
    const clock = testClock(NOW_MS);
    const waits: (() => void)[] = [];
    let waited = Promise.withResolvers<void>();
    await using opened = await openTestAccounts(store, clock, {
      timer: (ms, run) => {
        // The heartbeat's timer is longer, and runs on its own.
        if (ms < 1000 || ms === 600_000) {
          waits.push(run);
          waited.resolve();
        }
        return () => {};
      },
    });
    /** Runs the backfill until it has nothing to do. */
    const settle = async (isDone: () => Promise<boolean>): Promise<void> => {
      while (!await isDone()) {
        await waited.promise;
        waited = Promise.withResolvers();
        for (const run of waits.splice(0)) run();
      }
    };
    await settle(async () =>
      (await opened.admin.usage({})).figuresFromDay === undefined
    );
    assert.deepEqual(await audit(store), []);
    clock.ms += 30 * DAY_MS;
    const hoursLeft = async (): Promise<number> =>
      (await store.read("SELECT hour FROM usage_hours WHERE hour < $1", [
        Math.floor(clock.ms / 3_600_000) - 36 * 24,
      ])).length;
    assert.ok(await hoursLeft() > 0);
    await settle(async () => await hoursLeft() === 0);
    assert.ok((await opened.admin.usage({ by: ["hour"] })).data.length > 0);
  });

  Deno.test(`${kind.name}: an old hour of many keys is removed in several writes`, async () => {
    await using database = await kind.createDatabase();
    await using store = await database.open();
    const hourNow = Math.floor(NOW_MS / 3_600_000);
    const rows = 2 * REMOVED_HOURS_ROWS + 3;
    for (const [hour, count] of [[5, rows], [hourNow, 7]]) {
      await store.write((sql) =>
        sql.all(
          `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
           INSERT INTO usage_hours (hour, account_id, key_id, model, requests, estimated, input_tokens,
             cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, micro_usd, estimated_micro_usd)
           SELECT ${hour}, 'account', 'key_' || i, 'model', 1, 0, 1, 0, 0, 1, 0, 1, 0 FROM n`,
        )
      );
    }
    const left: number[] = [];
    while (await removeOldHours(store, NOW_MS)) {
      left.push(
        (await store.read("SELECT 1 FROM usage_hours WHERE hour = 5")).length,
      );
    }
    assert.deepEqual(left, [REMOVED_HOURS_ROWS + 3, 3, 0]);
    assert.equal((await store.read("SELECT 1 FROM usage_hours")).length, 7);
  });
}
