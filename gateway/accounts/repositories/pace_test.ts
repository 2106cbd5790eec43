/** Slices grow while they are quick, and shrink when they are not. */
import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { paceOf } from "./pace.ts";
import type { SqlDialect } from "../store/store.ts";

const LIMITS = { sqlite: 200, postgres: [1000, 4000] } as const;

function dialect(name: SqlDialect["name"]): SqlDialect {
  return { name, elements: () => "", texts: () => "" };
}

Deno.test("SQLite's first slice is short; slices double up to the limit, and halve after a slow one", async () => {
  let nowMs = 0;
  const pace = paceOf(dialect("sqlite"), LIMITS, () => nowMs);
  const after = async (tookMs: number): Promise<number> => {
    await pace.run(() => {
      nowMs += tookMs;
      return Promise.resolve();
    });
    return pace.rows;
  };
  assert.equal(pace.rows, 25);
  assert.deepEqual(
    [await after(0.4), await after(0.4), await after(0.4), await after(0.4)],
    [50, 100, 200, 200],
  );
  assert.equal(await after(1.6), 200);
  assert.deepEqual([await after(6), await after(60)], [100, 50]);
  assert.deepEqual(
    [await after(60), await after(60), await after(0.4)],
    [25, 25, 50],
  );
});

Deno.test("a slice of Postgres may take long: only its results count", async () => {
  let nowMs = 0;
  const pace = paceOf(dialect("postgres"), LIMITS, () => nowMs);
  const after = async (tookMs: number, results: number): Promise<number> => {
    const value = await pace.run(() => {
      nowMs += tookMs;
      return Promise.resolve("value");
    }, () => results);
    assert.equal(value, "value");
    return pace.rows;
  };
  assert.equal(pace.rows, 1000);
  assert.equal(await after(500, 10), 2000);
  assert.equal(await after(500, 10), 4000);
  assert.equal(await after(1, 1001), 2000);
});

Deno.test("other events run after each slice", async () => {
  const pace = paceOf(dialect("sqlite"), LIMITS);
  let hasRun = false;
  const slice = pace.run(() => {
    setImmediate(() => {
      hasRun = true;
    });
    return Promise.resolve();
  });
  await slice;
  assert.ok(hasRun);
});
