/** Counting at a vendor that counts: the call has the headers that a generation call to the model has. */
import assert from "node:assert/strict";
import { sent } from "./request_arrival.ts";
import { startTestGateway } from "./test_gateway.ts";

const BETA = "context-1m-2025-08-07";

Deno.test("a model's beta is switched on for its count too, beside the caller's own", async (t) => {
  const gateway = await startTestGateway();
  const rows: readonly (readonly [string, string | undefined, string])[] = [
    ["no beta of the caller's", undefined, BETA],
    ["another one", "tools-2025-01-01", `tools-2025-01-01,${BETA}`],
    ["the same", BETA, BETA],
  ];
  try {
    for (const [name, given, expected] of rows) {
      for (const path of ["/v1/messages/count_tokens", "/v1/messages"]) {
        await t.step(`${path}: ${name}`, async () => {
          const { response, headers } = await sent(
            gateway,
            path,
            {
              model: "vendora-sonnet-4-6 (context-1m beta)",
              messages: [{ role: "user", content: "Hi" }],
              ...(path === "/v1/messages" ? { max_tokens: 9 } : {}),
            },
            given === undefined ? {} : { "anthropic-beta": given },
          );
          assert.equal(response.status, 200);
          assert.equal(headers["anthropic-beta"], expected);
        });
      }
    }
  } finally {
    await gateway.close();
  }
});
