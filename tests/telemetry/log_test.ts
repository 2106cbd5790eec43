/** The log contains no secret and no content, whatever the outcome of a call. */
import assert from "node:assert/strict";
import { freePort } from "../../gateway/accounts/testing/free_port.ts";
import { certificate } from "../support/upstreams/fault_upstream.ts";
import { startTestGateway, TEST_KEY } from "../support/test_gateway.ts";

const SECRET = "Xyzzy";

Deno.test("a log line contains no prompt, no reply, no query and no key", async () => {
  await using gateway = await startTestGateway();
  const ask = (text: string, more: object = {}) => ({
    model: "vendora-opus-4-8",
    max_tokens: 100,
    messages: [{ role: "user", content: `${SECRET} ${text}` }],
    ...more,
  });
  const { post, logged } = gateway;
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
});

Deno.test("a refused certificate is named in the log, and no address to the caller", async () => {
  // Its authority is known to none but the tests.
  using listener = Deno.listenTls({
    hostname: "127.0.0.1",
    port: 0,
    ...certificate("right"),
  });
  const accepting = (async () => {
    for await (const conn of listener) {
      await conn.handshake().catch(() => {});
      conn.close();
    }
  })().catch(() => {});
  const baseUrl = `https://localhost:${listener.addr.port}`;
  const gateway = await startTestGateway({
    access: { vendora: { baseUrl, apiKey: "k" } },
    env: { GATEWAY_MAX_ATTEMPTS: "1" },
  });
  try {
    const response = await gateway.call();
    assert.equal(response.status, 502);
    const text = await response.text();
    assert.match(text, /could not reach the upstream/);
    assert.doesNotMatch(text, /localhost|certificate/);
    const [entry] = gateway.logged;
    assert.equal(entry?.error, "upstream");
    assert.match(entry?.note ?? "", /certificate .*unknown authority/);
  } finally {
    await gateway.close();
    listener.close();
    await accepting;
  }
});

Deno.test("a connection that an upstream's host refuses is named in the log, and no address to the caller", async () => {
  await using gateway = await startTestGateway({
    access: {
      vendora: { baseUrl: `http://127.0.0.1:${freePort()}`, apiKey: "k" },
    },
    env: { GATEWAY_MAX_ATTEMPTS: "1" },
  });
  const response = await gateway.call();
  assert.equal(response.status, 502);
  const text = await response.text();
  assert.match(text, /could not reach the upstream/);
  assert.doesNotMatch(text, /127\.0\.0\.1|refused/);
  assert.match(gateway.logged[0]?.note ?? "", /refused the connection$/);
});
