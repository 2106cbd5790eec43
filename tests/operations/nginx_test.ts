/** Calls through Debian's nginx with exactly the configuration in docs/operations.md. */
import assert from "node:assert/strict";
import { ADMIN_TOKEN } from "../support/console/visitor.ts";
import { NGINX, type Nginx, startNginx } from "../support/deploy/nginx.ts";
import {
  assertOperatorsSignIn,
  OPERATOR_PATHS,
} from "../support/console/operators_sign_in.ts";
import {
  assertWebSocket,
  startBridge,
} from "../support/clients/proxied_socket.ts";
import {
  startTestGateway,
  TEST_KEY,
  type TestGateway,
  type TestGatewayOptions,
} from "../support/test_gateway.ts";

/** Time limit of each request to nginx. */
const LIMIT_MS = 20_000;

/** Sends a request through nginx and returns a reader of the response. */
async function send(
  path: string,
  method: string,
  target: string,
  body: string,
): Promise<{ until(wanted: RegExp): Promise<string>; close(): void }> {
  const connection = await Deno.connect({ transport: "unix", path });
  // If nginx buffers the stream, this fails the test instead of hanging it.
  const limit = setTimeout(() => connection.close(), LIMIT_MS);
  await connection.write(new TextEncoder().encode(
    `${method} ${target} HTTP/1.1\r\nhost: models.example.com\r\nx-api-key: ${TEST_KEY}\r\n` +
      `accept-encoding: gzip\r\ncontent-type: application/json\r\ncontent-length: ${
        new TextEncoder().encode(body).length
      }\r\n\r\n${body}`,
  ));
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(16_384);
  let text = "";
  return {
    async until(wanted) {
      while (!wanted.test(text)) {
        const read = await connection.read(buffer);
        if (read === null) throw new Error(`ended without ${wanted}:\n${text}`);
        text += decoder.decode(buffer.subarray(0, read), { stream: true });
      }
      return text;
    },
    close() {
      clearTimeout(limit);
      connection.close();
    },
  };
}

/** Status of a request on a new connection, read to its end. */
async function statusOf(
  path: string,
  { method = "POST", target = "/v1/messages", key = TEST_KEY, body }: {
    readonly method?: string;
    readonly target?: string;
    readonly key?: string;
    readonly body: string;
  },
): Promise<number> {
  using connection = await Deno.connect({ transport: "unix", path });
  // The gateway may refuse the request while it is being sent.
  const sending = new Blob([
    `${method} ${target} HTTP/1.1\r\nhost: models.example.com\r\nx-api-key: ${key}\r\n` +
    `connection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
    body,
  ]).stream().pipeTo(connection.writable, { preventClose: true })
    .catch(() => {});
  const limit = setTimeout(() => connection.close(), LIMIT_MS);
  const text = await new Response(connection.readable).text();
  clearTimeout(limit);
  await sending;
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1]);
}

async function withProxy(
  run: (gateway: TestGateway, proxy: Nginx) => Promise<void>,
  options: TestGatewayOptions = {},
): Promise<void> {
  assert.ok(NGINX !== undefined);
  await using gateway = await startTestGateway(options);
  const proxy = await startNginx(NGINX, [gateway.url]);
  try {
    await run(gateway, proxy);
  } finally {
    await proxy.stop();
  }
}

Deno.test({
  name:
    "nginx as documented forwards text while the upstream holds back the rest",
  ignore: NGINX === undefined,
  fn: () =>
    withProxy(async ({ replay }, { socket }) => {
      for (const path of ["/v1/messages", "/v1/chat/completions"]) {
        const gate = `nginx-${path.slice(4, 8)}`;
        const body = JSON.stringify({
          model: "vendora-opus-4-8",
          max_tokens: 100,
          stream: true,
          messages: [{
            role: "user",
            content: `[[fx:text-long?gate=${gate}&at=4]]`,
          }],
        });
        const caller = await send(socket, "POST", path, body);
        await replay.gateReached(gate);
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
    "nginx as documented closes the gateway's connection when a client disconnects",
  ignore: NGINX === undefined,
  fn: () =>
    withProxy(async ({ replay, logEntry }, { socket }) => {
      const body = JSON.stringify({
        model: "vendora-opus-4-8",
        max_tokens: 100,
        stream: true,
        messages: [{ role: "user", content: "[[fx:hold-mid#nginx-left]]" }],
      });
      const caller = await send(socket, "POST", "/v1/messages", body);
      await caller.until(/event: message_start/);
      caller.close();
      const entry = await replay.requestLog.waitForNonce("nginx-left");
      assert.equal(await entry.ended, "caller-hung-up");
      await logEntry(({ ended }) => ended === "caller_left");
    }),
});

Deno.test({
  name:
    "nginx as documented does not expose metrics, the admin API and the operators' pages",
  ignore: NGINX === undefined,
  fn: () =>
    withProxy(async (gateway, { socket }) => {
      await assertOperatorsSignIn(gateway.url);
      for (
        const path of [
          "/metrics",
          "/admin/v1/accounts",
          "//metrics",
          ...OPERATOR_PATHS,
        ]
      ) {
        const caller = await send(socket, "GET", path, "");
        assert.match(await caller.until(/\r\n\r\n/), /^HTTP\/1.1 404 /, path);
        caller.close();
      }
      for (const path of ["/healthz", "/console/sign-in"]) {
        const open = await send(socket, "GET", path, "");
        assert.match(await open.until(/\r\n\r\n/), /^HTTP\/1.1 200 /, path);
        open.close();
      }
    }, { env: { GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN } }),
});

Deno.test({
  name:
    "nginx as documented forwards 1,000 valid calls among 1,000 refused ones",
  ignore: NGINX === undefined,
  fn: () =>
    withProxy(async (_gateway, { socket }) => {
      const call = {
        model: "vendorb-5",
        max_tokens: 16,
        messages: [{ role: "user", content: "[[fx:text]]" }],
      };
      const body = JSON.stringify(call);
      const long = (bytes: number) =>
        JSON.stringify({ ...call, system: "x".repeat(bytes) });
      const refused = [
        { status: 401, key: "sk-wrong", body: long(30_000) },
        { status: 404, target: "/v1/nothing", body: long(30_000) },
        { status: 405, method: "PUT", body: long(30_000) },
        { status: 413, body: long(200_000) },
      ];
      const outcomes = new Map<string, number>();
      const note = (outcome: string) =>
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      let next = 0;
      const worker = async (): Promise<void> => {
        for (let i; (i = next++) < 1_000;) {
          const wrong = refused[i % refused.length];
          assert.ok(wrong !== undefined);
          note(`${wrong.status}: ${await statusOf(socket, wrong)}`);
          note(`200: ${await statusOf(socket, { body })}`);
        }
      };
      await Promise.all(Array.from({ length: 8 }, worker));
      assert.deepEqual(Object.fromEntries(outcomes), {
        "200: 200": 1_000,
        "401: 401": 250,
        "404: 404": 250,
        "405: 405": 250,
        "413: 413": 250,
      });
    }, { env: { GATEWAY_MAX_BODY_BYTES: "100000" } }),
});

Deno.test({
  name: "nginx as documented passes web sockets on, in both directions",
  ignore: NGINX === undefined,
  fn: () =>
    withProxy(async (gateway, { socket }) => {
      const bridge = startBridge(socket);
      try {
        await assertWebSocket(bridge.url, gateway);
      } finally {
        bridge.close();
      }
    }),
});
