import assert from "node:assert/strict";
import { readConfig } from "../config.ts";
import { type Candidate, offerOf } from "./candidates.ts";
import { choose } from "./choose.ts";

const START = 1_800_000_000_000;

interface Row {
  readonly weight?: number;
  readonly priority?: number;
}

/** Candidates named 0, 1, 2 …, as the file of overrides makes them. */
function candidates(rows: readonly Row[]): readonly Candidate[] {
  const config = readConfig({
    env: { GATEWAY_CONFIG: "x", VENDORA_API_KEY: "k" },
    readFile: () =>
      JSON.stringify({
        models: {
          m: {
            candidates: rows.map((row, i) => ({
              vendor: "vendora",
              upstream_model: String(i),
              ...row,
            })),
          },
        },
      }),
  });
  const offer = offerOf(config.catalogue, config.vendors);
  const model = offer.model("m");
  assert.ok(model !== undefined);
  return offer.candidates(model, "messages");
}

function chosen(
  among: readonly Candidate[],
  chance: number,
  skip: readonly Candidate[] = [],
): string | undefined {
  return choose(among, skip, START, () => chance)?.upstreamModel;
}

Deno.test("choose() takes the lowest priority, in whatever order the rows stand", () => {
  const among = candidates([{ priority: 3 }, { priority: 1 }, { priority: 2 }]);
  for (const chance of [0, 0.5, 0.999]) {
    assert.equal(chosen(among, chance), "1");
  }
});

Deno.test("choose() divides chance by weight among equals", () => {
  const among = candidates([{ weight: 1 }, { weight: 2 }, { weight: 1 }]);
  const rows: readonly (readonly [number, string])[] = [
    [0, "0"],
    [0.249, "0"],
    [0.251, "1"],
    [0.749, "1"],
    [0.751, "2"],
    [0.999999, "2"],
  ];
  for (const [chance, name] of rows) assert.equal(chosen(among, chance), name);
});

Deno.test("choose() divides among the lowest priority alone, whatever the others weigh", () => {
  const among = candidates([{}, {}, { priority: 2, weight: 100 }]);
  assert.equal(chosen(among, 0.49), "0");
  assert.equal(chosen(among, 0.51), "1");
});

Deno.test("choose() passes over a candidate that is out, and over those to be skipped", () => {
  const among = candidates([{}, {}, { priority: 2 }]);
  const [first, second, last] = among;
  assert.ok(first !== undefined && second !== undefined && last !== undefined);
  first.health.rest(START, 60_000);
  for (const chance of [0, 0.999]) assert.equal(chosen(among, chance), "1");
  assert.equal(chosen(among, 0, [second]), "2");
  assert.equal(chosen(among, 0, among), undefined);
});

Deno.test("choose() takes the one that is due back first where all are out", () => {
  const among = candidates([{}, {}, { priority: 2 }]);
  for (const [i, one] of among.entries()) one.health.rest(START, 60_000 - i);
  assert.equal(chosen(among, 0), "2");
});

Deno.test("choose() takes the only candidate, out or not, and asks no chance", () => {
  const among = candidates([{}]);
  among[0]?.health.rest(START, 60_000);
  assert.equal(
    choose(among, [], START, () => assert.fail("chance was asked")),
    among[0],
  );
});
