import assert from "node:assert/strict";
import type { Charge, LedgerEntry } from "../records.ts";
import { CARD, PRICE } from "../testing/open_test_accounts.ts";
import { chargeFor } from "../charges/charge.ts";
import { applyCorrection, correctionLines } from "./correction.ts";
import { explainCharge } from "../charges/explanation.ts";
import { priceText } from "../charges/money.ts";
import { compact } from "../../../translate/bytes/compact.ts";
import { type Usage } from "../../../translate/model/reply.ts";

const LOST: LedgerEntry = {
  seq: 1,
  atMs: 1,
  kind: "charge",
  requestId: "req_1",
  accountId: "a",
  inputTokens: 100,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 10,
  reasoningTokens: 0,
  // The price of a request for speed fast.
  price: "6000000/600000/6000000/12000000@2026-11-01",
  estimated: true,
  ended: "lost",
  microUsd: -720,
};

/** The correction of {@linkcode LOST} as the store would have it. */
function correctionOf(charge: Charge): LedgerEntry {
  const lines = correctionLines(charge, charge.price ?? PRICE, LOST);
  return {
    ...LOST,
    seq: 2,
    requestId: "req_1.correction",
    corrects: "req_1",
    inputTokens: charge.tokens.input - 100,
    outputTokens: charge.tokens.output - 10,
    price: priceText(charge.price ?? PRICE),
    estimated: false,
    ended: "complete",
    microUsd: 720 - charge.costMicroUsd,
    ...compact({ lines }),
  };
}

function chargeOf(usage: Usage): Charge {
  return chargeFor(
    {
      inputTokens: 100,
      maxOutputTokens: 100,
      reservedMicroUsd: 1000,
      price: PRICE,
      card: CARD,
    },
    { usage, generatedChars: 0, ended: "complete" },
  );
}

Deno.test("a correction has the difference of the lines, and both together are the right charge", () => {
  const charge = chargeOf({
    input: 90,
    output: 20,
    speed: "fast",
    uses: { web_search: 1 },
  });
  const whole = applyCorrection(LOST, correctionOf(charge));
  assert.deepEqual(whole.lines, charge.lines);
  assert.equal(whole.price, "1000000/100000/1000000/2000000@2026-11-01");
  assert.equal(explainCharge(whole)?.microUsd, charge.costMicroUsd);
  assert.equal(whole.microUsd, 0 - charge.costMicroUsd);
  assert.equal(charge.costMicroUsd, 540 + 240 + 10_000);
});

Deno.test("the correction of a call that was served at the base rates has lines, too", () => {
  const charge = chargeOf({ input: 90, output: 20 });
  const correction = correctionOf(charge);
  assert.equal(explainCharge(correction)?.microUsd, 130 - 720);
  assert.equal(
    explainCharge(applyCorrection(LOST, correction))?.microUsd,
    charge.costMicroUsd,
  );
});
