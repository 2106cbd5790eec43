import assert from "node:assert/strict";
import fc from "fast-check";
import {
  DAY_MS,
  dayAfter,
  dayOf,
  dayText,
  firstDayOf,
  WINDOWS,
} from "./calendar_window.ts";

/** 1900 to 2200, so that years without a leap day between leap years are included. */
const time = fc.integer({
  min: Date.UTC(1900, 0, 1),
  max: Date.UTC(2200, 0, 1),
});

Deno.test("a window contains its first day and ends where the next begins", () => {
  fc.assert(
    fc.property(time, fc.constantFrom(...WINDOWS), (ms, window) => {
      const day = dayOf(ms);
      const [first, next] = [firstDayOf(window, day), dayAfter(window, day)];
      assert.ok(first <= day && day < next);
      for (const one of [first, next - 1]) {
        assert.equal(firstDayOf(window, one), first);
        assert.equal(dayAfter(window, one), next);
      }
      assert.equal(firstDayOf(window, next), next);
      assert.equal(dayAfter(window, first - 1), first);
    }),
    { numRuns: 5000 },
  );
});

Deno.test("days begin at midnight UTC, weeks on Monday, months on the first", () => {
  fc.assert(
    fc.property(time, (ms) => {
      const day = dayOf(ms);
      assert.ok(day * DAY_MS <= ms && ms < (day + 1) * DAY_MS);
      const week = firstDayOf("week", day);
      assert.equal(new Date(week * DAY_MS).getUTCDay(), 1);
      assert.equal(dayAfter("week", day), week + 7);
      const month = new Date(firstDayOf("month", day) * DAY_MS);
      const date = new Date(ms);
      assert.deepEqual(
        [month.getUTCFullYear(), month.getUTCMonth(), month.getUTCDate()],
        [date.getUTCFullYear(), date.getUTCMonth(), 1],
      );
    }),
    { numRuns: 5000 },
  );
});

const TURNS: readonly (readonly [time: string, texts: string])[] = [
  [
    "2028-02-28T23:59:59.999Z",
    "Tuesday 2028-02-29, Monday 2028-03-06, Wednesday 2028-03-01",
  ],
  [
    "2028-02-29T12:00:00Z",
    "Wednesday 2028-03-01, Monday 2028-03-06, Wednesday 2028-03-01",
  ],
  [
    "2100-02-28T12:00:00Z",
    "Monday 2100-03-01, Monday 2100-03-01, Monday 2100-03-01",
  ],
  [
    "2026-12-31T23:59:59.999Z",
    "Friday 2027-01-01, Monday 2027-01-04, Friday 2027-01-01",
  ],
  // The night in which Europe's clocks change.
  [
    "2026-10-25T00:30:00Z",
    "Monday 2026-10-26, Monday 2026-10-26, Sunday 2026-11-01",
  ],
];

for (const [text, opens] of TURNS) {
  Deno.test(`windows of ${text} open on ${opens}`, () => {
    const day = dayOf(Date.parse(text));
    assert.deepEqual(
      WINDOWS.map((window) => dayText(dayAfter(window, day))),
      opens.split(", ").map((one) => `${one} 00:00 UTC`),
    );
  });
}

Deno.test("windows do not depend on the zone of the process", async () => {
  const program = new URL("./calendar_window.ts", import.meta.url);
  const code = `const w = await import(${JSON.stringify(program.href)});
    const days = Array.from({ length: 800 }, (_, n) => 20000 + n);
    console.log(JSON.stringify(days.flatMap((day) => w.WINDOWS.map((name) => w.dayText(w.dayAfter(name, day))))));`;
  const outputs = await Promise.all(
    ["UTC", "Pacific/Kiritimati", "America/New_York"].map(async (zone) => {
      const { stdout, success } = await new Deno.Command(Deno.execPath(), {
        args: ["eval", "--no-check", code],
        env: { TZ: zone },
      }).output();
      assert.ok(success);
      return new TextDecoder().decode(stdout);
    }),
  );
  assert.ok((outputs[0] ?? "").length > 10_000);
  assert.equal(new Set(outputs).size, 1);
});
