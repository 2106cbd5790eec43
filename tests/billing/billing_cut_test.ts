/**
 * The cost of a call that does not end well: the output generated so far, or nothing if there was
 * none.
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
import {
  startTestGateway,
  TEST_KEY,
  type TestGateway,
} from "../support/test_gateway.ts";

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

/**
 * Charges if every frame of the text fixture arrived but the last; in generate content that frame
 * holds the last words.
 */
const MOST_BILLED: Readonly<Record<FormatPair["upstream"], Bill>> = {
  messages: { figures: { input: 25, output: 12 }, estimated: false },
  chat: { figures: { input: 25, output: 12 }, estimated: false },
  gemini: { figures: { input: 25, output: 9 }, estimated: false },
};

interface Call {
  readonly response: Promise<Response>;
  readonly leave: () => void;
}

function begin(
  { url }: TestGateway,
  pair: FormatPair,
  text: string,
  stream: boolean,
): Call {
  const controller = new AbortController();
  const response = fetch(url + pair.path, {
    method: "POST",
    headers: { "x-api-key": TEST_KEY, "content-type": "application/json" },
    body: JSON.stringify(requestBody(pair, text, stream)),
    signal: controller.signal,
  });
  response.catch(() => {});
  return { response, leave: () => controller.abort() };
}

async function readUntil(response: Response, wanted: RegExp): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream())
    .getReader();
  let text = "";
  while (!wanted.test(text)) {
    const next = await reader?.read();
    assert.ok(next !== undefined && !next.done, `the stream ended: ${text}`);
    text += next.value;
  }
}

/** Runs `act` and returns the only charge that it added. */
async function newCharge(
  gateway: TestGateway,
  act: () => Promise<void>,
): ReturnType<typeof ledgerEntryOf> {
  const before = new Set(
    (await chargesIn(gateway)).map(({ requestId }) => requestId),
  );
  await act();
  const { request_id } = await gateway.logEntry((entry) =>
    entry.key_id !== undefined && !before.has(entry.request_id)
  );
  return await ledgerEntryOf(gateway, request_id);
}

function nonceOf({ path, model }: FormatPair, about: string): string {
  return `${about}-${path}-${model}`.replaceAll("/", "-");
}

for (
  const [name, fixture, bills] of [
    [
      "in the middle",
      (pair: FormatPair) => `hold-mid?frames=${SOME_FRAMES[pair.upstream]}`,
      SOME_BILLED,
    ],
    [
      "after the usage and before the end",
      () => "hold-mid?frames=99&burst",
      MOST_BILLED,
    ],
  ] as const
) {
  Deno.test(`a client that disconnects from a stream ${name} pays for what was generated`, (t) =>
    eachPair(t, async (gateway, pair) => {
      const nonce = nonceOf(pair, name.replaceAll(" ", "-"));
      const { response, leave } = begin(
        gateway,
        pair,
        `[[fx:${fixture(pair)}#${nonce}]]`,
        true,
      );
      const id = requestIdOf(await response);
      await readUntil(await response, bills === SOME_BILLED ? / The/ : / the/);
      leave();
      const asked = await gateway.replay.requestLog.waitForNonce(nonce);
      assert.equal(await asked.ended, "caller-hung-up");
      const entry = await ledgerEntryOf(gateway, id);
      const { figures, estimated } = bills[pair.upstream];
      assert.deepEqual(
        { ...billedUsage(entry), ...figures },
        billedUsage(entry),
      );
      assert.ok(entry.inputTokens > 0 && entry.microUsd < 0);
      assert.equal(entry.estimated, estimated);
      assert.equal(entry.ended, "caller_left");
    }));
}

Deno.test("a client that disconnects before the first byte pays nothing", (t) =>
  eachPair(t, async (gateway, pair) => {
    for (const fixture of ["hold", "hold-head", "hold-mid"]) {
      for (const stream of [false, true]) {
        // A stream that stalls in the middle has already sent its first byte.
        if (stream && fixture === "hold-mid") continue;
        const nonce = nonceOf(pair, `${fixture}-${stream}`);
        const entry = await newCharge(gateway, async () => {
          const { response, leave } = begin(
            gateway,
            pair,
            `[[fx:${fixture}#${nonce}]]`,
            stream,
          );
          const asked = await gateway.replay.requestLog.waitForNonce(nonce);
          leave();
          assert.equal(await asked.ended, "caller-hung-up");
          await assert.rejects(response);
        });
        assert.equal(entry.microUsd, 0, fixture);
        assert.equal(entry.estimated, false);
        assert.equal(entry.ended, "caller_left");
      }
    }
  }));

Deno.test("a client that received only pings and disconnects pays nothing", (t) =>
  eachPair(t, async (gateway, pair) => {
    const { response, leave } = begin(gateway, pair, "[[fx:hold-head]]", true);
    await readUntil(await response, /: keep-alive/);
    leave();
    const entry = await ledgerEntryOf(gateway, requestIdOf(await response));
    assert.equal(entry.microUsd, 0);
    assert.equal(entry.ended, "caller_left");
  }, { GATEWAY_PING_SECONDS: "0.02" }));

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
      await response.text();
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
