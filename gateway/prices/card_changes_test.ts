import assert from "node:assert/strict";
import { mergeCard } from "./card_changes.ts";
import type { ListedCard } from "./listed_card.ts";

const RATES = { input: 5, output: 25, cache_read: 1, cache_write: 6 };
const PRESENT: ListedCard = {
  rates: { ...RATES, cache_write_1h: 10 },
  uses: { web_search: 10_000 },
  when: [
    { prompt_above: 128_000, rates: { input: 8 } },
    { prompt_above: 200_000, rates: { input: 9, cache_write_1h: 20 } },
    { tier: "priority", rates: { input: 7 } },
    { region: "us", factor: 1.1 },
  ],
};

Deno.test("mergeCard() takes what the table has, keeps the rest, and names both", () => {
  const { card, changes, kept, notes } = mergeCard(PRESENT, {
    rates: { input: 6, output: 25 },
    uses: {},
    call: 3,
    when: [
      { tier: "priority", prompt_above: 200_000, rates: { input: 20 } },
      { tier: "priority", factor: 2 },
      { prompt_above: 200_000, rates: { input: 12 } },
    ],
  });
  assert.deepEqual(card, {
    rates: { ...PRESENT.rates, input: 6 },
    uses: { web_search: 10_000 },
    call: 3,
    when: [
      { prompt_above: 200_000, rates: { input: 12, cache_write_1h: 20 } },
      { tier: "priority", factor: 2 },
      { region: "us", factor: 1.1 },
      { tier: "priority", prompt_above: 200_000, rates: { input: 20 } },
    ],
  });
  const unit = "per_million_tokens";
  assert.deepEqual(changes, [
    { meter: "input", unit, now: 5, then: 6 },
    { meter: "call", unit: "per_use", then: 3 },
    { meter: "input (prompt above 200000)", unit, now: 9, then: 12 },
    { meter: "factor (tier priority)", unit: "factor", then: 2 },
    { meter: "input (tier priority, prompt above 200000)", unit, then: 20 },
    { meter: "input (prompt above 128000)", unit, now: 8 },
    { meter: "input (tier priority)", unit, now: 7 },
  ]);
  assert.deepEqual(kept, [
    "cache_read",
    "cache_write",
    "cache_write_1h",
    "uses.web_search",
    "cache_write_1h (prompt above 200000)",
    "factor (region us)",
  ]);
  assert.deepEqual(notes, []);
});

Deno.test("mergeCard() gives cached tokens the rate of input where no table has one for them", () => {
  const { card, notes } = mergeCard(undefined, {
    rates: { input: 6, output: 25, cache_read: 1 },
    uses: {},
    when: [{ prompt_above: 9, rates: { input: 12 } }],
  });
  assert.deepEqual(card.rates, { ...RATES, input: 6 });
  assert.deepEqual(card.when, [
    { prompt_above: 9, rates: { input: 12, cache_write: 12 } },
  ]);
  assert.deepEqual(notes, ["cache_write: absent; as input"]);
});

Deno.test("mergeCard() finds no change in a card that came from the same table", () => {
  const first = mergeCard(PRESENT, PRESENT);
  assert.deepEqual(first.changes, []);
  assert.deepEqual(mergeCard(first.card, PRESENT).changes, []);
});
