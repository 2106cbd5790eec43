/** Reports by end user, page by page, on every store. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { compact } from "../../../translate/bytes/compact.ts";
import { readingAdmin } from "../testing/reading_admin.ts";
import type { Admin } from "../repositories/admin.ts";
import type { UsageLine } from "./usage_report.ts";
import { postgresAt, SQLITE } from "../testing/stores.ts";
import { type PastCharge, storeCharges } from "../testing/stored_charges.ts";

const SERVER = Deno.env.get("TEST_POSTGRES_URL");
const PRICE = { input: 1_000_000, cacheRead: 1, cacheWrite: 1, output: 1 };
const DAY_MS = 86_400_000;
/** Ids whose order depends on the collation, or on the encoding. */
const ODD = ["", "a", "A", "Z", "é", "z", "_", "\ufffd", "\ud83d\ude00", "-a"];

/** In UTF-8, which has the order of code points. */
function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function chargeAt(at: number): PastCharge {
  const odd = ODD[at / 9 % ODD.length];
  const user = at % 9 === 0 ? odd || undefined : `user ${at * 7919 % 700}`;
  return {
    requestId: `req_${at}`,
    keyId: `key_${at % 3}`,
    model: `model_${at % 2}`,
    ...compact({ user }),
    tokens: { input: at, cacheRead: at % 5, cacheWrite: 0, output: 0 },
    price: PRICE,
    atMs: DAY_MS * 20_000 + Math.floor(at / 150) * DAY_MS,
  };
}

for (
  const store of [SQLITE, ...(SERVER === undefined ? [] : [postgresAt(SERVER)])]
) {
  Deno.test(`${store.name}: a report by end user has every group once, in order, with the totals of all; a plot, a search and an order by a sum have all lines too`, async () => {
    await using database = await store.createDatabase();
    await using opened = await database.open();
    const charges = Array.from({ length: 3000 }, (_, at) => chargeAt(at));
    await storeCharges(opened, charges);
    const admin = readingAdmin(opened, () => DAY_MS * 20_020);
    await checkDailyCost(admin);
    await checkSearch(admin);
    await checkOrders(admin);
    await checkCachedTokens(admin);
    for (
      const by of [["user"], ["user", "model"], ["day", "user"]] as const
    ) {
      const expected = new Map<string, number>();
      for (const { user = "", model, tokens, atMs } of charges) {
        const day = new Date(atMs).toISOString().slice(0, 10);
        const key = JSON.stringify(
          by.map((name) => ({ user, model, day })[name]),
        );
        expected.set(key, (expected.get(key) ?? 0) + tokens.input);
      }
      for (const limit of [40, 1000]) {
        const found: UsageLine[] = [];
        let after: string | undefined;
        do {
          const report = await admin.usage({
            accountId: "default",
            by,
            limit,
            ...compact({ after }),
          });
          assert.equal(report.totals.requests, 3000);
          assert.equal(report.totals.inputTokens, 3000 * 2999 / 2);
          found.push(...report.data);
          after = report.next;
        } while (after !== undefined && found.length < 400);
        const keys = found.map((line) =>
          JSON.stringify(by.map((name) => line[name]))
        );
        const ordered = [...expected.keys()].map((key): string[] =>
          JSON.parse(key)
        ).sort((a, b) => {
          const at = a.findIndex((one, at) => one !== b[at]);
          return compare(a[at] ?? "", b[at] ?? "");
        }).slice(0, keys.length).map((key) => JSON.stringify(key));
        assert.deepEqual(keys, ordered);
        for (const [at, key] of keys.entries()) {
          assert.equal(found[at]?.inputTokens, expected.get(key));
        }
      }
    }
  });
}

/** A plot's days are those of the report, whether its groups are known or few of many. */
async function checkDailyCost(admin: Admin): Promise<void> {
  for (const group of ["key", "model"] as const) {
    const idOf = (line: UsageLine): string =>
      (group === "key" ? line.keyId : line.model) ?? "";
    const { data } = await admin.usage({ by: ["day", group], limit: 1000 });
    const { data: groups } = await admin.usage({ by: [group] });
    const dearest = groups.toSorted((a, b) => b.microUsd - a.microUsd).map(
      idOf,
    );
    for (const limit of [1, 7]) {
      const unknown = Array.from({ length: 200 }, (_, at) => `none ${at}`);
      for (
        const known of [{}, { dearest }, { dearest: [...dearest, ...unknown] }]
      ) {
        const { series, hasOthers, sums } = await admin.usageSeries({
          group,
          measure: "cost",
          step: "day",
          limit,
          ...known,
        });
        const all = known.dearest ?? dearest;
        assert.deepEqual(series, all.slice(0, limit));
        assert.equal(hasOthers, all.length > limit);
        const expected = new Map<string, number[]>();
        for (const line of data) {
          const { day = "", microUsd } = line;
          const width = series.length + (hasOthers ? 1 : 0);
          const values = expected.get(day) ?? Array<number>(width).fill(0);
          const found = series.indexOf(idOf(line));
          const at = found === -1 ? series.length : found;
          values[at] = (values[at] ?? 0) + microUsd;
          expected.set(day, values);
        }
        assert.deepEqual(new Map(sums), expected);
      }
    }
  }
}

/** The first lines by a sum are those of all, and the totals are those of all. */
async function checkOrders(admin: Admin): Promise<void> {
  const ids = { user: "user", key: "keyId", account: "accountId" } as const;
  for (const by of ["user", "key", "account"] as const) {
    const query = {
      ...by === "user" ? { accountId: "default" } : {},
      by: [by],
    };
    const { data, totals } = await admin.usage({ ...query, limit: 1000 });
    const nameOf = (line: UsageLine): string => line[ids[by]] ?? "";
    for (const isDescending of [true, false]) {
      const sign = isDescending ? -1 : 1;
      const found = await admin.usage({
        ...query,
        order: { by: "inputTokens", isDescending },
        limit: 40,
      });
      const ordered = data.toSorted((a, b) =>
        sign * (a.inputTokens - b.inputTokens) ||
        compare(nameOf(a), nameOf(b))
      );
      assert.deepEqual(found.data, ordered.slice(0, 40));
      assert.deepEqual(
        { estimatedMicroUsd: 0, ...found.totals },
        { estimatedMicroUsd: 0, ...totals },
      );
      const byName = await admin.usage({ ...query, order: { isDescending } });
      assert.deepEqual(
        byName.data.map(nameOf),
        (isDescending ? data.toReversed() : data).slice(0, 100).map(nameOf),
      );
    }
  }
}

/** The tokens of caches are those of the usage, of the named keys and of all others together. */
async function checkCachedTokens(admin: Admin): Promise<void> {
  const { data } = await admin.usage({ by: ["key", "model"] });
  const expected = new Map<string, number>();
  for (const { keyId, model, cacheReadTokens } of data) {
    const name = JSON.stringify([keyId === "key_1" ? keyId : null, model]);
    expected.set(name, (expected.get(name) ?? 0) + cacheReadTokens);
  }
  const cached = await admin.cachedTokens({}, ["key_1"]);
  const found = cached.map(({ keyId = null, model, cacheReadTokens }) =>
    [JSON.stringify([keyId, model]), cacheReadTokens] as const
  );
  assert.deepEqual(new Map(found), expected);
  assert.equal(found.length, 4);
  assert.equal(await admin.hasUsage({ keyId: "key_1" }), true);
  assert.equal(await admin.hasUsage({ keyId: "key_9" }), false);
}

/** A search of the ledger that ends for its limit goes on from its cursor. */
async function checkSearch(admin: Admin): Promise<void> {
  const found: string[] = [];
  let pages = 0;
  let after: string | undefined;
  do {
    const page = await admin.ledger({
      user: "user 7",
      newestFirst: true,
      scanLimit: 400,
      ...compact({ after }),
    });
    found.push(...page.data.map(({ requestId }) => requestId));
    after = page.next;
    pages++;
  } while (after !== undefined);
  const expected = Array.from({ length: 3000 }, (_, at) => chargeAt(at))
    .filter(({ user }) => user === "user 7")
    .map(({ requestId }) => requestId).toReversed();
  assert.ok(expected.length > 2);
  assert.deepEqual(found, expected);
  assert.equal(pages, 8);
}
