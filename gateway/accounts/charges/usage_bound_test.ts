import assert from "node:assert/strict";
import { chargeFor } from "./charge.ts";
import { PRICE } from "../testing/open_test_accounts.ts";
import type { Usage } from "../../../translate/model/reply.ts";

const MOST = { input: 1_000, output: 100 };

function check(
  usage: Usage,
  tokens: readonly number[],
  bounded: readonly string[],
  generatedChars = 8,
): void {
  const charge = chargeFor({
    inputTokens: 5,
    maxOutputTokens: 9,
    reservedMicroUsd: 9,
    price: PRICE,
  }, {
    usage,
    generatedChars,
    most: MOST,
    ended: "complete",
  });
  const { input, cacheRead, cacheWrite, output } = charge.tokens;
  assert.deepEqual([input, cacheRead, cacheWrite, output], tokens);
  assert.deepEqual(
    (charge.lines ?? []).filter(({ bounded }) => bounded === true)
      .map(({ meter, quantity }) => `${meter} ${quantity}`),
    bounded,
  );
  assert.equal(charge.estimated, bounded.length > 0);
}

Deno.test("boundedUsage() leaves counts within the bounds alone", () => {
  check({ input: 900, cacheRead: 100, output: 100 }, [900, 100, 0, 100], []);
});

Deno.test("boundedUsage() charges the bound for a prompt beyond it, tokens of a cache first", () => {
  check(
    { input: 1e308, cacheRead: 300, cacheWrite: 200, output: 3 },
    [500, 300, 200, 3],
    ["input 500", "cache_read 300", "cache_write 200"],
  );
});

Deno.test("boundedUsage() charges the bound for an output beyond it, unless more was received", () => {
  check({ input: 10, output: 1e9 }, [10, 0, 0, 100], ["output 100"]);
  check({ input: 10, output: 350 }, [10, 0, 0, 350], [], 400);
});

Deno.test("boundedUsage() charges at most 500 uses of all tools together", () => {
  const uses = { web_search: 499, one: 1e9, other: 1e9 };
  const bounded = ["uses.web_search 499", "uses.one 1"];
  check({ input: 10, output: 1, uses }, [10, 0, 0, 1], bounded);
  check({ input: 10, output: 1, uses: { web_search: 500 } }, [10, 0, 0, 1], []);
});
