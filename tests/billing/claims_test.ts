/**
 * Counts that upstreams report are claims: every format reads the same claim alike, and no charge
 * is beyond what the call can have used. Over real sockets:
 * `tests/hostile/hostile_upstream_frames_test.ts`.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { chargeFor, isBounded } from "../../gateway/accounts/charges/charge.ts";
import { mergeUsage, type Usage } from "../../translate/model/reply.ts";
import { decodeUsage as chat } from "../../translate/formats/chat_completions/usage.ts";
import { readUsage as converse } from "../../translate/formats/converse/usage.ts";
import { decodeUsage as generateContent } from "../../translate/formats/generate_content/usage.ts";
import { readUsage as messages } from "../../translate/formats/messages/usage.ts";
import { decodeUsage as responses } from "../../translate/formats/responses/usage.ts";

/** What an upstream claims; `cached` is a part of `prompt`, or more. */
interface Claim {
  readonly prompt: number;
  readonly cached: number;
  readonly output: number;
  readonly reasoning: number;
  readonly audio: number;
}

/** Formats whose prompt includes what was read from a cache. */
const INCLUDING: Readonly<Record<string, (claim: Claim) => Usage>> = {
  chat: ({ prompt, cached, output, reasoning, audio }) =>
    chat({
      prompt_tokens: prompt,
      completion_tokens: output,
      total_tokens: prompt + output,
      prompt_tokens_details: { cached_tokens: cached, audio_tokens: audio },
      completion_tokens_details: { reasoning_tokens: reasoning },
    }) ?? {},
  responses: ({ prompt, cached, output, reasoning, audio }) =>
    responses({
      input_tokens: prompt,
      output_tokens: output,
      total_tokens: prompt + output,
      input_tokens_details: { cached_tokens: cached, audio_tokens: audio },
      output_tokens_details: { reasoning_tokens: reasoning },
    }) ?? {},
  generateContent: ({ prompt, cached, output, reasoning, audio }) =>
    generateContent({
      promptTokenCount: prompt,
      cachedContentTokenCount: cached,
      // Its count of candidates leaves the reasoning out.
      candidatesTokenCount: Math.max(0, output - reasoning),
      thoughtsTokenCount: Math.min(reasoning, output),
      totalTokenCount: prompt + output,
      promptTokensDetails: [{ modality: "AUDIO", tokenCount: audio }],
    }) ?? {},
};

/** Formats that count what was read from a cache beside the prompt. */
const DISJOINT: Readonly<Record<string, (claim: Claim) => Usage>> = {
  messages: ({ prompt, cached, output, reasoning }) =>
    messages({
      input_tokens: prompt - Math.min(prompt, cached),
      cache_read_input_tokens: Math.min(prompt, cached),
      output_tokens: output,
      output_tokens_details: { thinking_tokens: reasoning },
    }, {}),
  converse: ({ prompt, cached, output }) =>
    converse({
      inputTokens: prompt - Math.min(prompt, cached),
      cacheReadInputTokens: Math.min(prompt, cached),
      outputTokens: output,
    }),
};

const CARD = {
  input: 1_000_000,
  cacheRead: 100_000,
  cacheWrite: 1_250_000,
  output: 5_000_000,
  meters: { audio_input: 7_000_000 },
};
const MOST = { input: 5_000, output: 3_000 };
const CHARS = 40;

function charged(usage: Usage): ReturnType<typeof chargeFor> {
  return chargeFor({
    inputTokens: 9,
    maxOutputTokens: 9,
    reservedMicroUsd: 9,
    price: CARD,
    card: CARD,
  }, {
    usage,
    generatedChars: CHARS,
    most: MOST,
    ended: "complete",
  });
}

const count = fc.oneof(
  fc.integer({ min: 0, max: 6_000 }),
  fc.constantFrom(0, 1, 5e8, 1e15),
);
const claims: fc.Arbitrary<Claim> = fc.record({
  prompt: count,
  cached: count,
  output: count,
  reasoning: count,
  audio: count,
});

Deno.test("every format charges the same for the same claim, and never beyond the bound", () =>
  fc.assert(
    fc.property(claims, (claim) => {
      const readings = { ...INCLUDING, ...DISJOINT };
      const all = Object.entries(readings).map(([format, read]) => ({
        format,
        charge: charged(read(claim)),
      }));
      for (const { format, charge } of all) {
        const { input, cacheRead, cacheWrite, output } = charge.tokens;
        const prompt = input + cacheRead + cacheWrite;
        const where = `${format}: ${JSON.stringify(charge)}`;
        assert.ok(prompt <= MOST.input && output <= MOST.output, where);
        assert.ok(charge.reasoningTokens <= output, where);
        for (const { meter, quantity } of charge.lines ?? []) {
          if (meter === "audio_input") assert.ok(quantity <= prompt, where);
        }
        assert.equal(
          isBounded(charge),
          claim.prompt > MOST.input || claim.output > MOST.output,
          where,
        );
        // A reply with a text has a prompt and an output.
        assert.ok(prompt > 0 && output > 0, where);
        assert.equal(
          charge.estimated,
          isBounded(charge) || claim.prompt === 0 || claim.output === 0,
          where,
        );
        assert.deepEqual(charge.tokens, all[0]?.charge.tokens, where);
      }
      for (const { format, charge } of all.slice(0, 2)) {
        assert.equal(charge.costMicroUsd, all[0]?.charge.costMicroUsd, format);
        assert.equal(
          charge.reasoningTokens,
          all[0]?.charge.reasoningTokens,
          format,
        );
      }
    }),
    { numRuns: 2_000 },
  ));

Deno.test("cached tokens beyond the prompt are cut to it, unless the total has both or is absent", () => {
  const read = (total: number | undefined): readonly unknown[] => [
    chat({
      prompt_tokens: 10,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 1_000 },
      total_tokens: total,
    }),
    responses({
      input_tokens: 10,
      output_tokens: 5,
      input_tokens_details: { cached_tokens: 1_000 },
      total_tokens: total,
    }),
    generateContent({
      promptTokenCount: 10,
      candidatesTokenCount: 5,
      cachedContentTokenCount: 1_000,
      totalTokenCount: total,
    }),
  ];
  for (
    const [total, input, cacheRead] of [
      [15, 0, 10],
      [1_015, 10, 1_000],
      [undefined, 0, 1_000],
    ] as const
  ) {
    for (const usage of read(total)) {
      assert.deepEqual(usage, { input, cacheRead, output: 5 });
    }
  }
});

const NO_COUNTS: readonly unknown[] = [
  "7",
  "",
  -1,
  true,
  {},
  [],
  Infinity,
  NaN,
];

/** A `usage` of each format with something in place of its counts, and what is decoded. */
const WITH: Readonly<
  Record<string, (prompt: unknown, output: unknown) => Usage>
> = {
  chat: (prompt, output) =>
    chat({
      prompt_tokens: prompt,
      completion_tokens: output,
      prompt_tokens_details: { cached_tokens: 3 },
    }) ?? {},
  responses: (prompt, output) =>
    responses({
      input_tokens: prompt,
      output_tokens: output,
      input_tokens_details: { cached_tokens: 3 },
    }) ?? {},
  generateContent: (prompt, output) =>
    generateContent({
      promptTokenCount: prompt,
      candidatesTokenCount: output,
      cachedContentTokenCount: 3,
      thoughtsTokenCount: 1,
    }) ?? {},
  messages: (prompt, output) =>
    messages({
      input_tokens: 3,
      cache_read_input_tokens: prompt,
      output_tokens: output,
    }, {}),
  converse: (prompt, output) =>
    converse({
      inputTokens: 3,
      cacheWriteInputTokens: prompt,
      outputTokens: output,
    }),
};

Deno.test("what is no count is none in every format: the charge is an estimate, also where a stream began with a count", () => {
  for (const [format, read] of Object.entries(WITH)) {
    for (const value of NO_COUNTS) {
      const where = `${format}: ${String(value)}`;
      const output = charged(mergeUsage({ output: 1 }, read(50, value)));
      assert.equal(output.estimated, true, where);
      assert.equal(output.tokens.output, CHARS / 4, where);
      const prompt = charged(read(value, 50));
      assert.equal(prompt.estimated, true, where);
      assert.deepEqual(
        [prompt.tokens.input, prompt.tokens.cacheRead],
        [9, 0],
        where,
      );
    }
  }
});
