import assert from "node:assert/strict";
import { readUsage } from "./usage.ts";

Deno.test("readUsage() ignores a zero after a reported prompt figure", () => {
  const zeros = {
    input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    output_tokens: 0,
  };
  assert.deepEqual(
    readUsage(zeros, { input: 1, cacheRead: 2, output: 1 }),
    { cacheWrite: 0, output: 0 },
  );
});

Deno.test("readUsage() accepts zeros beside other prompt figures", () => {
  const written = { input: 10, cacheWrite: 500, cacheRead: 0 };
  assert.deepEqual(
    readUsage({
      input_tokens: 10,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 500,
      output_tokens: 3,
    }, written),
    { input: 10, cacheWrite: 0, cacheRead: 500, output: 3 },
  );
  assert.deepEqual(
    readUsage({ input_tokens: 0, cache_read_input_tokens: 510 }, written),
    { input: 0, cacheRead: 510 },
  );
});

Deno.test("readUsage() adds up cache writes that are reported only per time to live", () => {
  const cache_creation = {
    ephemeral_5m_input_tokens: 30,
    ephemeral_1h_input_tokens: 12,
  };
  assert.deepEqual(
    readUsage({ input_tokens: 1, cache_creation }, {}),
    { input: 1, cacheWrite: 42 },
  );
  assert.deepEqual(
    readUsage(
      { input_tokens: 1, cache_creation_input_tokens: 42, cache_creation },
      {},
    ),
    { input: 1, cacheWrite: 42 },
  );
});

Deno.test("readUsage() adds the compactions and advisors that the totals leave out, and counts no message twice", () => {
  const iteration = (type: string, input: number, output: number) => ({
    type,
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: 5,
    cache_creation_input_tokens: 0,
    cache_creation: {
      ephemeral_5m_input_tokens: 2,
      ephemeral_1h_input_tokens: 1,
    },
  });
  const totals = {
    input_tokens: 23_000,
    cache_read_input_tokens: 100,
    cache_creation_input_tokens: 0,
    output_tokens: 1_000,
  };
  assert.deepEqual(
    readUsage({
      ...totals,
      iterations: [
        iteration("compaction", 180_000, 3_500),
        iteration("message", 23_000, 1_000),
      ],
    }, {}),
    { input: 203_000, cacheRead: 105, cacheWrite: 0, output: 4_500 },
  );
  assert.deepEqual(
    readUsage({
      ...totals,
      iterations: [
        iteration("message", 20_000, 900),
        iteration("advisor_message", 700, 70),
        iteration("fallback_message", 3_000, 100),
        "odd",
        { type: "compaction" },
      ],
    }, {}),
    { input: 23_700, cacheRead: 105, cacheWrite: 0, output: 1_070 },
  );
  for (const iterations of [null, [], "x"]) {
    assert.deepEqual(
      readUsage({ ...totals, iterations }, {}),
      readUsage(totals, {}),
    );
  }
});
