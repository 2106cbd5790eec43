/**
 * Overload: calls beyond the limit are refused at once, and every call releases its concurrency
 * slot, however it ends.
 */
import assert from "node:assert/strict";
import { smallBody } from "../support/small_body.ts";
import {
  startTestGateway,
  TEST_KEY,
  type TestGateway,
} from "../support/test_gateway.ts";
import { withTimeout } from "../support/with_timeout.ts";

const PATHS: readonly string[] = ["/v1/messages", "/v1/chat/completions"];
const MODELS: readonly string[] = [
  "vendora-opus-4-8",
  "vendorb-5",
  "vendorc-3-flash",
];

function ask(model: string, text: string, stream = true): unknown {
  return smallBody({ model, text, stream });
}

/**
 * Sends a request's head without its body; returns what the gateway answers, up to a complete head.
 */
async function headOnly(
  { url }: TestGateway,
  path: string,
): Promise<string> {
  const { hostname, port } = new URL(url);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  await connection.write(new TextEncoder().encode(
    `POST ${path} HTTP/1.1\r\nhost: gateway\r\nx-api-key: ${TEST_KEY}\r\n` +
      "content-type: application/json\r\ncontent-length: 1000\r\n\r\n",
  ));
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(4096);
  let text = "";
  while (!text.includes("\r\n\r\n")) {
    const read = await withTimeout(connection.read(buffer), "an answer");
    if (read === null) break;
    text += decoder.decode(buffer.subarray(0, read), { stream: true });
  }
  return text;
}

Deno.test("a call beyond its key's limit is refused at once, and calls of other keys are not", async () => {
  await using gateway = await startTestGateway({
    env: { GATEWAY_MAX_CONCURRENT_PER_KEY: "1" },
  });
  const { text: key = "" } = await gateway.accounts.admin.keys.issue({
    accountId: "default",
  });
  const held = await gateway.post(
    "/v1/messages",
    ask("vendorb-5", "[[fx:text-long?gate=own&at=8]]"),
  );
  await gateway.replay.gateReached("own");
  for (const path of PATHS) {
    const head = await headOnly(gateway, path);
    assert.match(head, /^HTTP\/1.1 429 /);
    assert.match(head, /^retry-after: 1\r$/im);
    assert.match(head, /concurrent_requests/);
  }
  const other = await fetch(`${gateway.url}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify(ask("vendorb-5", "[[fx:text]]")),
  });
  assert.equal(other.status, 200);
  await other.text();
  gateway.replay.openGate("own");
  await held.text();
  const next = await gateway.post(
    "/v1/messages",
    ask("vendorb-5", "[[fx:text]]"),
  );
  assert.equal(next.status, 200);
  await next.text();
  assert.equal(gateway.gateway.concurrency.inUse(), 0);
});

Deno.test("a call beyond the limit is refused before its body is read, and a later call is accepted", async (t) => {
  await using gateway = await startTestGateway({
    env: { GATEWAY_MAX_CONCURRENT: "1" },
  });
  const statuses = ["529", "503"];
  for (const [i, path] of PATHS.entries()) {
    await t.step(path, async () => {
      const gate = `place-${i}`;
      const held = await gateway.post(
        path,
        ask("vendorb-5", `[[fx:text-long?gate=${gate}&at=8]]`),
      );
      await gateway.replay.gateReached(gate);
      const head = await headOnly(gateway, path);
      assert.match(head, new RegExp(`^HTTP/1.1 ${statuses[i]} `));
      assert.match(head, /^retry-after: 1\r$/im);
      const others = ["/v1/models", "/healthz"].map((open) =>
        fetch(gateway.url + open, { headers: { "x-api-key": TEST_KEY } })
      );
      for (const response of await Promise.all(others)) {
        assert.equal(response.status, 200);
        await response.text();
      }
      const counting = await gateway.post(
        "/v1/messages/count_tokens",
        ask("vendorb-5", "Hi"),
      );
      assert.equal(counting.status, 529);
      await counting.text();
      gateway.replay.openGate(gate);
      await held.text();
      const next = await gateway.post(path, ask("vendorb-5", "[[fx:text]]"));
      assert.equal(next.status, 200);
      await next.text();
    });
  }
  assert.equal(gateway.gateway.concurrency.inUse(), 0);
});

Deno.test("a client without a key takes no concurrency slot, however slowly it sends", async () => {
  await using gateway = await startTestGateway({
    env: { GATEWAY_MAX_CONCURRENT: "1" },
  });
  const { hostname, port } = new URL(gateway.url);
  using stranger = await Deno.connect({ hostname, port: Number(port) });
  await stranger.write(new TextEncoder().encode(
    "POST /v1/messages HTTP/1.1\r\nhost: gateway\r\ncontent-length: 1000\r\n\r\n{",
  ));
  await stranger.read(new Uint8Array(4096));
  const response = await gateway.post(
    "/v1/messages",
    ask("vendorb-5", "[[fx:text]]"),
  );
  assert.equal(response.status, 200);
  await response.text();
});

/** Ways in which a call can end; each makes one log entry. */
const ENDINGS: readonly ((
  gateway: TestGateway,
  path: string,
  model: string,
  nonce: string,
) => Promise<unknown>)[] = [
  ...[
    "[[fx:text]]",
    "[[fx:error-first]]",
    "[[fx:error-mid]]",
    "[[fx:status?code=429]]",
    "[[fx:status?code=500]]",
    "[[fx:reset]]",
  ].flatMap((text) =>
    [true, false].map((stream) =>
    async (
      { post }: TestGateway,
      path: string,
      model: string,
    ) => await (await post(path, ask(model, text, stream))).text())
  ),
  async ({ post }, path) => await (await post(path, "{")).text(),
  async ({ post }, path) => await (await post(path, ask("nope", "Hi"))).text(),
  async ({ post }, path, model) => await (await post(path, { model })).text(),
  async function leavesInTheMiddle({ post }, path, model, nonce) {
    const response = await post(path, ask(model, `[[fx:hold-mid#${nonce}]]`));
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
  },
  async function leavesBeforeTheAnswer({ url, replay }, path, model, nonce) {
    const controller = new AbortController();
    const reply = fetch(url + path, {
      method: "POST",
      headers: { "x-api-key": TEST_KEY, "content-type": "application/json" },
      body: JSON.stringify(ask(model, `[[fx:hold#${nonce}]]`)),
      signal: controller.signal,
    }).catch(() => {});
    await replay.requestLog.waitForNonce(nonce);
    controller.abort();
    await reply;
  },
  async function leavesInItsBody({ url }, path) {
    const { hostname, port } = new URL(url);
    using connection = await Deno.connect({ hostname, port: Number(port) });
    await connection.write(new TextEncoder().encode(
      `POST ${path} HTTP/1.1\r\nhost: gateway\r\nx-api-key: ${TEST_KEY}\r\n` +
        'content-type: application/json\r\ncontent-length: 1000\r\n\r\n{"model":',
    ));
  },
];

Deno.test("after 500 calls that end in every way no slot is taken, nothing runs, and each call has its log entry", async () => {
  await using gateway = await startTestGateway();
  const total = 500;
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < total) {
      const i = next++;
      const ending = ENDINGS[i % ENDINGS.length];
      const path = PATHS[i % PATHS.length] ?? "";
      const model = MODELS[i % MODELS.length] ?? "";
      await ending?.(gateway, path, model, `ending-${i}`);
    }
  };
  await Promise.all(Array.from({ length: 25 }, worker));
  await gateway.logEntry(() => gateway.logged.length >= total);
  assert.equal(gateway.gateway.concurrency.inUse(), 0);
  assert.equal(gateway.gateway.activeCalls.size, 0);
  assert.equal(gateway.logged.length, total);
  assert.ok(
    gateway.logged.some(({ ended }) => ended === "caller_left") &&
      gateway.logged.some(({ ended }) => ended === "failed") &&
      gateway.logged.some(({ ended }) => ended === "refused") &&
      gateway.logged.some(({ ended }) => ended === "complete"),
  );
});
