import assert from "node:assert/strict";
import { usageOf } from "./usage.ts";

Deno.test("usageOf() reads the lives of cache writes and the kinds of tokens", () => {
  assert.deepEqual(
    usageOf({
      service_tier: "default",
      usage: {
        input_tokens: 1000,
        input_tokens_details: {
          cached_tokens: 100,
          cache_write_tokens: 300,
          cache_write_tokens_details: {
            ttl_30m_tokens: 100,
            ttl_12h_tokens: 200,
          },
          audio_tokens: 5,
        },
        output_tokens: 50,
        output_tokens_details: { reasoning_tokens: 10, audio_tokens: 7 },
      },
    }),
    {
      input: 600,
      cacheRead: 100,
      cacheWrite: 300,
      output: 50,
      reasoning: 10,
      cacheWrite30m: 100,
      cacheWrite12h: 200,
      audioInput: 5,
      audioOutput: 7,
    },
  );
});

Deno.test("usageOf() reads the tier and the uses of the vendor's tools", () => {
  const output = [
    { type: "web_search_call", action: { type: "search" } },
    { type: "web_search_call", action: { type: "open_page" } },
    { type: "web_search_call" },
    { type: "file_search_call" },
    { type: "image_generation_call" },
    { type: "message" },
    null,
  ];
  assert.deepEqual(usageOf({ service_tier: "priority", output }), {
    tier: "priority",
    uses: { web_search: 2, file_search: 1, image_generation: 1 },
  });
  const tool_usage = { web_search: { num_requests: 7 } };
  assert.deepEqual(usageOf({ output, tool_usage })?.uses?.["web_search"], 7);
  assert.equal(
    usageOf({ output: [], tool_usage: { web_search: { num_requests: 0 } } }),
    undefined,
  );
});
