import assert from "node:assert/strict";
import { decodeUsage, sameUsage } from "./usage.ts";

Deno.test("decodeUsage() reads modalities beside text; cached sound is no input at the full rate", () => {
  assert.deepEqual(
    decodeUsage({
      promptTokenCount: 1000,
      cachedContentTokenCount: 100,
      candidatesTokenCount: 50,
      totalTokenCount: 1050,
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: 600 },
        { modality: "AUDIO", tokenCount: 300 },
        { modality: "IMAGE", tokenCount: 60 },
        { modality: "VIDEO", tokenCount: 20 },
        { modality: "SMELL", tokenCount: 20 },
      ],
      cacheTokensDetails: [{ modality: "AUDIO", tokenCount: 100 }],
      candidatesTokensDetails: [
        { modality: "TEXT", tokenCount: 10 },
        { modality: "AUDIO", tokenCount: 40 },
      ],
    }),
    {
      input: 900,
      cacheRead: 100,
      output: 50,
      audioInput: 200,
      imageInput: 60,
      unknownInput: 20,
      audioOutput: 40,
    },
  );
});

for (
  const [said, tier] of [
    [{ trafficType: "ON_DEMAND" }, undefined],
    [{ trafficType: "ON_DEMAND_PRIORITY" }, "priority"],
    [{ trafficType: "ON_DEMAND_FLEX" }, "flex"],
    [{ trafficType: "PROVISIONED_THROUGHPUT" }, "provisioned_throughput"],
    [{ serviceTier: "standard" }, undefined],
    [{ serviceTier: "FLEX" }, "flex"],
  ] as const
) {
  Deno.test(`decodeUsage() reads ${JSON.stringify(said)} as the tier ${tier}`, () => {
    assert.equal(decodeUsage({ promptTokenCount: 1, ...said })?.tier, tier);
  });
}

Deno.test("sameUsage() compares every figure", () => {
  assert.equal(sameUsage({ input: 1, tier: "flex" }, { input: 1 }), false);
  assert.equal(sameUsage({ input: 1 }, { input: 1 }), true);
  assert.equal(sameUsage({ input: 1 }, undefined), false);
});
