/** Token counts by a vendor: the call has the same headers as a generation call to the model. */
import assert from "node:assert/strict";
import { send } from "../support/request_table.ts";
import { startTestGateway } from "../support/test_gateway.ts";

const BETA = "context-1m-2025-08-07";

Deno.test("a model's beta header is sent with its token count too, beside the client's own", async (t) => {
  const gateway = await startTestGateway();
  const rows: readonly (readonly [string, string | undefined, string])[] = [
    ["no beta from the client", undefined, BETA],
    ["another beta", "tools-2025-01-01", `tools-2025-01-01,${BETA}`],
    ["the same beta", BETA, BETA],
  ];
  try {
    for (const [name, given, expected] of rows) {
      for (const path of ["/v1/messages/count_tokens", "/v1/messages"]) {
        await t.step(`${path}: ${name}`, async () => {
          const { response, upstreamHeaders: headers } = await send(
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
