/**
 * The cost of a call that its upstream does not end well: the output generated so far, or nothing
 * if there was none. `tests/streams/disconnect_test.ts` has the clients that leave.
 */
import assert from "node:assert/strict";
import {
  billedUsage,
  chargesIn,
  eachPair,
  type FormatPair,
  ledgerEntryOf,
  requestBody,
  requestIdOf,
  type TokenCounts,
} from "../support/tables/billing.ts";
import { startTestGateway } from "../support/test_gateway.ts";

interface Bill {
  readonly figures: Partial<TokenCounts>;
  readonly estimated: boolean;
}

/**
 * Number of frames of the text fixture up to " The": `Hello! The` is ten characters, estimated as
 * three tokens.
 */
const SOME_FRAMES: Readonly<Record<FormatPair["upstream"], number>> = {
  messages: 6,
  chat: 4,
  gemini: 1,
};

/**
 * Charges for these frames. The formats report usage at different times: the prompt at the start
 * (messages), all of it at the end (chat), or all of it in every frame (generate content).
 */
const SOME_BILLED: Readonly<Record<FormatPair["upstream"], Bill>> = {
  messages: { figures: { input: 25, output: 3 }, estimated: true },
  chat: { figures: { output: 3 }, estimated: true },
  gemini: { figures: { input: 25, output: 3 }, estimated: false },
};

Deno.test("a client that disconnects while a whole reply is being sent pays for all of it", (t) =>
  eachPair(t, async (gateway, pair) => {
    const response = await gateway.post(
      pair.path,
      requestBody(pair, "[[fx:text]]", false),
    );
    await response.body?.cancel();
    const entry = await ledgerEntryOf(gateway, requestIdOf(response));
    assert.equal(entry.inputTokens, 25);
    assert.equal(entry.outputTokens, 12);
    assert.equal(entry.ended, "complete");
  }));

Deno.test("a stream that fails in the middle costs what was generated", (t) =>
  eachPair(t, async (gateway, pair) => {
    const frames = SOME_FRAMES[pair.upstream];
    for (
      const fixture of [
        `error-mid?frames=${frames}`,
        `cut?frames=${frames}`,
        `cut-chunk?frames=${frames}`,
        `cut-frame?frames=${frames}`,
        `hold-mid?frames=${frames}`,
      ]
    ) {
      const response = await gateway.post(
        pair.path,
        requestBody(pair, `[[fx:${fixture}]]`, true),
      );
      assert.equal(response.status, 200, fixture);
      assert.match(await response.text(), /"error"/, fixture);
      const entry = await ledgerEntryOf(gateway, requestIdOf(response));
      const { figures, estimated } = SOME_BILLED[pair.upstream];
      const bill = billedUsage(entry);
      assert.deepEqual({ ...bill, ...figures }, bill, fixture);
      assert.ok(entry.inputTokens > 0 && entry.microUsd < 0, fixture);
      assert.equal(entry.estimated, estimated, fixture);
      assert.equal(entry.ended, "failed", fixture);
    }
  }, { GATEWAY_IDLE_TIMEOUT_SECONDS: "0.2" }));

Deno.test("a call that fails before any output is in the ledger once and costs nothing", (t) =>
  eachPair(t, async (gateway, pair) => {
    for (
      const fixture of [
        ...[400, 401, 403, 404, 413, 429, 500, 503, 529].map((code) =>
          `status?code=${code}`
        ),
        "context-overflow",
        "error-first",
        "html-200",
        "html-502",
        "empty-200",
        "drop",
      ]
    ) {
      for (const stream of [false, true]) {
        const about = `${fixture}, ${stream ? "streamed" : "whole"}`;
        const response = await gateway.post(
          pair.path,
          requestBody(pair, `[[fx:${fixture}]]`, stream),
        );
        assert.ok(response.status >= 400, about);
        await response.text();
        const entry = await ledgerEntryOf(gateway, requestIdOf(response));
        assert.equal(entry.microUsd, 0, about);
        assert.equal(entry.estimated, false, about);
        assert.equal(entry.ended, "refused", about);
      }
    }
  }));

Deno.test("an upstream that refuses the connection costs nothing", async () => {
  await using gateway = await startTestGateway();
  await gateway.replay.close();
  for (const path of ["/v1/messages", "/v1/chat/completions"] as const) {
    for (const stream of [false, true]) {
      const pair = { path, model: "vendorb-5" };
      const response = await gateway.post(
        path,
        requestBody(pair, "Hi", stream),
      );
      assert.equal(response.status, 502);
      assert.match(
        await response.text(),
        /"message":"(could not reach the upstream|the connection to the upstream broke)"/,
      );
      const entry = await ledgerEntryOf(gateway, requestIdOf(response));
      assert.equal(entry.microUsd, 0);
      assert.equal(entry.ended, "refused");
    }
  }
  assert.deepEqual(await gateway.accounts.admin.audit(), []);
});

Deno.test("a request refused before its reservation is not in the ledger", async () => {
  await using gateway = await startTestGateway();
  for (
    const body of [
      "{",
      { model: "vendorb-5" },
      { model: "nothing", max_tokens: 1, messages: [] },
    ]
  ) {
    for (const path of ["/v1/messages", "/v1/chat/completions"]) {
      const response = await gateway.post(path, body);
      assert.ok(response.status >= 400);
      await response.text();
    }
  }
  assert.deepEqual(await chargesIn(gateway), []);
  assert.deepEqual(gateway.replay.requestLog.entries, []);
});
