import assert from "node:assert/strict";
import { CHECKS } from "../areas/checks.ts";
import { Redaction } from "../evidence/redaction.ts";
import { startReferenceGateway } from "../reference_gateway/gateway.ts";
import { startReplay } from "@model-gateway/replay";
import { SCENARIOS } from "../areas/scenarios.ts";
import { Budget, usdOf } from "../suite/budget.ts";
import { chooseChecks, chooseScenarios, costOf } from "./choose.ts";
import { discover } from "./discover.ts";
import { play } from "./play.ts";
import { LIVE_CAPS } from "./run.ts";

const KEY = "sk-plan-7f3a9c51d2e84b60";

Deno.test({
  name:
    "a live run spends no more than its plan states, and the default plan stays below the default caps",
  sanitizeOps: false,
  sanitizeResources: false,
  fn: async () => {
    await using replay = await startReplay({ keepEntries: 5000 });
    await using gateway = await startReferenceGateway({
      key: KEY,
      upstreamUrl: replay.url,
    });
    const baseFor = (budget: Budget) => ({
      mode: "live" as const,
      baseUrl: gateway.url,
      key: KEY,
      redaction: new Redaction(),
      budget,
      timeoutMs: 60_000,
      seed: 1,
    });
    const profile = await discover(baseFor(new Budget({})));
    const checks = chooseChecks(
      CHECKS,
      "live",
      new Set(["documented", "convention"]),
      [],
    );
    const scenarios = chooseScenarios(checks, SCENARIOS, "live", profile);
    for (const scenario of scenarios) {
      const budget = new Budget({});
      await play([scenario], { ...baseFor(budget), profile }, 1);
      const planned = scenario.cost(profile);
      for (
        const name of ["requests", "inputTokens", "outputTokens"] as const
      ) {
        const spent = budget.spent[name];
        assert.ok(
          spent <= planned[name],
          `${scenario.name}: ${spent} ${name}, planned ${planned[name]}`,
        );
      }
    }
    // Discovery requests the list; some requests may have to be repeated.
    const plan = costOf(scenarios, profile);
    assert.ok(plan.requests + 20 <= LIVE_CAPS.requests, `${plan.requests}`);
    assert.ok(
      plan.outputTokens <= LIVE_CAPS.outputTokens,
      `${plan.outputTokens} tokens`,
    );
    assert.ok(usdOf(plan) <= LIVE_CAPS.usd, `${usdOf(plan)} dollars`);
  },
});
