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
    { input: 1, cacheWrite: 42, cacheWrite5m: 30, cacheWrite1h: 12 },
  );
  assert.deepEqual(
    readUsage(
      { input_tokens: 1, cache_creation_input_tokens: 42, cache_creation },
      {},
    ),
    { input: 1, cacheWrite: 42, cacheWrite5m: 30, cacheWrite1h: 12 },
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
    {
      input: 203_000,
      cacheRead: 105,
      cacheWrite: 0,
      output: 4_500,
      cacheWrite5m: 2,
      cacheWrite1h: 1,
    },
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
    {
      input: 23_700,
      cacheRead: 105,
      cacheWrite: 0,
      output: 1_070,
      cacheWrite5m: 2,
      cacheWrite1h: 1,
    },
  );
  for (const iterations of [null, [], "x"]) {
    assert.deepEqual(
      readUsage({ ...totals, iterations }, {}),
      readUsage(totals, {}),
    );
  }
});

Deno.test("readUsage() reads how a reply was served, and the vendor's tools that it used", () => {
  assert.deepEqual(
    readUsage({
      input_tokens: 1,
      output_tokens: 2,
      server_tool_use: {
        web_search_requests: 5,
        web_fetch_requests: 0,
        other_requests: 1,
      },
      service_tier: "priority",
      speed: "fast",
      inference_geo: "us",
    }, {}),
    {
      input: 1,
      output: 2,
      uses: { web_search: 5, other: 1 },
      tier: "priority",
      speed: "fast",
      region: "us",
    },
  );
  assert.deepEqual(
    readUsage({
      input_tokens: 1,
      service_tier: "standard",
      speed: "standard",
      inference_geo: "not_available",
      server_tool_use: null,
      cache_creation: {
        ephemeral_5m_input_tokens: 0,
        ephemeral_1h_input_tokens: 0,
      },
    }, {}),
    { input: 1, cacheWrite: 0 },
  );
});

Deno.test("readUsage() reads what other models served", () => {
  const iteration = {
    input_tokens: 300,
    output_tokens: 30,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 7,
    cache_creation: { ephemeral_1h_input_tokens: 7 },
  };
  const usage = readUsage({
    input_tokens: 1000,
    output_tokens: 100,
    iterations: [
      { ...iteration, type: "message", model: "claude-opus-5" },
      { ...iteration, type: "fallback_message", model: "claude-haiku-5-5" },
      { ...iteration, type: "advisor_message", model: "claude-fable-5" },
    ],
  }, {});
  const part = {
    input: 300,
    output: 30,
    cacheRead: 0,
    cacheWrite: 7,
    cacheWrite1h: 7,
  };
  assert.deepEqual(usage, {
    input: 1300,
    output: 130,
    cacheWrite1h: 7,
    served: [
      { ...part, model: "claude-haiku-5-5" },
      { ...part, model: "claude-fable-5" },
    ],
  });
});

Deno.test("readUsage() adds tokens of kinds that it does not know to the totals", () => {
  assert.deepEqual(
    readUsage({
      input_tokens: 10,
      cache_deep_input_tokens: 5,
      output_tokens: 3,
      video_output_tokens: 4,
      thinking_tokens: 9,
    }, {}),
    { input: 15, unknownInput: 5, output: 7, unknownOutput: 4 },
  );
});
