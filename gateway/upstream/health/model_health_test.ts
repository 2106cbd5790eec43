import assert from "node:assert/strict";
import { Breaker, CONSECUTIVE_FAILURES, FIRST_PAUSE_MS } from "./breaker.ts";
import { modelHealth } from "./model_health.ts";

const NOW_MS = 1_000_000;

function candidate(health: Breaker, usable: boolean = true) {
  return { health, credential: { state: () => ({ usable }) } };
}

function opened(): Breaker {
  const breaker = new Breaker();
  for (let i = 0; i < CONSECUTIVE_FAILURES; i++) breaker.failed(NOW_MS);
  return breaker;
}

function resting(): Breaker {
  const breaker = new Breaker();
  breaker.coolDown(NOW_MS, 10_000);
  return breaker;
}

Deno.test("modelHealth(): well while all upstreams take calls, away while none does", () => {
  const well = () => candidate(new Breaker());
  for (
    const [candidates, expected] of [
      [[well()], "well"],
      [[well(), well()], "well"],
      [[well(), candidate(opened())], "degraded"],
      [[well(), candidate(resting())], "degraded"],
      [[well(), candidate(new Breaker(), false)], "degraded"],
      [[candidate(opened())], "away"],
      [[candidate(resting()), candidate(opened())], "away"],
      [[candidate(new Breaker(), false)], "away"],
    ] as const
  ) assert.equal(modelHealth(candidates, NOW_MS), expected);
});

Deno.test("modelHealth(): after its pause an opened breaker is probed, and the model is degraded", () => {
  const health = modelHealth([candidate(opened())], NOW_MS + FIRST_PAUSE_MS);
  assert.equal(health, "degraded");
});
