/** The standard caps of a live run do not cut its own plan off. */
import assert from "node:assert/strict";
import { CHECKS } from "../checks/mod.ts";
import { SCENARIOS } from "../scenarios/mod.ts";
import { usdOf } from "../suite/budget.ts";
import type { Level } from "../suite/check.ts";
import { chooseChecks, chooseScenarios, costOf } from "./choose.ts";
import { LIVE_CAPS } from "./run.ts";

Deno.test("LIVE_CAPS leave room for the whole plan of a target with a dozen models", () => {
  const route = { name: "model", via: undefined, model: "m1" };
  const models = Array.from({ length: 12 }, (_, at) => `m${at}`);
  const profile = { models, messages: [route], chat: [route] };
  const levels = new Set<Level>(["documented", "convention", "contract"]);
  const checks = chooseChecks(CHECKS, "live", levels, []);
  const plan = costOf(
    chooseScenarios(checks, SCENARIOS, "live", profile),
    profile,
  );
  assert.ok(plan.requests <= LIVE_CAPS.requests, `${plan.requests} requests`);
  assert.ok(
    plan.outputTokens <= LIVE_CAPS.outputTokens,
    `${plan.outputTokens} output tokens`,
  );
  assert.ok(usdOf(plan) <= LIVE_CAPS.usd, `${usdOf(plan)} dollars`);
});
