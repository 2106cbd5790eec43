/**
 * The cost of a finished call: the ledger records the usage that the reply reported, at the model's
 * price, on every endpoint.
 */
import assert from "node:assert/strict";
import { startTestGateway } from "../support/test_gateway.ts";
import {
  billedUsage,
  chargesIn,
  eachPair,
  FORMAT_PAIRS,
  type FormatPair,
  ledgerEntryOf,
  reportedUsage,
  requestBody,
  requestIdOf,
  type TokenCounts,
} from "../support/tables/billing.ts";

/** Usage of the fixtures by upstream format; each format reports what it can express. */
const FIXTURES: Readonly<
  Record<string, Readonly<Record<FormatPair["upstream"], TokenCounts>>>
> = {
  "text": {
    messages: figures(25, 0, 0, 12, 0),
    chat: figures(25, 0, 0, 12, 0),
    gemini: figures(25, 0, 0, 12, 0),
  },
  "cache-usage": {
    messages: figures(12, 2048, 512, 3, 0),
    chat: figures(12, 2048, 512, 3, 0),
    gemini: figures(524, 2048, 0, 3, 0),
  },
  "reasoning-usage": {
    messages: figures(40, 0, 0, 131, 128),
    chat: figures(40, 0, 0, 131, 128),
    gemini: figures(40, 0, 0, 131, 128),
  },
};

function figures(
  input: number,
  cacheRead: number,
  cacheWrite: number,
  output: number,
  reasoning: number,
): TokenCounts {
  return { input, cacheRead, cacheWrite, output, reasoning };
}

Deno.test("the ledger records the usage that the reply reported, streamed and whole", (t) =>
  eachPair(t, async (gateway, pair) => {
    for (const [name, expected] of Object.entries(FIXTURES)) {
      for (const stream of [false, true]) {
        const about = `${name}, ${stream ? "streamed" : "whole"}`;
        const response = await gateway.post(
          pair.path,
          requestBody(pair, `[[fx:${name}]]`, stream),
        );
        const body = await response.text();
        const entry = await ledgerEntryOf(gateway, requestIdOf(response));
        assert.deepEqual(billedUsage(entry), expected[pair.upstream], about);
        assert.deepEqual(
          reportedUsage(pair.path, body),
          billedUsage(entry),
          about,
        );
        assert.equal(entry.estimated, false, about);
        assert.equal(entry.ended, "complete", about);
      }
    }
  }));

Deno.test("a stream without requested usage costs the same and reports none", async () => {
  await using gateway = await startTestGateway();
  for (const { model } of FORMAT_PAIRS.slice(3)) {
    const response = await gateway.post("/v1/chat/completions", {
      model,
      stream: true,
      messages: [{ role: "user", content: "[[fx:cache-usage]]" }],
    });
    assert.doesNotMatch(await response.text(), /prompt_tokens/);
    const entry = await ledgerEntryOf(gateway, requestIdOf(response));
    assert.equal(entry.cacheReadTokens, 2048);
    assert.equal(entry.outputTokens, 3);
    assert.equal(entry.estimated, false);
  }
});

Deno.test("every model costs its own price, the same on both endpoints, streamed or not", async (t) => {
  await using gateway = await startTestGateway();
  for (const { id, price } of gateway.gateway.models.models) {
    await t.step(id, async () => {
      for (const fixture of ["text", "cache-usage"]) {
        const costs = new Set<number>();
        for (
          const path of ["/v1/messages", "/v1/chat/completions"] as const
        ) {
          for (const stream of [false, true]) {
            const response = await gateway.post(
              path,
              requestBody({ path, model: id }, `[[fx:${fixture}]]`, stream),
            );
            await response.text();
            const entry = await ledgerEntryOf(gateway, requestIdOf(response));
            const { input, cacheRead, cacheWrite, output } = billedUsage(
              entry,
            );
            const cost = Math.ceil(
              (input * price.input + cacheRead * price.cacheRead +
                cacheWrite * price.cacheWrite + output * price.output) / 1e6,
            );
            assert.ok(cost > 0);
            assert.equal(entry.microUsd, -cost);
            assert.equal(
              entry.price,
              `${price.input}/${price.cacheRead}/${price.cacheWrite}/${price.output}`,
            );
            costs.add(cost);
          }
        }
        assert.equal(costs.size, 1, fixture);
      }
    });
  }
});

Deno.test("a price from the configuration file is billed, with fractions rounded up once", async () => {
  await using gateway = await startTestGateway({
    configFile: JSON.stringify({
      models: {
        "vendorb-5.5": {
          price: { input: 1, output: 1, cache_read: 0, cache_write: 0 },
        },
      },
    }),
  });
  const pair = { path: "/v1/messages", model: "vendorb-5.5" } as const;
  const response = await gateway.post(
    pair.path,
    requestBody(pair, "[[fx:text]]", false),
  );
  await response.text();
  const entry = await ledgerEntryOf(gateway, requestIdOf(response));
  assert.equal(entry.price, "1/0/0/1");
  assert.equal(entry.microUsd, -1);
});

Deno.test("a whole reply without usage is charged by estimate and marked as estimated", (t) =>
  eachPair(t, async (gateway, pair) => {
    const name = `no-usage-${pair.upstream}`;
    gateway.replay.script(name, {
      status: 200,
      headers: { "content-type": "application/json" },
      framing: "length",
      steps: [{
        step: "bytes",
        bytes: new TextEncoder().encode(WITHOUT_USAGE[pair.upstream]),
      }],
    });
    const response = await gateway.post(
      pair.path,
      requestBody(pair, `[[fx:${name}]]`, false),
    );
    assert.equal(response.status, 200, await response.text());
    const entry = await ledgerEntryOf(gateway, requestIdOf(response));
    assert.equal(entry.estimated, true);
    assert.equal(entry.outputTokens, 10);
    assert.ok(entry.inputTokens > 0);
  }));

const FORTY = "forty characters are ten tokens of text.";
const WITHOUT_USAGE: Readonly<Record<FormatPair["upstream"], string>> = {
  messages:
    `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"${FORTY}"}],"stop_reason":"end_turn","stop_sequence":null}`,
  chat:
    `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"${FORTY}"},"finish_reason":"stop"}]}`,
  gemini:
    `{"candidates":[{"content":{"role":"model","parts":[{"text":"${FORTY}"}]},"finishReason":"STOP","index":0}]}`,
};

Deno.test("concurrent calls are each in the ledger once, and the balance changes by their sum", async () => {
  await using gateway = await startTestGateway();
  const ids = await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const pair = FORMAT_PAIRS[index % FORMAT_PAIRS.length] ??
        FORMAT_PAIRS[0];
      assert.ok(pair !== undefined);
      const response = await gateway.post(
        pair.path,
        requestBody(pair, "[[fx:text]]", index % 2 === 0),
      );
      await response.text();
      return requestIdOf(response);
    }),
  );
  const charges = await chargesIn(gateway);
  assert.deepEqual(
    charges.map(({ requestId }) => requestId).toSorted(),
    ids.toSorted(),
  );
  const account = await gateway.accounts.admin.accounts.get("default");
  assert.equal(
    account.balanceMicroUsd,
    charges.reduce((sum, { microUsd }) => sum + microUsd, 0),
  );
  assert.equal(account.openRequests, 0);
  assert.deepEqual(await gateway.accounts.admin.audit(), []);
});
