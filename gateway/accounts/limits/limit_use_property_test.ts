/** Sums of windows against a list of all charges: calls begin and end in any order, at any time. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { LimitSettings, ReservedCall } from "../records.ts";
import { dayOf, firstDayOf, WINDOWS } from "./calendar_window.ts";
import { exceededLimit } from "./exceeded_limit.ts";
import {
  type LimitUse,
  UNUSED,
  useAt,
  withCall,
  withCharge,
  withoutCall,
  worstCase,
} from "./limit_use.ts";
import { WINDOW_LIMITS } from "./window_limits.ts";

const HOUR_MS = 3_600_000;
const limits: fc.Arbitrary<LimitSettings> = fc.record({
  spendPerDayMicroUsd: fc.nat(400),
  spendPerWeekMicroUsd: fc.nat(800),
  spendPerMonthMicroUsd: fc.nat(1200),
  tokensPerDay: fc.nat(400),
  tokensPerWeek: fc.nat(800),
  tokensPerMonth: fc.nat(1200),
}, { requiredKeys: [] });

const step = fc.record({
  // Up to three days: turns of weeks and months are frequent.
  waitMs: fc.nat(72 * HOUR_MS),
  ends: fc.boolean(),
  which: fc.nat(),
  input: fc.nat(60),
  output: fc.nat(60),
  part: fc.nat(100),
});

interface Entry {
  readonly day: number;
  readonly microUsd: number;
  readonly tokens: number;
}

Deno.test("what is used in a window is the sum of its charges, and no limit is exceeded", () => {
  fc.assert(
    fc.property(
      limits,
      fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2029, 0, 1) }),
      fc.array(step, { minLength: 5, maxLength: 80 }),
      (limits, startMs, steps) => {
        let nowMs = startMs;
        let use: LimitUse = UNUSED;
        const open: ReservedCall[] = [];
        const entries: Entry[] = [];
        for (const { waitMs, ends, which, input, output, part } of steps) {
          nowMs += waitMs;
          if (ends && open.length > 0) {
            const [call] = open.splice(which % open.length, 1);
            assert.ok(call !== undefined);
            const input = call.inputTokens;
            const output = Math.floor(call.maxOutputTokens * part / 100);
            const charge = {
              tokens: { input, cacheRead: 0, cacheWrite: 0, output },
              reasoningTokens: 0,
              estimated: false,
              ended: "complete",
              costMicroUsd: input + 2 * output,
            } as const;
            use = withoutCall(useAt(use, limits, nowMs), call);
            use = withCharge(use, limits, call, charge, true);
            entries.push({
              day: dayOf(nowMs),
              microUsd: charge.costMicroUsd,
              tokens: input + output,
            });
          } else {
            const call = callOf(input, output, nowMs);
            use = useAt(use, limits, nowMs);
            const found = exceededLimit("key", use, limits, call, nowMs);
            assert.equal(found === undefined, fits(use, limits, call));
            if (found !== undefined) {
              checkOpening(use, limits, call, nowMs, found);
              continue;
            }
            use = withCall(use, limits, call);
            open.push(call);
          }
          check(use, open, entries, nowMs);
        }
      },
    ),
    { numRuns: 500 },
  );
});

function callOf(input: number, output: number, atMs: number): ReservedCall {
  return {
    requestId: "req",
    accountId: "a",
    keyId: "k",
    model: "m",
    inputTokens: input,
    maxOutputTokens: output,
    price: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 },
    reservedMicroUsd: input + 2 * output,
    reservedTokens: input + output,
    atMs,
  };
}

function fits(
  use: LimitUse,
  limits: LimitSettings,
  call: ReservedCall,
): boolean {
  return WINDOW_LIMITS.every(({ field, window, unit }) =>
    use.used[window][unit] + use.reserved[unit] + worstCase(call)[unit] <=
      (limits[field] ?? Infinity)
  );
}

/** Once nothing is open and the named time has come, only a call that is too large is refused. */
function checkOpening(
  use: LimitUse,
  limits: LimitSettings,
  call: ReservedCall,
  nowMs: number,
  found: NonNullable<ReturnType<typeof exceededLimit>>,
): void {
  if (found.window === undefined) return;
  const row = WINDOW_LIMITS[found.window];
  assert.ok(row !== undefined);
  const idle = { ...use, reserved: { microUsd: 0, tokens: 0 } };
  const at = (ms: number): boolean => {
    const later = useAt(idle, limits, ms);
    return later.used[row.window][row.unit] + worstCase(call)[row.unit] <=
      (limits[row.field] ?? Infinity);
  };
  assert.equal(at(nowMs + found.waitMs - 1), false);
  const isPossible = worstCase(call)[row.unit] <= found.limit;
  assert.equal(at(nowMs + found.waitMs), isPossible);
}

function check(
  use: LimitUse,
  open: readonly ReservedCall[],
  entries: readonly Entry[],
  nowMs: number,
): void {
  const day = dayOf(nowMs);
  assert.equal(use.openRequests, open.length);
  for (const unit of ["microUsd", "tokens"] as const) {
    assert.equal(
      use.reserved[unit],
      open.reduce((sum, call) => sum + worstCase(call)[unit], 0),
    );
    for (const window of WINDOWS) {
      const first = firstDayOf(window, day);
      assert.equal(
        use.used[window][unit],
        entries.filter((entry) => entry.day >= first)
          .reduce((sum, entry) => sum + entry[unit], 0),
        window,
      );
    }
  }
}
