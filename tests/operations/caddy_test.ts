/** Calls through Debian's Caddy with exactly the configuration in docs/operations.md. */
import assert from "node:assert/strict";
import { ADMIN_TOKEN } from "../support/console/visitor.ts";
import {
  assertOperatorsSignIn,
  OPERATOR_PATHS,
} from "../support/console/operators_sign_in.ts";
import { assertWebSocket } from "../support/clients/proxied_socket.ts";
import { RawSocket } from "../support/clients/raw_socket.ts";
import { CADDY, startCaddy } from "../support/deploy/caddy.ts";
import { withTimeout } from "../support/with_timeout.ts";
import {
  startTestGateway,
  TEST_KEY,
  type TestGateway,
  type TestGatewayOptions,
} from "../support/test_gateway.ts";

async function withProxy(
  run: (gateway: TestGateway, port: number) => Promise<void>,
  options: TestGatewayOptions = {},
): Promise<void> {
  assert.ok(CADDY !== undefined);
  await using gateway = await startTestGateway(options);
  const proxy = await startCaddy(CADDY, [gateway.url]);
  try {
    await run(gateway, proxy.port);
  } finally {
    await proxy.stop();
  }
}

/** Sends a request through Caddy and returns a reader of the response. */
async function send(
  port: number,
  method: string,
  target: string,
  body: string,
): Promise<{ until(wanted: RegExp): Promise<string>; close(): void }> {
  const socket = await RawSocket.connect(port);
  await socket.send(
    `${method} ${target} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nx-api-key: ${TEST_KEY}\r\n` +
      `accept-encoding: gzip\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  const decoder = new TextDecoder();
  let text = "";
  return {
    async until(wanted) {
      while (!wanted.test(text)) {
        const piece = await withTimeout(socket.read(), String(wanted));
        assert.ok(
          typeof piece !== "string",
          `ended without ${wanted}:\n${text}`,
        );
        text += decoder.decode(piece, { stream: true });
      }
      return text;
    },
    close: () => socket.close(),
  };
}

function asking(text: string): string {
  return JSON.stringify({
    model: "vendora-opus-4-8",
    max_tokens: 100,
    stream: true,
    messages: [{ role: "user", content: text }],
  });
}

Deno.test({
  name:
    "Caddy as documented forwards text while the upstream holds back the rest",
  ignore: CADDY === undefined,
  fn: () =>
    withProxy(async ({ replay }, port) => {
      for (const path of ["/v1/messages", "/v1/chat/completions"]) {
        const gate = `caddy-${path.slice(4, 8)}`;
        const caller = await send(
          port,
          "POST",
          path,
          asking(`[[fx:text-long?gate=${gate}&at=4]]`),
        );
        await withTimeout(replay.gateReached(gate), "the gate");
        const early = await caller.until(/"text_delta"|"content":"[^"]/);
        assert.doesNotMatch(early, /message_stop|\[DONE\]/);
        replay.openGate(gate);
        await caller.until(/message_stop|\[DONE\]/);
        caller.close();
      }
    }),
});

Deno.test({
  name:
    "Caddy as documented closes the gateway's connection when a client disconnects",
  ignore: CADDY === undefined,
  fn: () =>
    withProxy(async ({ replay, logEntry }, port) => {
      const caller = await send(
        port,
        "POST",
        "/v1/messages",
        asking("[[fx:hold-mid#caddy-left]]"),
      );
      await caller.until(/event: message_start/);
      caller.close();
      const entry = await withTimeout(
        replay.requestLog.waitForNonce("caddy-left"),
        "the call",
      );
      assert.equal(await withTimeout(entry.ended, "its end"), "caller-hung-up");
      await logEntry(({ ended }) => ended === "caller_left");
    }),
});

Deno.test({
  name:
    "Caddy as documented does not expose metrics, the admin API and the operators' pages",
  ignore: CADDY === undefined,
  fn: () =>
    withProxy(async (gateway, port) => {
      await assertOperatorsSignIn(gateway.url);
      for (
        const path of [
          "/metrics",
          "/admin/v1/accounts",
          "//metrics",
          "/%6detrics",
          "/v1/../metrics",
          "/METRICS",
          ...OPERATOR_PATHS,
        ]
      ) {
        const caller = await send(port, "GET", path, "");
        assert.match(await caller.until(/\r\n\r\n/), /^HTTP\/1.1 404 /, path);
        caller.close();
      }
      for (const path of ["/healthz", "/console/sign-in"]) {
        const open = await send(port, "GET", path, "");
        assert.match(await open.until(/\r\n\r\n/), /^HTTP\/1.1 200 /, path);
        open.close();
      }
    }, { env: { GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN } }),
});

Deno.test({
  name: "Caddy as documented passes web sockets on, in both directions",
  ignore: CADDY === undefined,
  fn: () =>
    withProxy((gateway, port) =>
      assertWebSocket(`http://127.0.0.1:${port}`, gateway)
    ),
});
