import assert from "node:assert/strict";
import fc from "fast-check";
import type { Usage } from "../../../translate/model/reply.ts";
import { chargeLines, costOfLines, picoUsdOf } from "./charge_lines.ts";
import { costMicroUsd, parsePrice, type Tokens } from "./money.ts";
import { type Condition, eachOf, type RateCard } from "./rate_card.ts";
import type { Asked } from "./asked.ts";
import { askedPrice, worstCostMicroUsd } from "./worst_cost.ts";

/** Opus: 5 dollars in, 25 out; a cache write for an hour is twice the input. */
const OPUS: RateCard = {
  ...parsePrice("5000000/500000/6250000/25000000"),
  meters: { cache_write_1h: 10_000_000 },
  uses: { web_search: 10_000, web_fetch: 0 },
  when: [{ speed: "fast", factor: 6 }, { region: "us", factor: 1.1 }],
};
/** Gemini 3 Pro: other rates above 200,000 tokens; sound costs as text. */
const PRO: RateCard = {
  ...parsePrice("2000000/200000/2000000/12000000"),
  atBaseRate: new Set(["audio_input"]),
  when: [
    {
      promptAbove: 200_000,
      rates: { input: 4_000_000, cache_read: 400_000, output: 18_000_000 },
    },
    { tier: "priority", factor: 1.8 },
    { tier: "flex", factor: 0.5 },
  ],
};
/** GPT of four numbers. */
const FOUR: RateCard = parsePrice("1250000/125000/1250000/10000000");

type Row = readonly [
  what: string,
  card: RateCard,
  usage: Usage,
  microUsd: number,
  lines: readonly string[] | undefined,
];

const MILLION = 1_000_000;

// Computed by hand from the rates above.
const ROWS: readonly Row[] = [
  [
    "tokens at the four base rates have no lines",
    FOUR,
    { input: 1000, cacheRead: 1000, output: 100 },
    1250 + 125 + 1000,
    undefined,
  ],
  [
    "a million tokens written for an hour cost 10 dollars, not 6.25",
    OPUS,
    { input: 0, cacheWrite: MILLION, cacheWrite1h: MILLION, output: 0 },
    10_000_000,
    ["1000000 cache_write_1h at 10000000"],
  ],
  [
    "writes for five minutes cost the card's cache write",
    OPUS,
    { input: 3, cacheWrite: 1000, cacheWrite5m: 1000, output: 4 },
    15 + 6250 + 100,
    undefined,
  ],
  [
    "writes for both lives cost each its own",
    OPUS,
    { input: 10, cacheWrite: 300, cacheWrite5m: 100, cacheWrite1h: 200 },
    50 + 625 + 2000,
    [
      "10 input at 5000000",
      "100 cache_write at 6250000",
      "200 cache_write_1h at 10000000",
    ],
  ],
  [
    "five searches at speed fast",
    OPUS,
    { input: 10, output: 10, speed: "fast", uses: { web_search: 5 } },
    // 10 × 30 + 10 × 150 + 5 × 10,000: a factor is for tokens.
    300 + 1500 + 50_000,
    [
      "10 input at 30000000 (speed=fast ×6)",
      "10 output at 150000000 (speed=fast ×6)",
      "5 uses.web_search at 10000",
    ],
  ],
  [
    "two conditions multiply",
    OPUS,
    { input: 1000, output: 0, speed: "fast", region: "us" },
    // 5 × 6 × 1.1 = 33 a token
    33_000,
    ["1000 input at 33000000 (speed=fast ×6, region=us ×1.1)"],
  ],
  [
    "standard, default, global and not_available are the base rate",
    OPUS,
    { input: 1, tier: "standard", speed: "standard", region: "not_available" },
    5,
    undefined,
  ],
  [
    "a long prompt is charged at its own rates for all tokens",
    PRO,
    { input: 150_000, cacheRead: 50_001, output: 10 },
    600_000 + 20_001 + 180,
    [
      "150000 input at 4000000 (prompt_above=200000)",
      "50001 cache_read at 400000 (prompt_above=200000)",
      "10 output at 18000000 (prompt_above=200000)",
    ],
  ],
  [
    "a prompt of exactly the step is not above it",
    PRO,
    { input: 200_000, output: 10 },
    400_000 + 120,
    undefined,
  ],
  [
    "a tier multiplies what the long prompt costs",
    PRO,
    { input: 300_000, output: 0, tier: "priority" },
    // 300,000 × 4 × 1.8
    2_160_000,
    ["300000 input at 7200000 (prompt_above=200000, tier=priority ×1.8)"],
  ],
  [
    "a reply that says fast means priority",
    PRO,
    { input: 1000, output: 0, tier: "fast" },
    3600,
    ["1000 input at 3600000 (tier=priority ×1.8)"],
  ],
  [
    "a tier without a rate costs the dearest that the card knows, marked",
    PRO,
    { input: 1000, output: 10, tier: "provisioned" },
    3600 + 216,
    [
      "1000 input at 3600000 (tier=priority ×1.8) unpriced",
      "10 output at 21600000 (tier=priority ×1.8) unpriced",
    ],
  ],
  [
    "what may pass at the base rate does",
    PRO,
    { input: 1000, audioInput: 400, output: 1 },
    2000 + 12,
    undefined,
  ],
  [
    "a kind of tokens without a rate costs the dearest of its direction, marked",
    OPUS,
    { input: 1000, audioInput: 400, output: 1 },
    // 600 × 5 + 400 × 10 + 25
    3000 + 4000 + 25,
    [
      "600 input at 5000000",
      "400 audio_input at 10000000 unpriced",
      "1 output at 25000000",
    ],
  ],
  [
    "tokens that nobody knows are parts of their total",
    FOUR,
    { input: 100, unknownInput: 30, output: 50, unknownOutput: 20 },
    125 + 1 - 1 + 500,
    [
      "70 input at 1250000",
      "30 unknown_input at 1250000 unpriced",
      "30 output at 10000000",
      "20 unknown_output at 10000000 unpriced",
    ],
  ],
  [
    "a use without a rate costs the dearest of the card's, marked",
    OPUS,
    { input: 0, output: 0, uses: { x_search: 2 } },
    20_000,
    ["2 uses.x_search at 10000 unpriced"],
  ],
  [
    "a use on a card without any costs the dearest published one, marked",
    FOUR,
    { input: 0, output: 0, uses: { x_search: 1 } },
    35_000,
    ["1 uses.x_search at 35000 unpriced"],
  ],
  [
    "a price of a call is added once",
    { ...FOUR, call: 300 },
    { input: 1000, output: 0 },
    1250 + 300,
    ["1000 input at 1250000", "1 call at 300"],
  ],
  [
    "a part never counts more than its total",
    OPUS,
    { input: 5, cacheWrite: 10, cacheWrite1h: 99 },
    25 + 100,
    ["5 input at 5000000", "10 cache_write_1h at 10000000"],
  ],
];

for (const [what, card, usage, microUsd, expected] of ROWS) {
  Deno.test(`chargeLines(): ${what}`, () => {
    const lines = chargeLines(card, tokensOf(usage), usage);
    assert.deepEqual(lines?.map(lineText), expected);
    const plain = costMicroUsd(card, tokensOf(usage));
    assert.equal(lines === undefined ? plain : costOfLines(lines), microUsd);
  });
}

const HAIKU: RateCard = {
  ...parsePrice("1000000/100000/1250000/5000000"),
  meters: { cache_write_1h: 2_000_000 },
};

const OTHERS = { otherCards: new Map([["claude-haiku-4-5", HAIKU]]) };

Deno.test("chargeLines() charges what another model served at that model's rates", () => {
  const usage: Usage = {
    input: 1000,
    cacheWrite: 500,
    cacheWrite1h: 500,
    output: 300,
    served: [{
      model: "claude-haiku-4-5-20251001",
      input: 400,
      cacheWrite: 500,
      cacheWrite1h: 500,
      output: 200,
    }],
  };
  const lines = chargeLines(OPUS, tokensOf(usage), usage, OTHERS);
  assert.deepEqual(lines?.map(lineText), [
    "600 input at 5000000",
    "100 output at 25000000",
    "400 input at 1000000 by claude-haiku-4-5-20251001",
    "500 cache_write_1h at 2000000 by claude-haiku-4-5-20251001",
    "200 output at 5000000 by claude-haiku-4-5-20251001",
  ]);
  assert.equal(costOfLines(lines ?? []), 3000 + 2500 + 400 + 1000 + 1000);
});

Deno.test("chargeLines() charges a model without a card at the dearest rates, marked", () => {
  const usage: Usage = {
    input: 100,
    output: 10,
    served: [{ model: "unheard-of", input: 100, output: 10 }],
  };
  assert.deepEqual(
    chargeLines(OPUS, tokensOf(usage), usage)?.map(lineText),
    [
      "100 input at 10000000 unpriced by unheard-of",
      "10 output at 25000000 unpriced by unheard-of",
    ],
  );
});

Deno.test("eachOf() rounds a rate with its factors up to a whole micro-dollar", () => {
  const reasons = [{ because: "region=us", factor: 1.1 }];
  assert.equal(eachOf({ rate: 300_001, reasons }), 330_002);
  assert.equal(eachOf({ rate: 300_000, reasons }), 330_000);
});

Deno.test("chargeLines() charges writes whose life the reply does not report at the longest life that is asked for", () => {
  const usage: Usage = { cacheWrite: 1000, cacheWrite5m: 200 };
  const lines = (asked: Asked) =>
    chargeLines(OPUS, tokensOf(usage), usage, asked)?.map(lineText);
  assert.deepEqual(lines({ meters: ["cache_write_1h"] }), [
    "200 cache_write at 6250000",
    "800 cache_write_1h at 10000000",
  ]);
  assert.equal(lines({}), undefined);
});

const rate = fc.nat(100_000_000);
const count = fc.nat(2_000_000);
const factor = fc.integer({ min: 1000, max: 8000 }).map((one) => one / 1000);

/** Cards whose conditions and longer lives never cost less than the base. */
const CARD: fc.Arbitrary<RateCard> = fc.record({
  rates: fc.record({
    input: rate,
    cacheRead: rate,
    cacheWrite: rate,
    output: rate,
    call: fc.nat(1000),
    uses: fc.record({ web_search: fc.nat(1_000_000) }),
  }),
  tier: factor,
  speed: factor,
  region: factor,
  promptAbove: fc.nat(1_000_000),
  stepFactor: factor,
  life: fc.option(rate),
  audio: fc.option(rate),
}).map(({ rates, tier, speed, region, promptAbove, stepFactor, ...more }) => ({
  ...rates,
  meters: {
    ...(more.life !== null && { cache_write_1h: rates.cacheWrite + more.life }),
    ...(more.audio !== null && { audio_output: rates.output + more.audio }),
  },
  when: [
    { tier: "priority", factor: tier },
    { speed: "fast", factor: speed },
    { region: "us", factor: region },
    { promptAbove, factor: stepFactor },
  ] satisfies Condition[],
}));

const USAGE: fc.Arbitrary<Usage> = fc.record({
  input: count,
  cacheRead: count,
  cacheWrite: count,
  cacheWrite1h: count,
  output: count,
  audioOutput: count,
  unknownInput: fc.oneof(fc.constant(0), count),
  tier: fc.constantFrom("standard", "priority"),
  speed: fc.constantFrom("standard", "fast"),
  region: fc.constantFrom("global", "us"),
  uses: fc.record({ web_search: fc.nat(10) }),
});

Deno.test("the lines add up to the charge, and a larger total never costs less", () => {
  fc.assert(fc.property(
    CARD,
    USAGE,
    fc.constantFrom("input", "cacheRead", "cacheWrite", "output"),
    count,
    (card, usage, figure, more) => {
      const cost = (of: Usage): number =>
        costOfLines(chargeLines(card, tokensOf(of), of) ?? []);
      const lines = chargeLines(card, tokensOf(usage), usage) ?? [];
      const sum = lines.reduce((total, one) => total + picoUsdOf(one), 0n);
      assert.equal(BigInt(cost(usage)), (sum + 999_999n) / 1_000_000n);
      const larger = { ...usage, [figure]: (usage[figure] ?? 0) + more };
      assert.ok(cost(usage) <= cost(larger));
    },
  ));
});

Deno.test("no reply that a request can cause costs more than is reserved", () => {
  fc.assert(fc.property(
    CARD,
    USAGE,
    (card, usage) => {
      const { unknownInput: _, ...known } = usage;
      const asked: Asked = {
        tier: "priority",
        speed: "fast",
        region: "us",
        meters: ["cache_write_1h", "audio_output"],
        uses: { web_search: 10 },
      };
      const tokens = tokensOf(usage);
      const prompt = tokens.input + tokens.cacheRead + tokens.cacheWrite;
      const lines = chargeLines(card, tokens, known) ?? [];
      const worst = worstCostMicroUsd(card, prompt, tokens.output, asked);
      assert.ok(costOfLines(lines) <= worst);
    },
  ));
});

Deno.test("worstCostMicroUsd() reserves what is asked for, and nothing else", () => {
  assert.equal(worstCostMicroUsd(OPUS, 1000, 100), 6250 + 2500);
  const asked: Asked = {
    speed: "fast",
    region: "us",
    meters: ["cache_write_1h"],
    uses: { web_search: 5, web_fetch: 9 },
  };
  assert.equal(
    worstCostMicroUsd(OPUS, 1000, 100, asked),
    // (1,000 + 14 × 20,000) × 66 + 100 × 165 + 5 × 10,000: what a tool finds is part of the prompt.
    18_546_000 + 16_500 + 50_000,
  );
  assert.equal(
    worstCostMicroUsd(OPUS, 1000, 100, OTHERS),
    6250 + 2500 + 1250 + 500,
  );
});

Deno.test("askedPrice() is the card itself unless one of its conditions holds", () => {
  assert.equal(askedPrice(OPUS, 1000), OPUS);
  assert.equal(askedPrice(OPUS, 1000, { speed: "standard" }), OPUS);
  assert.deepEqual(askedPrice({ ...PRO, version: "7" }, 200_001), {
    input: 4_000_000,
    cacheRead: 400_000,
    cacheWrite: 2_000_000,
    output: 18_000_000,
    version: "7",
  });
});

function tokensOf(usage: Usage): Tokens {
  const { input = 0, cacheRead = 0, cacheWrite = 0, output = 0 } = usage;
  return { input, cacheRead, cacheWrite, output };
}

function lineText(
  line: NonNullable<ReturnType<typeof chargeLines>>[number],
): string {
  const reasons = (line.reasons ?? []).map(({ because, factor }) =>
    factor === undefined ? because : `${because} ×${factor}`
  );
  return [
    `${line.quantity} ${line.meter} at ${eachOf(line)}`,
    ...(reasons.length === 0 ? [] : [`(${reasons.join(", ")})`]),
    ...(line.unpriced === true ? ["unpriced"] : []),
    ...(line.model === undefined ? [] : [`by ${line.model}`]),
  ].join(" ");
}
