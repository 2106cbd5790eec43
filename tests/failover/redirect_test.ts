/** An upstream that redirects: the key must not be sent to another server. */
import assert from "node:assert/strict";
import { startTestGateway } from "../support/test_gateway.ts";

Deno.test("an upstream's redirect is not followed and becomes a 502 without the address", async (t) => {
  await using gateway = await startTestGateway();
  const { post, replay } = gateway;
  const elsewhere = `${replay.url}/v1/messages`;
  for (const model of ["vendora-opus-4-8", "vendorb-5", "vendorc-3-flash"]) {
    await t.step(model, async () => {
      replay.requestLog.clear();
      const response = await post("/v1/messages", {
        model,
        max_tokens: 9,
        messages: [{
          role: "user",
          content: `[[fx:redirect?to=${elsewhere}]]`,
        }],
      });
      assert.equal(response.status, 502);
      assert.doesNotMatch(await response.text(), /127\.0\.0\.1/);
      assert.equal(replay.requestLog.entries.length, 1);
    });
  }
});
