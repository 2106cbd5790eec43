import assert from "node:assert/strict";
import {
  type Allowance,
  firstStop,
  minuteFullInMs,
  placesFullInMs,
} from "./pace.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const NOON_MS = 20_000.5 * DAY_MS;
const MIDNIGHT_MS = 20_001 * DAY_MS;

function day(limit: number, today: number): Allowance<"day" | "balance"> {
  return {
    limit: "day",
    left: limit - today,
    today,
    resetsAtMs: MIDNIGHT_MS,
    opens: MIDNIGHT_MS,
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
    const opens = expected?.limit === "day" && { opens: MIDNIGHT_MS };
    assert.deepEqual(stop, expected && { ...expected, ...opens });
  }
});

Deno.test("firstStop() takes the first hour of a day as a whole one", () => {
  const stopAt = (nowMs: number) => firstStop(nowMs, [balance(24, 1)])?.atMs;
  for (
    const [ms, days] of [[60_000, 1], [3_600_000, 1], [7_200_000, 2]] as const
  ) {
    const atMs = MIDNIGHT_MS + ms;
    assert.equal(stopAt(atMs), atMs + days * DAY_MS);
  }
});

Deno.test("firstStop() sees no end where nothing was used today", () => {
  assert.equal(firstStop(NOON_MS, [day(1, 0), balance(1, 0)]), undefined);
});

Deno.test("a limit a minute is reached only at a pace above it, and places at once only if rate times duration exceeds them", () => {
  assert.equal(minuteFullInMs(30, 60, 60), undefined);
  assert.equal(minuteFullInMs(30, 60, 90), 60_000);
  const pace = { requestsPerMinute: 120, tokensPerMinute: 0, meanMs: 4000 };
  // Two calls a second of four seconds each: eight at once.
  assert.equal(placesFullInMs(2, 8, pace), undefined);
  const inMs = placesFullInMs(0, 4, pace) ?? 0;
  assert.equal(Math.round(inMs), Math.round(4000 * Math.log(2)));
  assert.equal(placesFullInMs(4, 4, pace), undefined, "reached already");
});

Deno.test("firstStop() takes the pace of the last minute where it is given", () => {
  const nowMs = Date.parse("2026-11-25T12:00:00Z");
  assert.deepEqual(
    firstStop(nowMs, [
      { limit: "day", left: 100, today: 100 },
      { limit: "minute", left: 5, today: 0, fullInMs: 20_000 },
    ]),
    { limit: "minute", atMs: nowMs + 20_000, isRecent: true },
  );
});
