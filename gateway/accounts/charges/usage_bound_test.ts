import assert from "node:assert/strict";
import { chargeFor } from "./charge.ts";
import { PRICE } from "../testing/open_test_accounts.ts";
import type { Usage } from "../../../translate/model/reply.ts";

const MOST = { input: 1_000, output: 100 };

function charged(usage: Usage, generatedChars = 8): {
  readonly tokens: readonly number[];
  readonly bounded: readonly string[];
  readonly estimated: boolean;
} {
  const charge = chargeFor({ inputTokens: 5, price: PRICE }, {
    usage,
    generatedChars,
    most: MOST,
    ended: "complete",
  });
  const { input, cacheRead, cacheWrite, output } = charge.tokens;
  return {
    tokens: [input, cacheRead, cacheWrite, output],
    bounded: (charge.lines ?? []).filter(({ bounded }) => bounded === true)
      .map(({ meter, quantity }) => `${meter} ${quantity}`),
    estimated: charge.estimated,
  };
}

Deno.test("boundedUsage() leaves counts within the bounds alone", () => {
  assert.deepEqual(charged({ input: 900, cacheRead: 100, output: 100 }), {
    tokens: [900, 100, 0, 100],
    bounded: [],
    estimated: false,
  });
});

Deno.test("boundedUsage() charges the bound for a prompt beyond it, tokens of a cache first", () => {
  assert.deepEqual(
    charged({ input: 1e308, cacheRead: 300, cacheWrite: 200, output: 3 }),
    {
      tokens: [500, 300, 200, 3],
      bounded: ["input 500", "cache_read 300", "cache_write 200"],
      estimated: true,
    },
  );
});

Deno.test("boundedUsage() charges the bound for an output beyond it, unless more was received", () => {
  assert.deepEqual(charged({ input: 10, output: 1e9 }), {
    tokens: [10, 0, 0, 100],
    bounded: ["output 100"],
    estimated: true,
  });
  assert.deepEqual(charged({ input: 10, output: 350 }, 400), {
    tokens: [10, 0, 0, 350],
    bounded: [],
    estimated: false,
  });
});

Deno.test("boundedUsage() charges at most 500 uses of all tools together", () => {
  const { bounded, estimated } = charged({
    input: 10,
    output: 1,
    uses: { web_search: 499, one: 1e9, other: 1e9 },
  });
  assert.deepEqual(bounded, ["uses.web_search 499", "uses.one 1"]);
  assert.equal(estimated, true);
  assert.deepEqual(
    charged({ input: 10, output: 1, uses: { web_search: 500 } }).bounded,
    [],
  );
});
