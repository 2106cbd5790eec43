/** What the log must never hold, however a call goes. */
import assert from "node:assert/strict";
import { startTestGateway, TEST_KEY } from "./test_gateway.ts";

const SECRET = "Xyzzy";

Deno.test("a log line holds no prompt, no reply, no query and no key", async () => {
  const gateway = await startTestGateway();
  const ask = (text: string, more: object = {}) => ({
    model: "vendora-opus-4-8",
    max_tokens: 100,
    messages: [{ role: "user", content: `${SECRET} ${text}` }],
    ...more,
  });
  const { post, logged } = gateway;
  try {
    const calls: readonly (readonly [unknown, Record<string, string>])[] = [
      [ask(""), {}],
      [ask("", { stream: true }), {}],
      [ask("[[fx:status?code=400]]"), {}],
      [ask("[[fx:error-mid]]", { stream: true }), {}],
      [ask("", { [SECRET]: 1, max_tokens: SECRET }), {}],
      [`{"${SECRET}":1,"${SECRET}":2}`, {}],
      [`{"model":"${SECRET}`, {}],
      [ask(""), { "x-api-key": `sk-${SECRET}-0123456789` }],
      [ask(""), { traceparent: SECRET, authorization: `Bearer ${SECRET}` }],
    ];
    for (const [body, headers] of calls) {
      const path = `/v1/messages?key=${SECRET}`;
      await (await post(path, body, headers)).text();
    }
    assert.equal(logged.length, calls.length);
    assert.deepEqual(
      new Set(logged.map(({ ended }) => ended)),
      new Set(["complete", "failed", "refused"]),
    );
    assert.doesNotMatch(
      JSON.stringify(logged),
      new RegExp(`${SECRET}|${TEST_KEY}`, "i"),
    );
  } finally {
    await gateway.close();
  }
});
