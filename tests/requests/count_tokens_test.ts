/** Token counts by a vendor: the call has the same headers as a generation call to the model. */
import assert from "node:assert/strict";
import { startHostUpstream } from "../support/upstreams/host_upstream.ts";
import { send } from "../support/tables/request_table.ts";
import { startTestGateway } from "../support/test_gateway.ts";

const BETA = "context-1m-2025-08-07";

Deno.test("a model's beta header is sent with its token count too, beside the client's own", async (t) => {
  await using gateway = await startTestGateway();
  const rows: readonly (readonly [string, string | undefined, string])[] = [
    ["no beta from the client", undefined, BETA],
    [
      "another beta",
      "token-efficient-tools-2025-02-19",
      `token-efficient-tools-2025-02-19,${BETA}`,
    ],
    ["the same beta", BETA, BETA],
  ];
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
});

Deno.test("a count that its candidate fails to make is an estimate where another candidate serves the calls", async () => {
  await using serving = startHostUpstream();
  await using counting = startHostUpstream();
  counting.answer(() => Response.json({ type: "error" }, { status: 401 }));
  await using gateway = await startTestGateway({
    realVendors: true,
    env: { HOUSE_KEY: "key" },
    configFile: JSON.stringify({
      vendors: {
        serving: {
          kind: "openai_compatible",
          base_url: `${serving.url}/v1`,
          auth: "none",
        },
        counting: {
          kind: "vendora",
          base_url: counting.url,
          api_key_env: "HOUSE_KEY",
        },
      },
      models: {
        shared: {
          free: true,
          candidates: [
            { vendor: "serving", upstream_model: "m" },
            { vendor: "counting", upstream_model: "m" },
          ],
        },
        alone: { free: true, vendor: "counting", upstream_model: "m" },
      },
    }),
  });
  const count = async (model: string): Promise<Response> =>
    await gateway.post("/v1/messages/count_tokens", {
      model,
      messages: [{ role: "user", content: "Hi" }],
    });
  const estimated = await count("shared");
  assert.equal(estimated.status, 200);
  assert.ok((await estimated.json()).input_tokens > 0);
  assert.equal(counting.requests.length, 1);
  // Without another candidate the failure is the caller's answer.
  const failed = await count("alone");
  assert.equal(failed.status, 502);
  await failed.body?.cancel();
});
