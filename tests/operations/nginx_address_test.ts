/** nginx as documented: at another port, under a path, and with many streams of one address. */
import assert from "node:assert/strict";
import { FORM_HEADERS, startConsole } from "../support/console/visitor.ts";
import { NGINX, startNginx } from "../support/deploy/nginx.ts";
import type { Proxy } from "../support/deploy/proxy.ts";
import { smallBody } from "../support/small_body.ts";
import { TEST_KEY, type TestGateway } from "../support/test_gateway.ts";

/** What a browser shows in its address bar. */
const HOST = "models.example.com:8443";
const BASE = "/platform/llm";

/** A browser's request on a new connection; returns the whole response. */
async function browse(
  proxy: Proxy,
  path: string,
  { form, cookie = "" }: {
    readonly form?: Readonly<Record<string, string>>;
    readonly cookie?: string;
  } = {},
): Promise<string> {
  using connection = await proxy.connect();
  const body = `${new URLSearchParams(form)}`;
  const headers = {
    host: HOST,
    connection: "close",
    cookie,
    "sec-fetch-site": "same-origin",
    ...(form === undefined ? {} : {
      ...FORM_HEADERS,
      origin: `https://${HOST}`,
      "content-length": `${body.length}`,
    }),
  };
  const head = Object.entries(headers).map(([name, value]) =>
    `${name}: ${value}\r\n`
  );
  await connection.write(new TextEncoder().encode(
    `${form === undefined ? "GET" : "POST"} ${path} HTTP/1.1\r\n${
      head.join("")
    }\r\n${form === undefined ? "" : body}`,
  ));
  return await new Response(connection.readable).text();
}

const SIGN_IN = { credential: TEST_KEY };

/** Signs in at a path, and reads the page that follows. */
async function assertSignsIn(proxy: Proxy, base: string): Promise<void> {
  const page = await browse(proxy, `${base}/console/sign-in`);
  assert.match(page, /^HTTP\/1\.1 200 /);
  const action = / action="([^"]+)"/.exec(page)?.[1] ?? "";
  assert.equal(action, `${base}/console/sign-in`);
  const style = / href="([^"]+\.css)"/.exec(page)?.[1] ?? "";
  assert.match(await browse(proxy, style), /^HTTP\/1\.1 200 /);
  const reply = await browse(proxy, action, { form: SIGN_IN });
  assert.match(reply, /^HTTP\/1\.1 303 /, reply);
  const location = /^location: (.+)\r$/im.exec(reply)?.[1] ?? "";
  const cookie = /^set-cookie: ([^;]+)/im.exec(reply)?.[1] ?? "";
  assert.equal(location, `${base}/console/`);
  assert.match(
    await browse(proxy, location, { cookie }),
    /^HTTP\/1\.1 200 [^]*<h1>Overview/,
  );
}

function test(
  name: string,
  publicUrl: string | undefined,
  change: (config: string) => string,
  run: (proxy: Proxy, gateway: TestGateway) => Promise<void>,
): void {
  Deno.test({
    name,
    ignore: NGINX === undefined,
    async fn() {
      assert.ok(NGINX !== undefined);
      await using gateway = await startConsole({
        env: publicUrl === undefined ? {} : { GATEWAY_PUBLIC_URL: publicUrl },
      });
      await using proxy = await startNginx(
        NGINX,
        [gateway.url],
        // TLS ends before this test.
        (config) => change(changed(/\$scheme/, "https")(config)),
      );
      await run(proxy, gateway);
    },
  });
}

/** The documented block with another text in one place. */
function changed(from: RegExp, to: string): (config: string) => string {
  return (config) => {
    assert.match(config, from);
    return config.replace(from, to);
  };
}

test(
  "the console works behind nginx as documented at another port than 443",
  undefined,
  (config) => config,
  (proxy) => assertSignsIn(proxy, ""),
);

test(
  "the console works behind an nginx that passes its own name on, by its public address",
  `https://${HOST}`,
  changed(/^ *proxy_set_header Host .*\n/m, ""),
  (proxy) => assertSignsIn(proxy, ""),
);

for (
  const [way, to] of [
    ["keeps", "proxy_pass http://model_gateway;"],
    ["removes", "proxy_pass http://model_gateway/;"],
  ] as const
) {
  test(
    `the console and calls work under a path that nginx ${way}`,
    `https://${HOST}${BASE}`,
    (config) =>
      changed(/proxy_pass http:\/\/model_gateway;/, to)(
        changed(/location \/ \{/, `location ${BASE}/ {`)(
          changed(
            /location \/console\/operator/,
            `location ${BASE}/console/operator`,
          )(config),
        ),
      ),
    async (proxy) => {
      await assertSignsIn(proxy, BASE);
      for (
        const path of [
          "/metrics",
          "/admin/v1/accounts",
          `${BASE}/metrics`,
          "/console/operator/sign-in",
        ]
      ) {
        // Once as a client may write it, once for a proxy that takes the path off.
        for (
          const prefix of [BASE, way === "keeps" ? `${BASE}${BASE}` : BASE]
        ) {
          assert.match(
            await browse(proxy, `${prefix}${path}`),
            /^HTTP\/1\.1 (?:404|401) /,
            prefix + path,
          );
        }
      }
    },
  );
}

test(
  "nginx as documented passes 260 streams of one address on at once",
  undefined,
  (config) => config,
  async (proxy, { replay }) => {
    const gate = "many-of-one-address";
    const body = JSON.stringify(
      smallBody({ stream: true, text: `[[fx:text-long?gate=${gate}&at=4]]` }),
    );
    const streams = Array.from({ length: 260 }, async () => {
      const connection = await proxy.connect();
      await connection.write(new TextEncoder().encode(
        `POST /v1/messages HTTP/1.1\r\nhost: ${HOST}\r\nx-api-key: ${TEST_KEY}\r\n` +
          `connection: close\r\ncontent-type: application/json\r\n` +
          `content-length: ${body.length}\r\n\r\n${body}`,
      ));
      const first = new Uint8Array(12);
      await connection.read(first);
      return { connection, status: new TextDecoder().decode(first) };
    });
    const heads = await Promise.all(streams);
    const refused = heads.filter(({ status }) => status !== "HTTP/1.1 200");
    replay.openGate(gate);
    const rests = await Promise.all(
      heads.map(({ connection }) => new Response(connection.readable).text()),
    );
    assert.equal(refused.length, 0);
    assert.equal(
      rests.filter((text) => text.includes("message_stop")).length,
      260,
    );
  },
);
