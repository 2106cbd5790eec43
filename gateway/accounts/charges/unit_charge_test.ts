/** Charges of calls that are not billed by tokens. */
import assert from "node:assert/strict";
import type { Usage } from "../../../translate/model/reply.ts";
import { chargeFor, chargeForLost } from "./charge.ts";
import type { RateCard } from "./rate_card.ts";
import { worstCostMicroUsd } from "./worst_cost.ts";
import { parsePrice } from "./money.ts";

const NO_TOKENS = parsePrice("0/0/0/0");

const charge = (card: RateCard, usage: Usage, ended = "complete" as const) =>
  chargeFor({
    inputTokens: 0,
    maxOutputTokens: 9,
    reservedMicroUsd: 9,
    price: card,
    card,
  }, {
    usage: { input: 0, output: 0, ...usage },
    generatedChars: 0,
    ended,
  });

const ROWS: readonly (readonly [
  what: string,
  card: Partial<RateCard>,
  usage: Usage,
  microUsd: number,
])[] = [
  // 0.006 dollars a minute.
  ["seconds", { units: { second: 100e6 } }, { units: { second: 61 } }, 6_100],
  // 15 dollars for a million.
  [
    "characters",
    { units: { character: 15e6 } },
    { units: { character: 7 } },
    105,
  ],
  [
    "a part of a micro-dollar",
    { units: { character: 0.7e6 } },
    { units: { character: 1 } },
    1,
  ],
  ["images", { units: { image: 40_000 } }, { units: { image: 3 } }, 120_000],
  ["a call that counts nothing", { call: 2_000 }, { units: {} }, 2_000],
  [
    "a call beside images",
    { call: 2_000, units: { image: 40_000 } },
    { units: { image: 1 } },
    42_000,
  ],
  [
    "tokens that cost something, and no images then",
    { input: 5e6, output: 40e6, units: { image: 40_000 } },
    { input: 10, output: 100, units: { image: 1 } },
    4_050,
  ],
  [
    "images where tokens cost nothing",
    { units: { image: 40_000 } },
    { input: 10, output: 100, units: { image: 1 } },
    40_000,
  ],
  [
    "nothing without a rate",
    { units: { image: 40_000 } },
    { units: { second: 5 } },
    0,
  ],
  ["nothing for a free model", { isFree: true }, { units: { image: 1 } }, 0],
];

for (const [what, rates, usage, microUsd] of ROWS) {
  const card = { ...NO_TOKENS, ...rates };
  Deno.test(`a charge has ${what}`, () => {
    const { costMicroUsd, estimated, lines = [] } = charge(card, usage);
    assert.equal(costMicroUsd, microUsd);
    assert.equal(estimated, false);
    assert.ok(lines.every(({ unpriced }) => unpriced === undefined));
  });

  Deno.test(`as much is reserved for ${what}`, () => {
    const { units = {}, input = 0, output = 0 } = usage;
    assert.ok(worstCostMicroUsd(card, input, output, { units }) >= microUsd);
  });
}

Deno.test("an estimated amount makes the charge an estimate", () => {
  const { estimated } = charge(
    { ...NO_TOKENS, units: { second: 100_000_000 } },
    { units: { second: 5 }, areUnitsEstimated: true },
  );
  assert.equal(estimated, true);
});

Deno.test("a lost call without tokens is charged what was reserved for it", () => {
  const call = {
    inputTokens: 0,
    maxOutputTokens: 0,
    price: NO_TOKENS,
    reservedMicroUsd: 80_000,
  };
  const { costMicroUsd, estimated, ended, lines } = chargeForLost(call, 256);
  assert.deepEqual([costMicroUsd, estimated, ended], [80_000, true, "lost"]);
  assert.deepEqual(lines, [
    { meter: "call", quantity: 1, rate: 80_000, bounded: true },
  ]);
});
