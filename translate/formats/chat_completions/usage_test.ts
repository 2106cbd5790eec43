import assert from "node:assert/strict";
import { decodeUsage, encodeUsage } from "./usage.ts";

Deno.test("decodeUsage() keeps an earlier count of cached tokens if a later usage does not report them", () => {
  const first = decodeUsage({
    prompt_tokens: 100,
    prompt_tokens_details: { cached_tokens: 60 },
  });
  assert.deepEqual(decodeUsage({ prompt_tokens: 100 }, first), {
    input: 40,
    cacheRead: 60,
  });
});

Deno.test("decodeUsage() caps cached tokens at the prompt, unless the total shows that they are counted separately", async (t) => {
  const usage = (prompt: number, read: number, write: number, total?: number) =>
    decodeUsage({
      prompt_tokens: prompt,
      completion_tokens: 7,
      total_tokens: total,
      prompt_tokens_details: { cached_tokens: read, cache_write_tokens: write },
    });
  const rows: readonly (readonly [
    ReturnType<typeof usage>,
    input: number,
    read: number,
    write: number,
  ])[] = [
    [usage(100, 60, 30, 107), 10, 60, 30],
    [usage(100, 80, 80, 107), 0, 80, 20],
    [usage(100, 120, 0, 107), 0, 100, 0],
    [usage(10, 80, 80, 177), 10, 80, 80],
    [usage(10, 80, 0), 0, 80, 0],
  ];
  for (const [decoded, input, cacheRead, cacheWrite] of rows) {
    await t.step(JSON.stringify(decoded), () => {
      assert.deepEqual(decoded, { input, cacheRead, cacheWrite, output: 7 });
      const prompt = input + cacheRead + cacheWrite;
      const encoded = encodeUsage(decoded ?? {}, 5);
      assert.equal(encoded["prompt_tokens"], prompt);
      assert.equal(encoded["total_tokens"], prompt + 7);
    });
  }
});

Deno.test("decodeUsage() reads the parts of prompt and completion, and kinds that it does not know", () => {
  assert.deepEqual(
    decodeUsage({
      prompt_tokens: 1000,
      completion_tokens: 500,
      total_tokens: 1500,
      prompt_tokens_details: {
        audio_tokens: 100,
        image_tokens: 50,
        text_tokens: 650,
        smell_tokens: 20,
        cached_tokens: 0,
        cache_write_tokens: 200,
        cache_write_tokens_details: { ttl_30m_tokens: 150, ttl_12h_tokens: 50 },
      },
      completion_tokens_details: {
        audio_tokens: 40,
        text_tokens: 460,
        dream_tokens: 3,
        rejected_prediction_tokens: 9,
      },
    }),
    {
      input: 800,
      cacheRead: 0,
      cacheWrite: 200,
      output: 500,
      audioInput: 100,
      imageInput: 50,
      cacheWrite30m: 150,
      cacheWrite12h: 50,
      unknownInput: 20,
      audioOutput: 40,
      unknownOutput: 3,
    },
  );
});
