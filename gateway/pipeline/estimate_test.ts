import assert from "node:assert/strict";
import { sampleRequest } from "../../translate/testing/sample_request.ts";
import { atOnce } from "../../translate/steps.ts";
import { inputTokens } from "./estimate.ts";

Deno.test("inputTokens() counts a long text in steps, as its bytes say", () => {
  // Cuts at whole steps would fall inside pairs.
  const text = `a${"\u{1f600}".repeat(3_000_000)}`;
  const request = sampleRequest({
    turns: [{ role: "user", parts: [{ type: "text", text }] }],
  });
  const perMessage = atOnce(inputTokens(sampleRequest({
    turns: [{ role: "user", parts: [{ type: "text", text: "aaaa" }] }],
  }))) - 1;
  const steps = inputTokens(request);
  let count = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) count++;
  assert.equal(step.value, Math.ceil((1 + 4 * 3_000_000) / 4) + perMessage);
  assert.ok(count >= 6, `${count} pauses`);
});
