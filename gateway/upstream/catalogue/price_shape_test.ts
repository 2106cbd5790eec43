import assert from "node:assert/strict";
import { catalogue } from "./catalogue.ts";
import { parseCatalogueFile } from "./catalogue_file.ts";

const FOUR = { input: 5, output: 25, cache_read: 1, cache_write: 6 };

/** A file whose only model has these fields. */
function fileOf(model: object): ReturnType<typeof parseCatalogueFile> {
  return parseCatalogueFile(
    JSON.stringify({ models: { m: { vendor: "vendora", ...model } } }),
  );
}

/** The problems of that file; empty: it is taken. */
function problemsOf(model: object): readonly string[] {
  const file = fileOf(model);
  return file.ok ? [] : file.problems;
}

function modelOf(model: object, nowMs: number) {
  const file = fileOf(model);
  assert.ok(file.ok, JSON.stringify(file));
  return catalogue(file.overrides, {}, nowMs).models.find(({ id }) =>
    id === "m"
  );
}

Deno.test("a price of four numbers is a card; what a cache costs defaults to the input", () => {
  assert.deepEqual(modelOf({ price: FOUR }, 0)?.price, {
    input: 5,
    output: 25,
    cacheRead: 1,
    cacheWrite: 6,
  });
  const { cacheRead, cacheWrite } =
    modelOf({ price: { input: 5, output: 25 } }, 0)?.price ?? {};
  assert.deepEqual([cacheRead, cacheWrite], [5, 5]);
});

Deno.test("a price may have everything that a vendor bills by", () => {
  const price = {
    ...FOUR,
    from: "2026-10-01",
    version: "2026-10-01",
    source: "https://prices.example",
    cache_write_1h: 10,
    audio_input: 0,
    uses: { web_search: 10_000 },
    call: 3,
    when: [
      { speed: "fast", factor: 6 },
      { tier: "Fast", prompt_above: 200_000, rates: { input: 9 } },
    ],
    at_base_rate: ["tier", "uses.web_fetch", "cache_write_12h"],
  };
  assert.deepEqual(modelOf({ price }, Date.UTC(2026, 11, 1))?.cards, [{
    input: 5,
    output: 25,
    cacheRead: 1,
    cacheWrite: 6,
    meters: { cache_write_1h: 10, audio_input: 0 },
    uses: { web_search: 10_000 },
    call: 3,
    when: [
      { speed: "fast", factor: 6 },
      { tier: "priority", promptAbove: 200_000, rates: { input: 9 } },
    ],
    atBaseRate: new Set(["tier", "uses.web_fetch", "cache_write_12h"]),
    fromMs: Date.UTC(2026, 9, 1),
    version: "2026-10-01",
    source: "https://prices.example",
  }]);
});

Deno.test("of several cards the one that has begun last counts; before the first there is no price", () => {
  const price = [
    { ...FOUR, from: "2026-10-01", input: 7 },
    { ...FOUR, from: "2026-09-01" },
  ];
  const at = (nowMs: number) => {
    const model = modelOf({ price }, nowMs);
    return model?.unpriced === true ? "none" : model?.price.input;
  };
  assert.deepEqual(
    [Date.UTC(2026, 7, 31), Date.UTC(2026, 8, 1), Date.UTC(2026, 9, 1)].map(at),
    ["none", 5, 7],
  );
});

Deno.test("free is said, or the model has no price", () => {
  assert.match(
    problemsOf({ free: true, price: FOUR }).join(),
    /^models\.m\.free: cannot be used together with price/,
  );
  assert.equal(modelOf({ free: true }, 0)?.price.isFree, true);
  assert.equal(modelOf({ price: "free" }, 0)?.price.isFree, true);
  assert.equal(modelOf({}, 0)?.unpriced, true);
  assert.equal(modelOf({ price: null }, 0)?.unpriced, true);
});

for (
  const [price, problem] of [
    [{ ...FOUR, input: -1 }, ".input: "],
    [{ ...FOUR, input: 1.5 }, ".input: must be whole"],
    [
      { ...FOUR, output: 10_000_000_001 },
      ".output: is above 10,000 dollars per million tokens",
    ],
    [
      { ...FOUR, uses: { web_search: 100_000_001 } },
      ".uses.web_search: is above 100 dollars",
    ],
    [{ ...FOUR, call: 1e9 }, ".call: is above 100 dollars"],
    [
      { ...FOUR, when: [{ speed: "fast", factor: 1001 }] },
      ".when.0.factor: ",
    ],
    [
      { ...FOUR, when: [{ speed: "fast", factor: 1.2345 }] },
      ".when.0.factor: has more than three decimals",
    ],
    [{ ...FOUR, when: [{ factor: 2 }] }, ".when.0: needs"],
    [{ ...FOUR, when: [{ tier: "x" }] }, ".when.0: needs"],
    [
      { ...FOUR, when: [{ tier: "standard", factor: 2 }] },
      ".when.0.tier: standard means the base rate",
    ],
    [[FOUR, { ...FOUR, output: "x" }], ".1.output: "],
    [[FOUR, FOUR], ": has two cards with the same from"],
    [{ ...FOUR, from: "soon" }, ".from: must be a day"],
    [{ ...FOUR, at_base_rate: ["x"] }, ".at_base_rate.0: "],
    [{ ...FOUR, cache_write_2h: 1 }, ": there is no field cache_write_2h"],
  ] as const
) {
  Deno.test(`a price is refused with its path: ${JSON.stringify(price)}`, () => {
    const text = problemsOf({ price }).join("\n");
    assert.ok(text.startsWith(`models.m.price${problem}`), text);
  });
}
