import assert from "node:assert/strict";
import fc from "fast-check";
import { compact } from "../../bytes/compact.ts";
import { chatCompletions } from "../chat_completions/mod.ts";
import {
  type Dialect,
  type EncodeContext,
  PLAIN_CONTEXT,
} from "../../dialect.ts";
import { messages } from "../messages/mod.ts";
import { streamRelay } from "../../stream/relay.ts";
import type { Relay } from "../../stream/relay_interface.ts";
import { generateContent } from "./mod.ts";
import { ENCODE_CONTEXT } from "../../testing/encode_context.ts";

const ENCODE: EncodeContext = {
  ...ENCODE_CONTEXT,
  model: "asked/for",
  wantUsage: true,
};
const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();

const relayOf = (client: Dialect): Relay =>
  streamRelay(client, generateContent, PLAIN_CONTEXT, ENCODE);

/** The vendor's count fields. */
const usage = fc.record({
  promptTokenCount: fc.oneof(fc.nat(50), fc.constant(25)),
  candidatesTokenCount: fc.oneof(fc.nat(50), fc.double({ min: 0, max: 9 })),
  thoughtsTokenCount: fc.nat(3),
  cachedContentTokenCount: fc.nat(3),
  totalTokenCount: fc.nat(99),
  trafficType: fc.constant("ON_DEMAND"),
}, { requiredKeys: [] });

const frame = fc.record({
  text: fc.oneof(
    { weight: 5, arbitrary: fc.string({ maxLength: 6 }) },
    fc.constantFrom("", '"', "\\n", "é😀", '"totalTokenCount":7'),
  ),
  thought: fc.oneof({ weight: 6, arbitrary: fc.constant(false) }, fc.boolean()),
  // Mostly the same keys from frame to frame, as vendors send them.
  usage: fc.option(usage, { nil: undefined, freq: 3 }),
  candidates: fc.nat(400),
  finish: fc.oneof(
    { weight: 9, arbitrary: fc.constant(undefined) },
    fc.constant("STOP"),
  ),
});

type GivenFrame = typeof frame extends fc.Arbitrary<infer Given> ? Given
  : never;

function frameText(given: GivenFrame): string {
  return `data: ${
    JSON.stringify({
      candidates: [{
        content: {
          parts: [{
            text: given.text,
            ...(given.thought ? { thought: true } : {}),
          }],
          role: "model",
        },
        ...compact({ finishReason: given.finish }),
        index: 0,
      }],
      usageMetadata: given.usage ?? {
        promptTokenCount: 25,
        candidatesTokenCount: given.candidates,
        totalTokenCount: given.candidates + 25,
        promptTokensDetails: [{ modality: "TEXT", tokenCount: 25 }],
      },
      modelVersion: "up-1",
    })
  }\r\n\r\n`;
}

for (const client of [messages, chatCompletions]) {
  Deno.test(`a stream to ${client.name} is the same whether its frames are matched or parsed, wherever it is cut`, () => {
    fc.assert(
      fc.property(
        fc.array(frame, { maxLength: 12 }),
        fc.integer({ min: 1, max: 400 }),
        fc.boolean(),
        (frames, size, isWhole) => {
          const recognised = relayOf(client);
          const read = relayOf(client);
          let out = "";
          let expected = "";
          const source = ENCODER.encode(frames.map(frameText).join(""));
          for (let at = 0; at < source.length; at += size) {
            out += DECODER.decode(
              recognised.push(source.subarray(at, at + size)),
            );
          }
          for (const one of frames) {
            // Different comments in the frames, so that none matches another.
            const bytes = ENCODER.encode(`: read me\n${frameText(one)}`);
            expected += DECODER.decode(read.push(bytes));
          }
          assert.equal(out, expected);
          assert.deepEqual(recognised.progress(), read.progress());
          if (!isWhole) return;
          assert.equal(
            DECODER.decode(recognised.end()),
            DECODER.decode(read.end()),
          );
          assert.deepEqual(recognised.progress(), read.progress());
        },
      ),
      { seed: 20261122, numRuns: 500 },
    );
  });
}
