import assert from "node:assert/strict";
import { readConfig } from "../../settings/config.ts";
import { type Candidate, modelRegistry } from "../catalogue/model_registry.ts";
import { chooseCandidate } from "./load_balancer.ts";

const START = 1_800_000_000_000;

interface Row {
  readonly weight?: number;
  readonly priority?: number;
}

/** Candidates named 0, 1, 2 …, created from the overrides file. */
function candidates(rows: readonly Row[]): readonly Candidate[] {
  const candidates = rows.map((row, i) => ({
    vendor: "vendora",
    upstream_model: String(i),
    ...row,
  }));
  const config = readConfig({
    env: { GATEWAY_CONFIG: "x", VENDORA_API_KEY: "k" },
    readFile: () => JSON.stringify({ models: { m: { candidates } } }),
  });
  const registry = modelRegistry(config.catalogue, config.vendors);
  const model = registry.model("m");
  assert.ok(model !== undefined);
  return registry.candidates(model, "messages");
}

function chosen(
  among: readonly Candidate[],
  chance: number,
  skip: readonly Candidate[] = [],
): string | undefined {
  return chooseCandidate(among, skip, START, () => chance)?.upstreamModel;
}

Deno.test("chooseCandidate() prefers the lowest priority value, whatever the order of the rows", () => {
  const among = candidates([{ priority: 3 }, { priority: 1 }, { priority: 2 }]);
  for (const chance of [0, 0.5, 0.999]) {
    assert.equal(chosen(among, chance), "1");
  }
});

Deno.test("chooseCandidate() splits calls by weight within a priority", () => {
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

Deno.test("chooseCandidate() ignores the weights of other priorities", () => {
  const among = candidates([{}, {}, { priority: 2, weight: 100 }]);
  assert.equal(chosen(among, 0.49), "0");
  assert.equal(chosen(among, 0.51), "1");
});

Deno.test("chooseCandidate() avoids an unavailable candidate and those to skip", () => {
  const among = candidates([{}, {}, { priority: 2 }]);
  const [first, second, last] = among;
  assert.ok(first !== undefined && second !== undefined && last !== undefined);
  first.health.coolDown(START, 60_000);
  for (const chance of [0, 0.999]) assert.equal(chosen(among, chance), "1");
  assert.equal(chosen(among, 0, [second]), "2");
  assert.equal(chosen(among, 0, among), undefined);
});

Deno.test("chooseCandidate() takes the earliest available candidate if all are unavailable", () => {
  const among = candidates([{}, {}, { priority: 2 }]);
  for (const [i, one] of among.entries()) {
    one.health.coolDown(START, 60_000 - i);
  }
  assert.equal(chosen(among, 0), "2");
});

Deno.test("chooseCandidate() takes an only candidate, available or not, without a random number", () => {
  const among = candidates([{}]);
  among[0]?.health.coolDown(START, 60_000);
  assert.equal(
    chooseCandidate(among, [], START, () => assert.fail("random() was called")),
    among[0],
  );
});
