/** The console at `GATEWAY_PUBLIC_URL`: its origin is the own one, its path is in every link. */
import assert from "node:assert/strict";
import {
  FORM_HEADERS,
  signIn,
  startConsole,
  visitAs,
} from "../support/console/visitor.ts";
import { TEST_KEY } from "../support/test_gateway.ts";

const PUBLIC = "https://models.example.com:8443";

/** The addresses in a page that lead to the same host. */
function addressesIn(html: string): readonly string[] {
  return [...html.matchAll(/ (?:href|src|action|data-live)="(\/[^"]*)"/g)]
    .map(([, address = ""]) => address);
}

Deno.test("a form of the public address is the console's own, whatever host the proxy passes on", async () => {
  await using gateway = await startConsole({
    env: { GATEWAY_PUBLIC_URL: PUBLIC },
  });
  const statusFrom = async (
    origin: string,
    site: string = "same-origin",
  ): Promise<number> => {
    const reply = await signIn(gateway.url, "key", TEST_KEY, {
      origin,
      "sec-fetch-site": site,
    });
    await reply.body?.cancel();
    return reply.status;
  };
  assert.equal(await statusFrom(PUBLIC), 303);
  assert.equal(await statusFrom(PUBLIC.toUpperCase()), 303);
  // Operators may also use the gateway's own address.
  assert.equal(await statusFrom(gateway.url), 303);
  assert.equal(await statusFrom("https://models.example.com"), 403);
  assert.equal(await statusFrom("http://models.example.com:8443"), 403);
  assert.equal(await statusFrom(PUBLIC, "cross-site"), 403);
});

Deno.test("a web page of the public address may open a web socket, others may not", async () => {
  await using gateway = await startConsole({
    env: { GATEWAY_PUBLIC_URL: PUBLIC },
  });
  const codeFrom = async (origin: string): Promise<unknown> => {
    const { hostname, port } = new URL(gateway.url);
    using connection = await Deno.connect({ hostname, port: Number(port) });
    await connection.write(new TextEncoder().encode(
      "GET /v1/responses HTTP/1.1\r\nhost: gateway.internal\r\nconnection: upgrade\r\n" +
        "upgrade: websocket\r\nsec-websocket-version: 13\r\n" +
        `sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nx-api-key: ${TEST_KEY}\r\n` +
        `origin: ${origin}\r\n\r\n`,
    ));
    const buffer = new Uint8Array(4096);
    const read = await connection.read(buffer) ?? 0;
    return /^HTTP\/1\.1 (\d+)/.exec(
      new TextDecoder().decode(buffer.subarray(0, read)),
    )?.[1];
  };
  assert.equal(await codeFrom(PUBLIC), "101");
  assert.equal(await codeFrom("https://other.example.com"), "403");
});

for (const inFront of ["keeps", "removes"]) {
  Deno.test(`behind a proxy that ${inFront} the path, no link, form, redirect or cookie leaves it`, async () => {
    const base = "/platform/llm-gateway";
    await using gateway = await startConsole({
      env: { GATEWAY_PUBLIC_URL: `${PUBLIC}${base}/` },
    });
    const at = (path: string): string => {
      assert.ok(path.startsWith(`${base}/`), `${path} leaves ${base}`);
      return `${gateway.url}${
        inFront === "keeps" ? path : path.slice(base.length)
      }`;
    };
    const read = async (path: string, cookie = ""): Promise<string> => {
      const reply = await fetch(at(path), { headers: { cookie } });
      const text = await reply.text();
      assert.equal(reply.status, 200, `${path}: ${text.slice(0, 300)}`);
      return text;
    };
    const first = await fetch(at(`${base}/`), {
      headers: { accept: "text/html" },
      redirect: "manual",
    });
    await first.body?.cancel();
    assert.equal(first.headers.get("location"), `${base}/console/`);
    const page = await read(`${base}/console/sign-in`);
    assert.ok(addressesIn(page).length >= 5, page);
    for (const address of addressesIn(page)) {
      if (address.includes("/assets/")) await read(address);
    }
    assert.match(page, /src="[^"]+\/assets\/client-/);
    const action = / action="([^"]*sign-in)"/.exec(page)?.[1] ?? "";
    const signedIn = await fetch(at(action), {
      method: "POST",
      redirect: "manual",
      headers: {
        ...FORM_HEADERS,
        origin: PUBLIC,
        "x-forwarded-proto": "https",
      },
      body: new URLSearchParams({ credential: TEST_KEY }),
    });
    await signedIn.body?.cancel();
    assert.equal(signedIn.headers.get("location"), `${base}/console/`);
    assert.match(
      signedIn.headers.get("set-cookie") ?? "",
      new RegExp(
        `^__Secure-console=[\\w-]{43}; Path=${base}; HttpOnly; SameSite=Strict; Secure$`,
      ),
    );
    const theme = await fetch(at(`${base}/console/theme`), {
      method: "POST",
      redirect: "manual",
      headers: { ...FORM_HEADERS, origin: PUBLIC },
      body: new URLSearchParams({ to: "dark", next: "/console/sign-in" }),
    });
    await theme.body?.cancel();
    assert.equal(theme.headers.get("location"), `${base}/console/sign-in`);
    assert.match(
      theme.headers.get("set-cookie") ?? "",
      new RegExp(`Path=${base}/console;`),
    );
  });
}

Deno.test("each page of a session links within the path, and its script knows it", async () => {
  const base = "/llm";
  await using gateway = await startConsole({
    env: { GATEWAY_PUBLIC_URL: `${PUBLIC}${base}` },
  });
  const operator = await visitAs(gateway, "operator");
  const account = await visitAs(gateway, "manage");
  const pages = [
    [operator, "/console/operator/"],
    [operator, "/console/operator/live"],
    [operator, "/console/operator/usage"],
    [account, "/console/"],
    [account, "/console/calls"],
    [account, "/console/connect"],
  ] as const;
  for (const [visitor, path] of pages) {
    const html = await visitor.read(path);
    assert.match(html, /<html [^>]*data-base="\/llm"/);
    for (const address of addressesIn(html)) {
      assert.ok(address.startsWith(`${base}/`), `${path} leads to ${address}`);
    }
  }
  assert.match(
    await account.read("/console/connect"),
    /https:\/\/models\.example\.com:8443\/llm/,
  );
  const openapi = await fetch(`${gateway.url}${base}/openapi.json`);
  assert.deepEqual((await openapi.json()).servers, [{ url: base }]);
});

Deno.test("metrics and administration are not served under the path, which a proxy opens to everyone", async () => {
  await using gateway = await startConsole({
    env: { GATEWAY_PUBLIC_URL: `${PUBLIC}/llm` },
  });
  for (const path of ["/metrics", "/admin/v1/accounts", "/llm/healthz"]) {
    const reply = await fetch(`${gateway.url}/llm${path}`);
    await reply.body?.cancel();
    assert.equal(reply.status, 404, path);
  }
  const call = await fetch(`${gateway.url}/llm/v1/models`, {
    headers: { "x-api-key": TEST_KEY },
  });
  await call.body?.cancel();
  assert.equal(call.status, 200);
});

Deno.test("a proxy's report of the address counts for forms, cookies and examples, from trusted proxies only", async (t) => {
  const cases: readonly (readonly [
    string,
    Readonly<Record<string, string>>,
    string | undefined,
  ])[] = [
    ["nothing", {}, undefined],
    [
      "x-forwarded",
      {
        "x-forwarded-proto": "HTTPS",
        "x-forwarded-host": "Models.example.com:8443",
      },
      "https://models.example.com:8443",
    ],
    [
      "a port of its own",
      {
        "x-forwarded-proto": "https",
        "x-forwarded-host": "models.example.com",
        "x-forwarded-port": "8443",
      },
      "https://models.example.com:8443",
    ],
    [
      "Forwarded, IPv6",
      { forwarded: 'for=192.0.2.1;proto=https;host="[2001:db8::1]:8443"' },
      "https://[2001:db8::1]:8443",
    ],
  ];
  for (const trusted of ["private", "203.0.113.0/24"]) {
    await using gateway = await startConsole({
      env: { GATEWAY_TRUSTED_PROXIES: trusted },
    });
    for (const [name, headers, origin] of cases) {
      await t.step(`${name}, of ${trusted}`, async () => {
        const reply = await signIn(gateway.url, "key", TEST_KEY, {
          ...headers,
          origin: origin ?? gateway.url,
        });
        await reply.body?.cancel();
        const counts = origin !== undefined && trusted === "private";
        assert.equal(
          reply.status,
          origin === undefined || counts ? 303 : 403,
        );
        if (reply.status === 403) return;
        const cookie = reply.headers.get("set-cookie") ?? "";
        assert.match(cookie, counts ? /^__Host-console=/ : /^console=/);
        const page = await fetch(`${gateway.url}/console/connect`, {
          headers: { ...headers, cookie: cookie.split(";")[0] ?? "" },
        });
        assert.ok(
          (await page.text()).includes(
            counts ? origin : gateway.url,
          ),
        );
      });
    }
  }
});
