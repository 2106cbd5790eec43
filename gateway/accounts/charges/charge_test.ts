import assert from "node:assert/strict";
import type { CallOutcome } from "../call_outcome.ts";
import { chargeFor, chargeForLost, wholeTokens } from "./charge.ts";
import { PRICE } from "../testing/open_test_accounts.ts";
import { type Usage } from "../../../translate/model/reply.ts";

const CALL = {
  inputTokens: 100,
  maxOutputTokens: 1000,
  reservedMicroUsd: 2100,
  price: PRICE,
};

type Row = readonly [
  what: string,
  outcome: readonly [ended: CallOutcome["ended"], chars: number, usage: Usage],
  tokens: readonly [
    input: number,
    cacheRead: number,
    cacheWrite: number,
    output: number,
    estimated?: "estimated",
  ],
];

const ROWS: readonly Row[] = [
  [
    "a complete reply costs the reported usage",
    ["complete", 4000, { input: 7, cacheRead: 8, cacheWrite: 9, output: 10 }],
    [7, 8, 9, 10],
  ],
  [
    "a complete reply with a reported output of 0 costs no output if it has no text",
    ["complete", 0, { input: 7, output: 0 }],
    [7, 0, 0, 0],
  ],
  [
    "a complete reply with text and a reported output of 0 is estimated in part",
    ["complete", 400, { input: 7, output: 0 }],
    [7, 0, 0, 100, "estimated"],
  ],
  [
    "a complete reply with text and a reported prompt of 0 is estimated in part",
    ["complete", 400, { input: 0, cacheRead: 0, output: 90 }],
    [100, 0, 0, 90, "estimated"],
  ],
  [
    "a complete reply without usage is estimated",
    ["complete", 401, {}],
    [100, 0, 0, 101, "estimated"],
  ],
  [
    "a complete reply without output usage is estimated in part",
    ["complete", 400, { input: 7 }],
    [7, 0, 0, 100, "estimated"],
  ],
  [
    "a complete reply without prompt usage is estimated in part",
    ["complete", 400, { output: 3 }],
    [100, 0, 0, 3, "estimated"],
  ],
  [
    "a prompt read wholly from the cache is not estimated",
    ["complete", 12, { cacheRead: 90, output: 3 }],
    [0, 90, 0, 3],
  ],
  [
    "after a disconnect, the generated text is charged",
    ["caller_left", 400, { input: 7, output: 1 }],
    [7, 0, 0, 100, "estimated"],
  ],
  [
    "after a disconnect, the reported output is charged if it covers more than the first token",
    ["caller_left", 400, { input: 7, output: 60 }],
    [7, 0, 0, 60],
  ],
  [
    "after a disconnect before any text, the reported prompt is charged",
    ["caller_left", 0, { input: 7, output: 1 }],
    [7, 0, 0, 1],
  ],
  [
    "a disconnect before anything was generated costs nothing",
    ["caller_left", 0, {}],
    [0, 0, 0, 0],
  ],
  [
    "a failure before anything was generated costs nothing",
    ["failed", 0, {}],
    [0, 0, 0, 0],
  ],
  [
    "a failure midway costs the generated text",
    ["failed", 40, {}],
    [100, 0, 0, 10, "estimated"],
  ],
  [
    "a failure with reported usage costs that usage",
    ["failed", 0, { input: 5, output: 2 }],
    [5, 0, 0, 2],
  ],
  [
    "a refusal costs nothing",
    ["refused", 0, {}],
    [0, 0, 0, 0],
  ],
  [
    "a refusal with a reported usage of 0 costs nothing",
    ["refused", 0, { input: 0, output: 0 }],
    [0, 0, 0, 0],
  ],
];

for (const [what, [ended, generatedChars, usage], expected] of ROWS) {
  Deno.test(`chargeFor(): ${what}`, () => {
    const charge = chargeFor(CALL, { usage, generatedChars, ended });
    const [input, cacheRead, cacheWrite, output, estimated] = expected;
    assert.deepEqual(charge, {
      tokens: { input, cacheRead, cacheWrite, output },
      reasoningTokens: 0,
      estimated: estimated !== undefined,
      ended,
      costMicroUsd: input + Math.ceil(cacheRead / 10) + cacheWrite + 2 * output,
    });
  });
}

type LeftRow = readonly [
  what: string,
  outcome: readonly [
    chars: number,
    usage: Usage,
    unseen: Partial<NonNullable<CallOutcome["unseen"]>>,
  ],
  tokens: readonly [input: number, output: number, estimated?: "estimated"],
];

const LEFT_ROWS: readonly LeftRow[] = [
  ["nothing was sent", [0, {}, { wasSent: false }], [0, 0]],
  ["nothing was generated", [0, {}, {}], [100, 0, "estimated"]],
  [
    "all was hidden",
    [0, {}, { hiddenTokens: 300 }],
    [100, 300, "estimated"],
  ],
  [
    "the hidden part is estimated",
    [40, { input: 7, output: 1 }, { hiddenTokens: 300 }],
    [7, 310, "estimated"],
  ],
  [
    "the estimate is at most what was reserved",
    [40, {}, { hiddenTokens: 30_000 }],
    [100, 1000, "estimated"],
  ],
  [
    "the text proves more than was reserved",
    [8000, {}, { hiddenTokens: 30_000 }],
    [100, 2000, "estimated"],
  ],
  [
    "a figure in the middle of the reply is close",
    [40, { input: 7, output: 200 }, { hiddenTokens: 300 }],
    [7, 200],
  ],
  [
    "the figure of a whole reply is charged, however long it took",
    [40, { input: 7, output: 20 }, { isWhole: true, hiddenTokens: 300 }],
    [7, 20],
  ],
  [
    "the text after the client left is not charged",
    [40, { input: 7, output: 600 }, { isWhole: true, laterChars: 1600 }],
    [7, 200, "estimated"],
  ],
  [
    "a whole reply without a figure is its text",
    [40, {}, { isWhole: true, hiddenTokens: 300 }],
    [100, 10, "estimated"],
  ],
];

for (const [what, [generatedChars, usage, unseen], expected] of LEFT_ROWS) {
  Deno.test(`chargeFor() of a client that left: ${what}`, () => {
    const { tokens, estimated } = chargeFor(CALL, {
      usage,
      generatedChars,
      ended: "caller_left",
      unseen: {
        wasSent: true,
        isWhole: false,
        laterChars: 0,
        hiddenTokens: 0,
        ...unseen,
      },
    });
    assert.deepEqual(
      [tokens.input, tokens.output, ...(estimated ? ["estimated"] : [])],
      expected,
    );
  });
}

Deno.test("chargeFor() charges what was reserved for a client that left a call without tokens", () => {
  const call = { ...CALL, inputTokens: 0, maxOutputTokens: 0 };
  const unseen = { isWhole: false, laterChars: 0, hiddenTokens: 0 };
  const cost = (wasSent: boolean): number =>
    chargeFor(call, {
      usage: {},
      generatedChars: 0,
      ended: "caller_left",
      unseen: { ...unseen, wasSent },
    }).costMicroUsd;
  assert.deepEqual([cost(true), cost(false)], [call.reservedMicroUsd, 0]);
});

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
