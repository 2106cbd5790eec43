import assert from "node:assert/strict";
import {
  LOW_BALANCE_BIT,
  WARNING_PERCENTS,
  warningBit,
  WINDOW_LIMITS,
} from "./window_limits.ts";

Deno.test("no limit, also none to come, has the stored bit of another warning", () => {
  assert.equal(LOW_BALANCE_BIT, 4096, "as stored");
  const bits = [LOW_BALANCE_BIT];
  for (let limit = 0; limit < WINDOW_LIMITS.length + 6; limit++) {
    for (const at of WARNING_PERCENTS.keys()) bits.push(warningBit(limit, at));
  }
  assert.equal(new Set(bits).size, bits.length);
});
