/** Ways out: proxies, client certificates, versions of TLS, and the reports of a way that fails. */
import assert from "node:assert/strict";
import { createServer } from "node:tls";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { ApiError } from "../../../translate/model/error.ts";
import { serveLoopback } from "../../../tests/support/serve_loopback.ts";
import {
  AUTHORITY_FILE,
  certificate,
} from "../../../tests/support/upstreams/fault_upstream.ts";
import {
  type LoopbackProxy,
  startLoopbackProxy,
} from "../../../tests/support/upstreams/loopback_proxy.ts";
import { gatewayTimers } from "../../timers.ts";
import { clientFetch } from "./client_fetch.ts";
import { upstreamClient } from "./http_client.ts";
import { noProxy } from "./no_proxy.ts";
import { readProxy } from "./proxy.ts";
import {
  directWay,
  environmentWay,
  proxiedWay,
  type TlsSettings,
  type Way,
} from "./way.ts";

const LIMITS = {
  connectTimeoutMs: 60_000,
  firstByteTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
};
const TRUSTED: TlsSettings = {
  authorities: [Deno.readTextFileSync(AUTHORITY_FILE)],
};

/** The text of a GET over a way, or the reason of its failure for operators. */
async function get(url: string, way: Way): Promise<string> {
  const client = upstreamClient(LIMITS, gatewayTimers(), {
    way: () => way,
    // Every name is this machine, as far as it is resolved here.
    resolve: () => Promise.resolve([{ address: "127.0.0.1" }]),
  });
  try {
    return await (await clientFetch(client)(url)).text();
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return error.details.note ?? error.message;
  } finally {
    await client.close();
  }
}

function proxyAt(text: string): NonNullable<ReturnType<typeof readProxy>> {
  const proxy = readProxy(text);
  assert.ok(proxy !== undefined, text);
  return proxy;
}

/** A server of the tests, which answers with the host that it was asked for. */
function secureServer(): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve(
    {
      hostname: "127.0.0.1",
      port: 0,
      onListen: () => {},
      ...certificate("right"),
    },
    (request) => new Response(new URL(request.url).hostname),
  );
}

Deno.test("requests go through the proxy of their scheme, except to exempt destinations", async () => {
  await using plain = serveLoopback((request) =>
    new Response(
      `plain ${new URL(request.url).hostname} ${
        request.headers.has("proxy-authorization")
      }`,
    )
  );
  await using secure = secureServer();
  const ports = { plain: plain.addr.port, secure: secure.addr.port };
  const leadsTo = {
    "plain.test:80": ports.plain,
    "upstream.test:443": ports.secure,
    "[2001:db8::1]:80": ports.plain,
  };
  const login = `Basic ${btoa("us er:p@ss")}`;
  await using http = startLoopbackProxy({ leadsTo, login });
  await using https = startLoopbackProxy({ leadsTo });
  const way = environmentWay({
    http: proxyAt(`http://us%20er:p%40ss@${http.address}`),
    https: proxyAt(https.address),
    isExempt: noProxy(".exempt.test"),
    exemptions: ".exempt.test",
  }, TRUSTED);
  assert.equal(
    await get("http://plain.test/a?b=c", way),
    "plain plain.test true",
  );
  assert.match(
    await get("http://[2001:db8::1]/", way),
    /^plain \[2001:db8::1\]/,
  );
  assert.equal(await get("https://upstream.test/", way), "upstream.test");
  for (const direct of ["127.0.0.1", "localhost", "a.exempt.test"]) {
    assert.match(
      await get(`http://${direct}:${ports.plain}/`, way),
      /^plain .* false$/,
    );
  }
  assert.equal(
    await get("http://169.254.169.254/latest", way),
    "the host has only link-local addresses",
  );
  assert.deepEqual(http.requests, [
    "GET http://plain.test/a?b=c HTTP/1.1",
    "GET http://[2001:db8::1]/ HTTP/1.1",
  ]);
  assert.deepEqual(http.logins, [login, login]);
  assert.deepEqual(https.requests, ["CONNECT upstream.test:443 HTTP/1.1"]);
});

Deno.test("a proxy of its own leads everywhere but to a metadata service, also over TLS", async () => {
  await using plain = serveLoopback(() => new Response("plain"));
  await using secure = secureServer();
  const { port } = plain.addr;
  await using proxy = startLoopbackProxy({
    leadsTo: {
      [`127.0.0.1:${port}`]: port,
      "upstream.test:443": secure.addr.port,
    },
    certificate: certificate("right"),
  });
  const way = proxiedWay(proxyAt(`https://${proxy.address}`), TRUSTED);
  assert.equal(await get(`http://127.0.0.1:${port}/`, way), "plain");
  assert.equal(await get("https://upstream.test/", way), "upstream.test");
  await get("http://169.254.170.2/", way);
  assert.deepEqual(proxy.requests, [
    `GET http://127.0.0.1:${port}/ HTTP/1.1`,
    "CONNECT upstream.test:443 HTTP/1.1",
  ]);
});

Deno.test("what a proxy refuses is reported with its name, without its password", async (t) => {
  const cases: readonly (readonly [
    string,
    Parameters<typeof startLoopbackProxy>[0],
    RegExp,
  ])[] = [
    [
      "no such way",
      { leadsTo: {} },
      /^the proxy NAME refused the connection \(status 403\)$/,
    ],
    [
      "another password",
      { leadsTo: {}, login: "Basic x" },
      /^the proxy NAME does not accept the user and password \(status 407\)$/,
    ],
    [
      "no proxy",
      { leadsTo: {}, answer: "SSH-2.0-OpenSSH\r\n\r\n" },
      /^the proxy NAME does not answer as a proxy$/,
    ],
    [
      "nothing",
      { leadsTo: {}, answer: "" },
      /^the proxy NAME gave no answer to CONNECT$/,
    ],
    [
      "its certificate",
      { leadsTo: {}, certificate: certificate("expired") },
      /^the proxy NAME's certificate has expired$/,
    ],
  ];
  for (const [name, options, expected] of cases) {
    await t.step(name, async () => {
      await using proxy = startLoopbackProxy(options);
      const scheme = options.certificate === undefined ? "http" : "https";
      const way = proxiedWay(
        proxyAt(`${scheme}://user:secret@${proxy.address}`),
        TRUSTED,
      );
      const note = await get("https://upstream.test/", way);
      assert.match(note.replaceAll(proxy.address, "NAME"), expected);
    });
  }
  await t.step("a whole request", async () => {
    await using proxy = startLoopbackProxy({ leadsTo: {}, login: "Basic x" });
    assert.match(
      await get(
        "http://plain.test/",
        proxiedWay(proxyAt(proxy.address), TRUSTED),
      ),
      /^the proxy asks for another user or password \(status 407\)$/,
    );
  });
  await t.step("out of reach", async () => {
    const closed = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = closed.addr;
    closed.close();
    assert.equal(
      await get(
        "https://upstream.test/",
        proxiedWay(proxyAt(`127.0.0.1:${port}`), TRUSTED),
      ),
      `the proxy 127.0.0.1:${port}'s host refused the connection`,
    );
  });
});

/** A server of `node:tls`, which can ask for a client certificate. */
async function tlsServer(
  options: Parameters<typeof createServer>[0],
): Promise<{ readonly port: number } & AsyncDisposable> {
  const server = createServer(
    { ...certificate("right"), ...options },
    (socket) => {
      const { subject } = socket.getPeerCertificate();
      const text = `${subject?.CN} ${socket.getProtocol()}`;
      socket.on("error", () => {});
      socket.once("data", () =>
        socket.end(
          `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
        ));
    },
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => server.close(() => resolve())),
  };
}

Deno.test("a client certificate, a least version and an own authority count, also in a tunnel", async (t) => {
  const [ca] = TRUSTED.authorities;
  const mutual = { ca, requestCert: true, rejectUnauthorized: true };
  const own = { ...TRUSTED, certificate: certificate("client") };
  const cases: readonly (readonly [string, object, TlsSettings, RegExp])[] = [
    ["a certificate", mutual, own, /^client TLSv1.3$/],
    [
      "no certificate",
      mutual,
      TRUSTED,
      /asks for a client certificate \(a vendor's tls.cert and tls.key\)$/,
    ],
    [
      "another's certificate",
      mutual,
      { ...TRUSTED, certificate: certificate("unknown") },
      /does not accept the client certificate \(a vendor's tls.cert\)$/,
    ],
    [
      "1.2 by default",
      { maxVersion: "TLSv1.2" },
      TRUSTED,
      /^undefined TLSv1.2$/,
    ],
    [
      "1.3 at least",
      { maxVersion: "TLSv1.2" },
      { ...TRUSTED, minVersion: "1.3" },
      /^the upstream offers no version of TLS that is allowed/,
    ],
    ["1.3", {}, { ...TRUSTED, minVersion: "1.3" }, /^undefined TLSv1.3$/],
    [
      "no authority",
      {},
      { authorities: [] },
      /^the upstream's certificate is signed by an unknown authority/,
    ],
    [
      "no authority for a least version",
      {},
      { authorities: [], minVersion: "1.3" },
      /^the upstream's certificate is signed by an unknown authority/,
    ],
  ];
  for (const [name, server, tls, expected] of cases) {
    await t.step(name, async () => {
      await using upstream = await tlsServer(server);
      const { port } = upstream;
      const leadsTo = { [`upstream.test:${port}`]: port };
      await using proxy: LoopbackProxy = startLoopbackProxy({ leadsTo });
      for (
        const way of [directWay(tls), proxiedWay(proxyAt(proxy.address), tls)]
      ) {
        assert.match(
          await get(`https://upstream.test:${port}/`, way),
          expected,
        );
      }
    });
  }
});

Deno.test("a client that was closed makes no call, by a new way neither", async () => {
  await using server = serveLoopback(() => new Response("served"));
  const client = upstreamClient(LIMITS, gatewayTimers());
  await client.close();
  await assert.rejects(
    clientFetch(client)(`http://127.0.0.1:${server.addr.port}/`),
    /the connection to the upstream broke/,
  );
});

Deno.test("readProxy() reads an address with or without a scheme, and no other kind of proxy", () => {
  assert.deepEqual(readProxy("proxy.test:3128"), {
    hostname: "proxy.test",
    port: 3128,
    isTls: false,
    name: "proxy.test:3128",
  });
  assert.equal(readProxy("https://[::1]")?.name, "[::1]:443");
  assert.equal(
    readProxy("http://u@proxy.test/")?.authorization,
    `Basic ${btoa("u:")}`,
  );
  for (
    const text of [
      "socks5://proxy.test:1080",
      "proxy.test:99999",
      "http://proxy.test/path",
      "http://%zz@proxy.test",
      "",
    ]
  ) assert.equal(readProxy(text), undefined, text);
});
