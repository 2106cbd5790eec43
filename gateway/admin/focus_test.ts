/** The books in FOCUS columns. */
import assert from "node:assert/strict";
import type { RateCard } from "../accounts/charges/rate_card.ts";
import { readingAdmin } from "../accounts/testing/reading_admin.ts";
import { openStore } from "../accounts/store/open_store.ts";
import type { Store } from "../accounts/store/store.ts";
import { storeCharges } from "../accounts/testing/stored_charges.ts";
import { reconcile } from "../reconcile/reconcile.ts";
import { reconciliationJson } from "../reconcile/reconciliation_json.ts";
import { csvRows } from "../../tests/support/console/csv_rows.ts";
import { exportLedger } from "./ledger.ts";
import { parsePrice } from "../accounts/charges/money.ts";

const CARD: RateCard = {
  ...parsePrice("3000001/7/11/13"),
  meters: { cache_write_1h: 17 },
  uses: { web_search: 10_000 },
  when: [{ tier: "priority", factor: 1.5 }],
};

async function focusOf(store: Store): Promise<string> {
  const file = exportLedger(readingAdmin(store), { format: "focus" });
  return (await Array.fromAsync(file.text)).join("");
}

Deno.test("an export in FOCUS columns adds up to the charges, quotes formulas, and agrees with the books", async () => {
  await using store = await openStore("sqlite::memory:");
  await storeCharges(
    store,
    Array.from({ length: 20 }, (_, at) => ({
      requestId: `req_${at}`,
      model: at % 2 === 0 ? "a" : "=b",
      user: "@SUM(1)",
      price: CARD,
      usage: {
        cacheWrite1h: at % 2,
        ...(at % 5 === 0 ? { tier: "priority" } : {}),
        ...(at % 7 === 0 ? { uses: { web_search: 2 } } : {}),
        ...(at % 11 === 0 ? { audioInput: 1 } : {}),
      },
      tokens: {
        input: at,
        cacheRead: at % 3,
        cacheWrite: at % 4,
        output: at % 5,
      },
      atMs: Date.UTC(2026, 9, 31, 20 + Math.floor(at / 3)),
    })),
  );
  const text = await focusOf(store);
  const [head = ""] = text.split("\r\n");
  const page = await Deno.readTextFile(
    new URL("../../docs/console.md", import.meta.url),
  );
  for (const [column] of page.matchAll(/\bx_\w+/g)) {
    assert.ok(head.split(",").includes(column), `${column} is documented`);
  }
  const rows = csvRows(text);
  const pico = rows.reduce((sum, row) => {
    const [whole = "", part = ""] = (row["BilledCost"] ?? "").split(".");
    return sum + BigInt(whole + part.padEnd(12, "0"));
  }, 0n);
  const admin = readingAdmin(store);
  const { totals } = await admin.usage({ by: [] });
  assert.equal(pico, BigInt(totals.microUsd) * 1_000_000n);
  assert.ok(rows.every((row) => row["x_User"] === "'@SUM(1)"));
  assert.equal(
    rows.at(-1)?.["BillingPeriodStart"],
    "2026-11-01T00:00:00.000Z",
  );
  const search = rows.find((row) => row["x_TokenType"] === "uses.web_search");
  assert.equal(search?.["SkuMeter"], "Uses of web search");
  assert.equal(search?.["ConsumedUnit"], "Uses");
  assert.equal(search?.["ListUnitPrice"], "0.01");
  const tier = rows.find((row) => row["x_RateReasons"] !== "");
  assert.equal(tier?.["x_RateReasons"], "tier priority × 1.5");
  assert.match(tier?.["SkuPriceId"] ?? "", /\/tier priority × 1\.5$/);
  const unpriced = rows.filter((row) => row["x_Unpriced"] === "true");
  assert.deepEqual(
    new Set(unpriced.map((row) => row["x_TokenType"])),
    new Set(["audio_input"]),
  );
  const own = [{ id: "a", price: CARD, candidates: [] }];
  const file = (async function* () {
    yield await Promise.resolve(text.replaceAll("'=b", "=b"));
  })();
  const reply = reconciliationJson(await reconcile(admin, own, file, {}));
  assert.deepEqual(reply["data"], []);
  assert.equal(reply["agreeing"], 4);
});

Deno.test("seconds, characters and images have units of their own", async () => {
  await using store = await openStore("sqlite::memory:");
  const charge = (requestId: string, units: Record<string, number>) => ({
    requestId,
    model: "m",
    price: {
      ...parsePrice("0/0/0/0"),
      units: { second: 100_000_000, character: 15_000_000, image: 40_000 },
    },
    usage: { units },
    tokens: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 },
    atMs: Date.UTC(2026, 9, 31),
  });
  await storeCharges(store, [
    charge("req_1", { second: 61 }),
    charge("req_2", { character: 7 }),
    charge("req_3", { image: 2 }),
  ]);
  assert.deepEqual(
    csvRows(await focusOf(store)).map((row) =>
      [
        row["SkuMeter"],
        `${row["ConsumedQuantity"]} ${row["ConsumedUnit"]}`,
        `${row["PricingQuantity"]} ${row["PricingUnit"]}`,
        Number(row["BilledCost"]),
      ].join(", ")
    ),
    [
      "Seconds, 61 Seconds, 0.000061 1M Seconds, 0.0061",
      "Characters, 7 Characters, 0.000007 1M Characters, 0.000105",
      "Images, 2 Images, 2 Images, 0.08",
    ],
  );
});
