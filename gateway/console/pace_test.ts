import assert from "node:assert/strict";
import { firstStop } from "./pace.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const NOON_MS = 20_000.5 * DAY_MS;

Deno.test("firstStop() names the limit that is reached first at today's pace", () => {
  const today = { nowMs: NOON_MS, todayMicroUsd: 12_000_000 };
  const hours = (count: number): number => NOON_MS + count * 3_600_000;
  for (
    const [more, expected] of [
      [{}, undefined],
      [{ dayLimitMicroUsd: 15_000_000 }, { limit: "day", atMs: hours(3) }],
      // Not before midnight, when the day's limit begins again.
      [{ dayLimitMicroUsd: 24_000_000 }, undefined],
      [{ leftMicroUsd: 2_000_000 }, { limit: "balance", atMs: hours(2) }],
      [
        { dayLimitMicroUsd: 15_000_000, leftMicroUsd: 2_000_000 },
        { limit: "balance", atMs: hours(2) },
      ],
      [{ dayLimitMicroUsd: 12_000_000 }, { limit: "day", atMs: NOON_MS }],
      [{ leftMicroUsd: -1 }, { limit: "balance", atMs: NOON_MS }],
      [{ leftMicroUsd: 12_000_000 * 2 * 30 }, undefined],
    ] as const
  ) {
    assert.deepEqual(firstStop({ ...today, ...more }), expected);
  }
});

Deno.test("firstStop() sees no end where nothing was spent today", () => {
  assert.equal(
    firstStop({
      nowMs: NOON_MS,
      todayMicroUsd: 0,
      dayLimitMicroUsd: 1,
      leftMicroUsd: 1,
    }),
    undefined,
  );
});
