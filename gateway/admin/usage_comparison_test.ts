/** What past usage would have cost. */
import assert from "node:assert/strict";
import { readingAdmin } from "../accounts/testing/reading_admin.ts";
import { openStore } from "../accounts/store/open_store.ts";
import { storeCharges } from "../accounts/testing/stored_charges.ts";
import { compareUsage } from "./usage_comparison.ts";

Deno.test("usage is counted at another model's prices, cached tokens without a price at its input price", async () => {
  await using store = await openStore("sqlite::memory:");
  const tokens = { input: 1001, cacheRead: 700, cacheWrite: 30, output: 50 };
  await storeCharges(
    store,
    ["a", "a", "b"].map((model, at) => ({
      requestId: `req_${at}`,
      model,
      tokens,
      price: { input: 9, cacheRead: 9, cacheWrite: 9, output: 9 },
      estimated: at === 0,
      atMs: Date.UTC(2026, 9, 1),
    })),
  );
  const admin = readingAdmin(store);
  const compare = (cacheRead: number, cacheWrite: number) =>
    compareUsage(admin, { accountId: "default" }, {
      id: "other",
      price: { input: 3_000_000, cacheRead, cacheWrite, output: 15_000_001 },
    });
  const full = await compare(300_000, 3_750_000);
  // Model a: 2002 × 3, 1400 × 0.3, 60 × 3.75 and 100 × 15.000001 micro-dollars, rounded up.
  assert.deepEqual(
    full.lines.map(({ model, wouldBeMicroUsd }) => [model, wouldBeMicroUsd]),
    [["a", 6006 + 420 + 225 + 1501], ["b", 3003 + 210 + 113 + 750]],
  );
  assert.equal(full.wouldBeMicroUsd, 8152 + 4076);
  assert.equal(full.microUsd, 3);
  const text = full.assumptions.join(" ");
  assert.doesNotMatch(text, /has no price/);
  assert.match(text, /at most 3 micro-dollars.*whose tokens are estimates: 1/);
  const bare = await compare(0, 0);
  assert.deepEqual(
    bare.lines.map(({ wouldBeMicroUsd }) => wouldBeMicroUsd),
    [6006 + 4200 + 180 + 1501, 3003 + 2100 + 90 + 751],
  );
  assert.match(
    bare.assumptions.join(" "),
    /no price for tokens read from a cache.*no price for tokens written to a cache/,
  );
  const free = await compareUsage(admin, {}, {
    id: "free",
    price: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 },
  });
  assert.equal(free.wouldBeMicroUsd, 0);
  assert.match(free.assumptions.join(" "), /free has no price/);
});
