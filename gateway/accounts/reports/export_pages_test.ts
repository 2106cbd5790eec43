/** Exports of the ledger and of calls: every line once, in order, in short pages. */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { readingAdmin } from "../testing/reading_admin.ts";
import { EXPORT_PAGE } from "../repositories/list_page.ts";
import { type CallRecord, firstCallId } from "../calls/call_record.ts";
import { insertCalls } from "../rows/call_rows.ts";
import { storeCharges } from "../testing/stored_charges.ts";
import { postgresAt, SQLITE } from "../testing/stores.ts";

const SERVER = Deno.env.get("TEST_POSTGRES_URL");
const CALLS = 1300;
const DAY_MS = 86_400_000;
const FIRST_MS = DAY_MS * 20_000;

const CHARGES = Array.from({ length: CALLS }, (_, at) => ({
  requestId: `${firstCallId(FIRST_MS + at)}x`,
  accountId: at % 3 === 0 ? "other" : "acme",
  keyId: `key_${at % 2}`,
  model: at === 7 ? "rare" : "usual",
  tokens: { input: at, cacheRead: 0, cacheWrite: 0, output: 0 },
  price: { input: 1, cacheRead: 1, cacheWrite: 1, output: 1 },
  atMs: FIRST_MS + at,
}));

const RECORDS = CHARGES.map((
  { requestId, accountId, keyId, model, tokens },
): CallRecord => ({
  requestId,
  accountId,
  keyId,
  model,
  status: 200,
  ended: "complete",
  durationMs: 1,
  microUsd: 1,
  more: 0,
  endpoint: "/v1/messages",
  estimated: false,
  inputTokens: tokens.input,
}));

/** Filters, as both lists have them. */
const FILTERS = [
  {},
  { accountId: "acme" },
  { keyId: "key_1" },
  { model: "usual" },
  { accountId: "acme", model: "usual" },
  { accountId: "acme", model: "rare" },
  { model: "none" },
];

for (
  const kind of [SQLITE, ...(SERVER === undefined ? [] : [postgresAt(SERVER)])]
) {
  Deno.test(`${kind.name}: an export has every line of its filters once, in order, in short pages`, async () => {
    await using database = await kind.createDatabase();
    await using store = await database.open();
    await storeCharges(store, CHARGES);
    await store.write((sql) => insertCalls(sql, store.dialect, RECORDS));
    let rows: number[] = [];
    const admin = readingAdmin({
      ...store,
      async report(text, values) {
        const found = await store.report(text, values);
        rows.push(found.length);
        return found;
      },
    }, () => FIRST_MS);
    const checkStatements = (what: string): void => {
      assert.ok(rows.length > 0);
      assert.ok(Math.max(...rows) <= EXPORT_PAGE.rows, `${what}: ${rows}`);
    };
    for (const filter of FILTERS) {
      const what = JSON.stringify(filter);
      const expected = CHARGES
        .filter((charge) => isDeepStrictEqual({ ...charge, ...filter }, charge))
        .map(({ requestId }) => requestId);
      rows = [];
      const entries = (await Array.fromAsync(admin.allLedger(filter))).flat();
      assert.deepEqual(entries.map((one) => one.requestId), expected, what);
      checkStatements(`ledger ${what}`);
      rows = [];
      const calls = (await Array.fromAsync(admin.calls.all(filter))).flat();
      for (const { record, entry } of calls) {
        assert.equal(entry?.inputTokens, record.inputTokens);
      }
      assert.deepEqual(
        calls.map(({ record }) => record.requestId),
        expected.toReversed(),
        what,
      );
      checkStatements(`calls ${what}`);
    }
  });
}
