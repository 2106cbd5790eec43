import assert from "node:assert/strict";
import { type Allowance, firstStop } from "./pace.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const NOON_MS = 20_000.5 * DAY_MS;
const MIDNIGHT_MS = 20_001 * DAY_MS;

function day(limit: number, today: number): Allowance<"day" | "balance"> {
  return {
    limit: "day",
    left: limit - today,
    today,
    resetsAtMs: MIDNIGHT_MS,
  };
}

function balance(left: number, today: number): Allowance<"day" | "balance"> {
  return { limit: "balance", left, today };
}

Deno.test("firstStop() names the limit that is reached first at today's pace", () => {
  const today = 12_000_000;
  const hours = (count: number): number => NOON_MS + count * 3_600_000;
  for (
    const [allowances, expected] of [
      [[], undefined],
      [[day(15_000_000, today)], { limit: "day", atMs: hours(3) }],
      // Not before midnight, when the day's limit begins again.
      [[day(24_000_000, today)], undefined],
      [[balance(2_000_000, today)], { limit: "balance", atMs: hours(2) }],
      [
        [day(15_000_000, today), balance(2_000_000, today)],
        { limit: "balance", atMs: hours(2) },
      ],
      [[day(12_000_000, today)], { limit: "day", atMs: NOON_MS }],
      [[balance(-1, today)], { limit: "balance", atMs: NOON_MS }],
      [[balance(0, today), day(0, today)], { limit: "balance", atMs: NOON_MS }],
      [[balance(12_000_000 * 2 * 30, today)], undefined],
    ] as const
  ) {
    const stop = firstStop(NOON_MS, allowances);
    assert.deepEqual(
      stop,
      expected === undefined ? undefined : {
        ...expected,
        ...(expected.limit === "day" ? { resetsAtMs: MIDNIGHT_MS } : {}),
      },
    );
  }
});

Deno.test("firstStop() sees no end where nothing was used today", () => {
  assert.equal(firstStop(NOON_MS, [day(1, 0), balance(1, 0)]), undefined);
});
