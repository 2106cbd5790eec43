/**
 * The client's trace id reaches the upstream and the log; the log has the time to the first byte.
 */
import assert from "node:assert/strict";
import { send } from "../support/tables/request_table.ts";
import { startTestGateway } from "../support/test_gateway.ts";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const VALID = `00-${TRACE_ID}-00f067aa0ba902b7-01`;
const BODY = {
  model: "vendora-opus-4-8",
  max_tokens: 9,
  messages: [{ role: "user", content: "Hi" }],
};

Deno.test("a valid traceparent reaches the upstream and names the trace in the log", async (t) => {
  await using gateway = await startTestGateway();
  for (const path of ["/v1/messages", "/v1/chat/completions"]) {
    await t.step(path, async () => {
      const { upstreamHeaders: headers } = await send(gateway, path, BODY, {
        traceparent: VALID,
      });
      assert.equal(headers["traceparent"], VALID);
      assert.equal(gateway.logged.at(-1)?.trace_id, TRACE_ID);
    });
  }
  await t.step("a token count", async () => {
    const { max_tokens: _, ...counted } = BODY;
    const path = "/v1/messages/count_tokens";
    const { upstreamHeaders: headers } = await send(gateway, path, counted, {
      traceparent: VALID,
    });
    assert.equal(headers["traceparent"], VALID);
  });
  await t.step("a refused call", async () => {
    await send(gateway, "/v1/messages", {}, { traceparent: VALID });
    const entry = gateway.logged.at(-1);
    assert.equal(entry?.ended, "refused");
    assert.equal(entry?.trace_id, TRACE_ID);
  });
});

Deno.test("an invalid traceparent is neither forwarded nor logged", async (t) => {
  await using gateway = await startTestGateway();
  const rows: readonly (readonly [string, string])[] = [
    ["a trace id of zeros", VALID.replace(TRACE_ID, "0".repeat(32))],
    ["a parent id of zeros", VALID.replace("00f067aa0ba902b7", "0".repeat(16))],
    ["capital letters", VALID.toUpperCase()],
    ["an unknown version", VALID.replace(/^00/, "ff")],
    ["a tail", `${VALID}-secret`],
    ["two of them", `${VALID}, ${VALID}`],
    ["too short", VALID.slice(0, -1)],
    ["free text", "who knows"],
  ];
  for (const [name, traceparent] of rows) {
    await t.step(name, async () => {
      const { response, upstreamHeaders: headers } = await send(
        gateway,
        "/v1/messages",
        BODY,
        { traceparent },
      );
      assert.equal(response.status, 200);
      assert.equal(headers["traceparent"], undefined);
      assert.equal(gateway.logged.at(-1)?.trace_id, undefined);
    });
  }
});

Deno.test("the log has the time to an answer's first byte, and none without an answer", async () => {
  await using gateway = await startTestGateway();
  for (const stream of [true, false]) {
    await send(gateway, "/v1/messages", { ...BODY, stream });
    const entry = gateway.logged.at(-1);
    assert.ok(entry?.ttfb_ms !== undefined && entry.ttfb_ms >= 0);
    assert.ok(entry.ttfb_ms <= entry.duration_ms);
  }
  await send(gateway, "/v1/messages", {
    ...BODY,
    messages: [{ role: "user", content: "[[fx:status?code=500]]" }],
  });
  const refused = gateway.logged.at(-1);
  assert.equal(refused?.ended, "refused");
  assert.equal(refused?.ttfb_ms, undefined);
});
