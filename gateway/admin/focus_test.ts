/** The books in FOCUS columns. */
import assert from "node:assert/strict";
import { createAdmin } from "../accounts/repositories/admin.ts";
import { openStore } from "../accounts/store/open_store.ts";
import { storeCharges } from "../accounts/testing/stored_charges.ts";
import { reconcile } from "../reconcile/reconcile.ts";
import { reconciliationJson } from "../reconcile/reconciliation_json.ts";
import { exportLedger } from "./ledger.ts";

Deno.test("an export in FOCUS columns adds up to the charges, quotes formulas, and agrees with the books", async () => {
  const store = await openStore("sqlite::memory:");
  try {
    const price = {
      input: 3_000_001,
      cacheRead: 7,
      cacheWrite: 11,
      output: 13,
    };
    await storeCharges(
      store,
      Array.from({ length: 20 }, (_, at) => ({
        requestId: `req_${at}`,
        model: at % 2 === 0 ? "a" : "=b",
        user: "@SUM(1)",
        price,
        tokens: {
          input: at,
          cacheRead: at % 3,
          cacheWrite: at % 4,
          output: at % 5,
        },
        atMs: Date.UTC(2026, 9, 31, 20 + Math.floor(at / 3)),
      })),
    );
    const admin = createAdmin({
      store,
      now: Date.now,
      onChange: () => {},
      knowsModel: () => true,
    });
    let text = "";
    for await (const piece of exportLedger(admin, { format: "focus" }).text) {
      text += piece;
    }
    const [head = "", ...lines] = text.trim().split("\r\n");
    const names = head.split(",");
    const cell = (line: string, name: string): string =>
      line.split(",")[names.indexOf(name)] ?? "";
    const pico = lines.reduce((sum, line) => {
      const [whole = "", part = ""] = cell(line, "BilledCost").split(".");
      return sum + BigInt(whole + part.padEnd(12, "0"));
    }, 0n);
    const { totals } = await admin.usage({ by: [] });
    assert.equal(pico, BigInt(totals.microUsd) * 1_000_000n);
    assert.ok(lines.every((line) => cell(line, "x_User") === "'@SUM(1)"));
    assert.equal(
      cell(lines.at(-1) ?? "", "BillingPeriodStart"),
      "2026-11-01T00:00:00.000Z",
    );
    const own = [{ id: "a", price, candidates: [] }];
    const reply = reconciliationJson(
      await reconcile(
        admin,
        own,
        (async function* () {
          yield await Promise.resolve(text.replaceAll("'=b", "=b"));
        })(),
        {},
      ),
    );
    assert.deepEqual(reply["data"], []);
    assert.equal(reply["agreeing"], 4);
  } finally {
    await store.close();
  }
});
