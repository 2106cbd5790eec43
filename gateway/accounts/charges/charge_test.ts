import assert from "node:assert/strict";
import type { CallOutcome } from "../call_outcome.ts";
import { chargeFor, chargeForLost, wholeTokens } from "./charge.ts";
import type { Charge } from "../records.ts";
import { PRICE } from "../testing/open_test_accounts.ts";

const CALL = { inputTokens: 100, price: PRICE };

type Row = readonly [
  what: string,
  outcome: CallOutcome,
  tokens: readonly [
    input: number,
    cacheRead: number,
    cacheWrite: number,
    output: number,
  ],
  estimated: boolean,
];

const ROWS: readonly Row[] = [
  [
    "a complete reply costs the reported usage",
    {
      usage: { input: 7, cacheRead: 8, cacheWrite: 9, output: 10 },
      generatedChars: 4000,
      ended: "complete",
    },
    [7, 8, 9, 10],
    false,
  ],
  [
    "a complete reply with a reported output of 0 costs no output if it has no text",
    { usage: { input: 7, output: 0 }, generatedChars: 0, ended: "complete" },
    [7, 0, 0, 0],
    false,
  ],
  [
    "a complete reply with text and a reported output of 0 is estimated in part",
    { usage: { input: 7, output: 0 }, generatedChars: 400, ended: "complete" },
    [7, 0, 0, 100],
    true,
  ],
  [
    "a complete reply with text and a reported prompt of 0 is estimated in part",
    {
      usage: { input: 0, cacheRead: 0, output: 90 },
      generatedChars: 400,
      ended: "complete",
    },
    [100, 0, 0, 90],
    true,
  ],
  [
    "a complete reply without usage is estimated",
    { usage: {}, generatedChars: 401, ended: "complete" },
    [100, 0, 0, 101],
    true,
  ],
  [
    "a complete reply without output usage is estimated in part",
    { usage: { input: 7 }, generatedChars: 400, ended: "complete" },
    [7, 0, 0, 100],
    true,
  ],
  [
    "a complete reply without prompt usage is estimated in part",
    { usage: { output: 3 }, generatedChars: 400, ended: "complete" },
    [100, 0, 0, 3],
    true,
  ],
  [
    "a prompt read wholly from the cache is not estimated",
    {
      usage: { cacheRead: 90, output: 3 },
      generatedChars: 12,
      ended: "complete",
    },
    [0, 90, 0, 3],
    false,
  ],
  [
    "after a disconnect, the generated text is charged",
    {
      usage: { input: 7, output: 1 },
      generatedChars: 400,
      ended: "caller_left",
    },
    [7, 0, 0, 100],
    true,
  ],
  [
    "after a disconnect, the reported output is charged if it covers more than the first token",
    {
      usage: { input: 7, output: 60 },
      generatedChars: 400,
      ended: "caller_left",
    },
    [7, 0, 0, 60],
    false,
  ],
  [
    "after a disconnect before any text, the reported prompt is charged",
    { usage: { input: 7, output: 1 }, generatedChars: 0, ended: "caller_left" },
    [7, 0, 0, 1],
    false,
  ],
  [
    "a disconnect before anything was generated costs nothing",
    { usage: {}, generatedChars: 0, ended: "caller_left" },
    [0, 0, 0, 0],
    false,
  ],
  [
    "a failure before anything was generated costs nothing",
    { usage: {}, generatedChars: 0, ended: "failed" },
    [0, 0, 0, 0],
    false,
  ],
  [
    "a failure midway costs the generated text",
    { usage: {}, generatedChars: 40, ended: "failed" },
    [100, 0, 0, 10],
    true,
  ],
  [
    "a failure with reported usage costs that usage",
    { usage: { input: 5, output: 2 }, generatedChars: 0, ended: "failed" },
    [5, 0, 0, 2],
    false,
  ],
  [
    "a refusal costs nothing",
    { usage: {}, generatedChars: 0, ended: "refused" },
    [0, 0, 0, 0],
    false,
  ],
  [
    "a refusal with a reported usage of 0 costs nothing",
    { usage: { input: 0, output: 0 }, generatedChars: 0, ended: "refused" },
    [0, 0, 0, 0],
    false,
  ],
];

for (
  const [what, outcome, [input, cacheRead, cacheWrite, output], estimated]
    of ROWS
) {
  Deno.test(`chargeFor(): ${what}`, () => {
    const charge = chargeFor(CALL, outcome);
    const expected: Charge = {
      tokens: { input, cacheRead, cacheWrite, output },
      reasoningTokens: 0,
      estimated,
      ended: outcome.ended,
      costMicroUsd: input + Math.ceil(cacheRead / 10) + cacheWrite + 2 * output,
    };
    assert.deepEqual(charge, expected);
  });
}

Deno.test("chargeFor() never counts more reasoning than output", () => {
  const charge = chargeFor(CALL, {
    usage: { input: 1, output: 5, reasoning: 9 },
    generatedChars: 0,
    ended: "complete",
  });
  assert.equal(charge.reasoningTokens, 5);
});

Deno.test("chargeForLost() charges the average output, at most the call's maximum", () => {
  const call = { ...CALL, maxOutputTokens: 30, reservedMicroUsd: 160 };
  assert.equal(chargeForLost(call, 20).costMicroUsd, 140);
  assert.equal(chargeForLost(call, 50).costMicroUsd, 160);
  assert.equal(chargeForLost(call, 50).estimated, true);
  assert.equal(chargeForLost(call, 50).ended, "lost");
});

Deno.test("wholeTokens() turns any number into a token count", () => {
  const figures = [1.2, -5, NaN, Infinity, 3];
  assert.deepEqual(figures.map(wholeTokens), [2, 0, 0, 1_000_000_000, 3]);
});
