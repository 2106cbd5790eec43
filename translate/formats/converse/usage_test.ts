import assert from "node:assert/strict";
import { readMetadata } from "./usage.ts";

Deno.test("readMetadata() reads the lives of cache writes, the tier and the latency", () => {
  assert.deepEqual(
    readMetadata({
      usage: {
        inputTokens: 1,
        outputTokens: 2,
        cacheWriteInputTokens: 30,
        cacheDetails: [
          { ttl: "5m", inputTokens: 10 },
          { ttl: "1h", inputTokens: 20 },
        ],
      },
      serviceTier: { type: "priority" },
      performanceConfig: { latency: "optimized" },
    }),
    {
      input: 1,
      output: 2,
      cacheWrite: 30,
      cacheWrite5m: 10,
      cacheWrite1h: 20,
      tier: "priority",
      speed: "optimized",
    },
  );
  assert.deepEqual(
    readMetadata({
      usage: { inputTokens: 1 },
      serviceTier: { type: "default" },
      performanceConfig: { latency: "standard" },
    }),
    { input: 1 },
  );
});
