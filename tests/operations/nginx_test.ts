/** Many refused calls through Debian's nginx, with the configuration in docs/operations.md. */
import assert from "node:assert/strict";
import { NGINX, startNginx } from "../support/deploy/nginx.ts";
import type { Proxy } from "../support/deploy/proxy.ts";
import { smallBody } from "../support/small_body.ts";
import { startTestGateway, TEST_KEY } from "../support/test_gateway.ts";

/** Time limit of each request to nginx. */
const LIMIT_MS = 20_000;

/** Status of a request on a new connection, read to its end. */
async function statusOf(
  proxy: Proxy,
  { method = "POST", target = "/v1/messages", key = TEST_KEY, body }: {
    readonly method?: string;
    readonly target?: string;
    readonly key?: string;
    readonly body: string;
  },
): Promise<number> {
  using connection = await proxy.connect();
  // The gateway may refuse the request while it is being sent.
  const sending = new Blob([
    `${method} ${target} HTTP/1.1\r\nhost: ${proxy.host}\r\nx-api-key: ${key}\r\n` +
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

Deno.test({
  name:
    "nginx as documented forwards 1,000 valid calls among 1,000 refused ones",
  ignore: NGINX === undefined,
  async fn() {
    assert.ok(NGINX !== undefined);
    await using gateway = await startTestGateway({
      env: { GATEWAY_MAX_BODY_BYTES: "100000" },
    });
    await using proxy = await startNginx(NGINX, [gateway.url]);
    const call = smallBody({ model: "vendorb-5", text: "[[fx:text]]" });
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
        note(`${wrong.status}: ${await statusOf(proxy, wrong)}`);
        note(`200: ${await statusOf(proxy, { body })}`);
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
  },
});
