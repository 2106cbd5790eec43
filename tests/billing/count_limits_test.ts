/**
 * Endpoints that count tokens are free, but limited as calls are: by requests of a minute, a
 * balance and the model. What is refused reaches no upstream.
 */
import assert from "node:assert/strict";
import { isObject, type JsonObject } from "../../translate/bytes/json.ts";
import { startTestGateway } from "../support/test_gateway.ts";

const HI = [{ role: "user", content: "Hi" }];
const ENDPOINTS: readonly (readonly [string, JsonObject])[] = [
  ["/v1/messages/count_tokens", { model: "vendora-haiku-4-5", messages: HI }],
  ["/v1/chat/completions/input_tokens", {
    model: "vendora-haiku-4-5",
    messages: HI,
  }],
  ["/v1/responses/input_tokens", { model: "vendora-haiku-4-5", input: "Hi" }],
  ["/v1beta/models/vendorc-3-pro:countTokens", {
    contents: [{ parts: [{ text: "Hi" }] }],
  }],
  ["/v1/models/vendorc-3-pro:countTokens", {
    contents: [{ parts: [{ text: "Hi" }] }],
  }],
];

Deno.test("counts take requests of the limits and need a balance, as calls do", async (t) => {
  await using gateway = await startTestGateway();
  const { admin } = gateway.accounts;
  const { id: planId } = await admin.plans.create({ requestsPerMinute: 2 });
  for (const [path, body] of ENDPOINTS) {
    await t.step(path, async () => {
      const { id: accountId } = await admin.accounts.create({ planId });
      const { text: key = "" } = await admin.keys.issue({ accountId });
      gateway.replay.requestLog.clear();
      const count = async (): Promise<readonly [number, string]> => {
        const reply = await gateway.post(path, body, { "x-api-key": key });
        const json: unknown = await reply.json();
        const error = isObject(json) ? json["error"] : undefined;
        return [
          reply.status,
          isObject(error) ? String(error["message"]) : "",
        ];
      };
      const [status, message] = await count();
      // As the format has it for a call.
      assert.ok(status >= 402 && status <= 429, `${status} ${message}`);
      assert.match(message, /the balance of \$0\.00 covers no call/);
      assert.equal(gateway.replay.requestLog.entries.length, 0);
      await admin.accounts.topUp(accountId, { microUsd: 1_000_000 });
      assert.equal((await count())[0], 200);
      assert.equal((await count())[0], 200);
      const sent = gateway.replay.requestLog.entries.length;
      for (let i = 0; i < 3; i++) {
        const [limited, text] = await count();
        assert.equal(limited, 429);
        assert.match(text, /limit of 2 requests per minute is reached/);
      }
      assert.equal(gateway.replay.requestLog.entries.length, sent);
      const account = await admin.accounts.get(accountId);
      assert.equal(account.balanceMicroUsd, 1_000_000);
      const { data } = await admin.ledger({ accountId });
      assert.deepEqual(data.map(({ kind }) => kind), ["top_up"]);
    });
  }
  assert.deepEqual(await admin.audit(), []);
});
