/** Calls through Debian's Caddy and nginx with exactly the configurations in docs/operations.md. */
import assert from "node:assert/strict";
import { ADMIN_TOKEN } from "../support/console/visitor.ts";
import {
  assertOperatorsSignIn,
  OPERATOR_PATHS,
} from "../support/console/operators_sign_in.ts";
import { assertWebSocket } from "../support/clients/proxied_socket.ts";
import { CADDY, startCaddy } from "../support/deploy/caddy.ts";
import { NGINX, startNginx } from "../support/deploy/nginx.ts";
import type { Proxy } from "../support/deploy/proxy.ts";
import { smallBody } from "../support/small_body.ts";
import { withTimeout } from "../support/with_timeout.ts";
import {
  startTestGateway,
  TEST_KEY,
  type TestGateway,
} from "../support/test_gateway.ts";

const PROXIES = [
  {
    name: "Caddy",
    program: CADDY,
    start: startCaddy,
    hidden: ["/%6detrics", "/v1/../metrics", "/METRICS"],
  },
  { name: "nginx", program: NGINX, start: startNginx, hidden: [] },
];

/** Sends a request through a proxy and returns a reader of the response. */
async function send(
  { connect, host }: Proxy,
  method: string,
  target: string,
  body: string,
): Promise<{ until(wanted: RegExp): Promise<string> } & Disposable> {
  const connection = await connect();
  await connection.write(new TextEncoder().encode(
    `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\nx-api-key: ${TEST_KEY}\r\n` +
      `accept-encoding: gzip\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  ));
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(16_384);
  let text = "";
  return {
    async until(wanted) {
      while (!wanted.test(text)) {
        const read = await withTimeout(
          connection.read(buffer),
          String(wanted),
        );
        assert.ok(read !== null, `ended without ${wanted}:\n${text}`);
        text += decoder.decode(buffer.subarray(0, read), { stream: true });
      }
      return text;
    },
    [Symbol.dispose]: () => connection.close(),
  };
}

for (const { name, program, start, hidden } of PROXIES) {
  const test = (
    what: string,
    run: (gateway: TestGateway, proxy: Proxy) => Promise<void>,
  ): void =>
    Deno.test({
      name: `${name} as documented ${what}`,
      ignore: program === undefined,
      async fn() {
        assert.ok(program !== undefined);
        await using gateway = await startTestGateway({
          env: { GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN },
        });
        await using proxy = await start(program, [gateway.url]);
        await run(gateway, proxy);
      },
    });
  const promptBody = (text: string): string =>
    JSON.stringify(smallBody({ stream: true, text }));

  test(
    "forwards text while the upstream holds back the rest",
    async ({ replay }, proxy) => {
      for (const path of ["/v1/messages", "/v1/chat/completions"]) {
        const gate = `proxy-${path.slice(4, 8)}`;
        const body = promptBody(`[[fx:text-long?gate=${gate}&at=4]]`);
        using caller = await send(proxy, "POST", path, body);
        await withTimeout(replay.gateReached(gate), "the gate");
        const early = await caller.until(/"text_delta"|"content":"[^"]/);
        assert.doesNotMatch(early, /message_stop|\[DONE\]/);
        replay.openGate(gate);
        await caller.until(/message_stop|\[DONE\]/);
      }
    },
  );

  test(
    "closes the gateway's connection when a client disconnects",
    async ({ replay, logEntry }, proxy) => {
      const body = promptBody("[[fx:hold-mid#proxy-left]]");
      {
        using caller = await send(proxy, "POST", "/v1/messages", body);
        await caller.until(/event: message_start/);
      }
      const entry = await withTimeout(
        replay.requestLog.waitForNonce("proxy-left"),
        "the call",
      );
      assert.equal(await withTimeout(entry.ended, "its end"), "caller-hung-up");
      await logEntry(({ ended }) => ended === "caller_left");
    },
  );

  test(
    "does not expose metrics, the admin API and the operators' pages",
    async ({ url }, proxy) => {
      await assertOperatorsSignIn(url);
      const statuses = {
        404: ["/metrics", "/admin/v1/accounts", "//metrics", ...hidden]
          .concat(OPERATOR_PATHS),
        200: ["/healthz", "/console/sign-in"],
      };
      for (const [status, paths] of Object.entries(statuses)) {
        for (const path of paths) {
          using caller = await send(proxy, "GET", path, "");
          const head = await caller.until(/\r\n\r\n/);
          assert.ok(head.startsWith(`HTTP/1.1 ${status} `), `${path}: ${head}`);
        }
      }
    },
  );

  test(
    "passes web sockets on, in both directions",
    (gateway, proxy) => assertWebSocket(proxy.url, gateway),
  );
}
