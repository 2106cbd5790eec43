/**
 * Responses sent before the request's body was read: the next request on the connection succeeds,
 * or the response announces the close.
 */
import assert from "node:assert/strict";
import { fakeClock } from "../support/fake_clock.ts";
import { RawClient } from "../support/clients/raw_client.ts";
import { withTimeout } from "../support/with_timeout.ts";
import {
  startTestGateway,
  TEST_KEY,
  type TestGateway,
  type TestGatewayOptions,
} from "../support/test_gateway.ts";

const MODEL = "vendorb-5";
const ADMIN_TOKEN = "admin-0123456789abcdef0123456789abcdef";
const MIB = 1024 * 1024;

const RIGHT = {
  model: MODEL,
  max_tokens: 16,
  messages: [{ role: "user", content: "[[fx:text]]" }],
};

function test(
  name: string,
  run: (gateway: TestGateway, t: Deno.TestContext) => Promise<void>,
  options: TestGatewayOptions = {},
): void {
  Deno.test(name, async (t) => {
    await using gateway = await startTestGateway(options);
    await run(gateway, t);
  });
}

/** A JSON body of slightly more than `bytes` bytes. */
function bodyOf(bytes: number): string {
  return JSON.stringify({ ...RIGHT, system: "x".repeat(bytes) });
}

function chunked(text: string, size = 8192): string {
  let out = "";
  for (let at = 0; at < text.length; at += size) {
    const piece = text.slice(at, at + size);
    out += `${piece.length.toString(16)}\r\n${piece}\r\n`;
  }
  return `${out}0\r\n\r\n`;
}

/** A valid call on the connection succeeds. */
async function serves(caller: RawClient): Promise<void> {
  await caller.post("/v1/messages", RIGHT);
  const next = await caller.answer();
  assert.equal(next?.status, 200, next?.body ?? "the connection was closed");
}

/** The connection closes in order, without further bytes. */
async function ends(caller: RawClient): Promise<void> {
  assert.equal(await caller.rest(), "");
  assert.equal(
    await withTimeout(caller.socket.closed, "the end of the connection"),
    "end",
  );
}

interface Refusal {
  readonly status: number;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

/** Requests that are refused before their body (30 KB) is read. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  "wrong key": { status: 401, headers: { "x-api-key": "sk-wrong" } },
  "no key": { status: 401, headers: { "x-api-key": undefined } },
  "wrong key, chat": {
    status: 401,
    path: "/v1/chat/completions",
    headers: { "x-api-key": "sk-wrong" },
  },
  "wrong path": { status: 404, path: "/v1/rerank" },
  "wrong method": { status: 405, method: "PUT" },
  "wrong method of a list": { status: 405, path: "/v1/models" },
  "too large": { status: 413, body: bodyOf(200_000) },
  "wrong type": { status: 415, headers: { "content-type": "text/plain" } },
  "wrong coding": { status: 415, headers: { "content-encoding": "br" } },
  "not gzip": { status: 400, headers: { "content-encoding": "gzip" } },
  "wrong host": { status: 400, headers: { host: "a/b" } },
  "wrong admin token": {
    status: 401,
    path: "/admin/v1/accounts",
    headers: { authorization: "Bearer wrong" },
  },
  "a probe with a body": { status: 405, path: "/healthz" },
  "preflight with a body": {
    status: 204,
    method: "OPTIONS",
    headers: { origin: "https://page.example" },
  },
  "not JSON": { status: 400, body: "x".repeat(30_000) },
};

const CONFIGURED: TestGatewayOptions = {
  env: {
    GATEWAY_MAX_BODY_BYTES: "100000",
    GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN,
    GATEWAY_CORS_ORIGINS: "https://page.example",
  },
};

async function refuse(
  caller: RawClient,
  { status, path = "/v1/messages", method = "POST", headers, body }: Refusal,
  framing: "declared" | "chunked",
): Promise<void> {
  const text = body ?? bodyOf(30_000);
  const all: Record<string, string | undefined> = {
    host: "gateway",
    "x-api-key": TEST_KEY,
    "content-type": "application/json",
    ...(framing === "declared"
      ? { "content-length": String(text.length) }
      : { "transfer-encoding": "chunked" }),
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}\r\n`]
  );
  await caller.send(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
  await caller.send(framing === "declared" ? text : chunked(text));
  const answer = await caller.answer();
  assert.equal(answer?.status, status, answer?.body);
  assert.equal(answer?.headers.get("connection"), undefined);
}

test(
  "a connection stays usable after any refusal of a short body",
  async (gateway, t) => {
    for (const framing of ["declared", "chunked"] as const) {
      for (const [name, refusal] of Object.entries(REFUSALS)) {
        await t.step(`${name}, ${framing}`, async () => {
          using caller = await RawClient.connect(gateway);
          for (let again = 0; again < 3; again++) {
            await refuse(caller, refusal, framing);
            await serves(caller);
          }
        });
      }
    }
  },
  CONFIGURED,
);

test(
  "a connection stays usable after a call beyond the concurrency limit",
  async (gateway) => {
    const held = await gateway.post("/v1/messages", {
      ...RIGHT,
      stream: true,
      messages: [{
        role: "user",
        content: "[[fx:text-long?gate=unread&at=8]]",
      }],
    });
    await gateway.replay.gateReached("unread");
    using caller = await RawClient.connect(gateway);
    await refuse(caller, { status: 529 }, "declared");
    await refuse(
      caller,
      { status: 503, path: "/v1/chat/completions" },
      "chunked",
    );
    gateway.replay.openGate("unread");
    await held.text();
    await serves(caller);
    assert.equal(gateway.gateway.concurrency.inUse(), 0);
  },
  { env: { GATEWAY_MAX_CONCURRENT: "1" } },
);

test("requests after a refused one in the same write are answered in order", async (gateway) => {
  using caller = await RawClient.connect(gateway);
  const body = bodyOf(30_000);
  const right = JSON.stringify(RIGHT);
  const head = (key: string, length: number) =>
    `POST /v1/messages HTTP/1.1\r\nhost: gateway\r\nx-api-key: ${key}\r\n` +
    `content-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
  await caller.send(
    head("sk-wrong", body.length) + body + head(TEST_KEY, right.length) +
      right + head("sk-wrong", body.length) + body,
  );
  for (const status of [401, 200, 401]) {
    assert.equal((await caller.answer())?.status, status);
  }
  await serves(caller);
});

test(
  "a client that sends 40 MB before it reads receives the whole refusal and an orderly close",
  async (gateway, t) => {
    const body = bodyOf(40 * MIB);
    const cases: Readonly<Record<string, Refusal>> = {
      "too large": { status: 413 },
      "wrong key": { status: 401, headers: { "x-api-key": "sk-wrong" } },
      "wrong path": { status: 404, path: "/v1/nothing" },
    };
    for (
      const [name, { status, path = "/v1/messages", headers }] of Object
        .entries(cases)
    ) {
      await t.step(name, async () => {
        using caller = await RawClient.connect(gateway);
        caller.socket.pause();
        await caller.post(path, body, headers);
        caller.socket.resume();
        const answer = await caller.answer();
        assert.equal(answer?.status, status);
        assert.match(answer?.headers.get("connection") ?? "", /close/);
        assert.equal(typeof JSON.parse(answer?.body ?? "").error, "object");
        await ends(caller);
      });
    }
  },
);

/** Refusals that are sent while a part of the body is unread. */
const PAUSED: Readonly<Record<string, Refusal>> = {
  "too large": { status: 413, body: bodyOf(40 * MIB) },
  "wrong key": {
    status: 401,
    body: bodyOf(2 * MIB),
    headers: { "x-api-key": "sk-wrong" },
  },
  "short, wrong path": {
    status: 404,
    path: "/v1/nothing",
    body: bodyOf(900_000),
  },
  "chunked, wrong key": {
    status: 401,
    body: chunked(bodyOf(2 * MIB), 65_536),
    headers: {
      "x-api-key": "sk-wrong",
      "content-length": undefined,
      "transfer-encoding": "chunked",
    },
  },
};

Deno.test("a client that pauses for nine seconds inside a body receives the whole refusal and an orderly close", async (t) => {
  for (const [name, refusal] of Object.entries(PAUSED)) {
    await t.step(name, async () => {
      const { status, path = "/v1/messages", headers, body = "" } = refusal;
      const clock = fakeClock();
      await using gateway = await startTestGateway({ timers: clock.timers });
      using caller = await RawClient.connect(gateway);
      caller.socket.pause();
      const half = Math.floor(body.length / 2);
      await caller.post(path, body.slice(0, half), {
        "content-length": String(body.length),
        ...headers,
      });
      await clock.timer((ms) => ms === 2_000);
      clock.advance(2_000);
      await clock.timer((ms) => ms === 30_000);
      for (let second = 0; second < 9; second++) clock.advance(1_000);
      await caller.send(body.slice(half));
      caller.socket.resume();
      const answer = await caller.answer();
      assert.equal(answer?.status, status);
      assert.match(answer?.headers.get("connection") ?? "", /close/);
      assert.equal(typeof JSON.parse(answer?.body ?? "").error, "object");
      await ends(caller);
    });
  }
});

test(
  "a chunked body beyond the limit is refused while it arrives, and the client receives the refusal",
  async (gateway) => {
    using caller = await RawClient.connect(gateway);
    caller.socket.pause();
    await caller.post("/v1/messages", chunked(bodyOf(5 * MIB), 65_536), {
      "content-length": undefined,
      "transfer-encoding": "chunked",
    });
    caller.socket.resume();
    const answer = await caller.answer();
    assert.equal(answer?.status, 413, answer?.body);
    assert.match(answer?.headers.get("connection") ?? "", /close/);
  },
  { env: { GATEWAY_MAX_BODY_BYTES: "100000" } },
);

test(
  "a compressed body that exceeds the limit once decompressed leaves the connection usable",
  async (gateway) => {
    const packed = new Uint8Array(
      await new Response(
        new Blob(["[", " ".repeat(3 * MIB), "]"]).stream().pipeThrough(
          new CompressionStream("gzip"),
        ),
      ).arrayBuffer(),
    );
    for (const framing of ["content-length", "transfer-encoding"]) {
      using caller = await RawClient.connect(gateway);
      assert.ok(packed.length < 30_000);
      const text = String.fromCharCode(...packed);
      const bytes = framing === "content-length"
        ? packed
        : Uint8Array.from(chunked(text), (char) => char.charCodeAt(0));
      await caller.post("/v1/messages", bytes, {
        "content-encoding": "gzip",
        ...(framing === "content-length"
          ? {}
          : { "content-length": undefined, [framing]: "chunked" }),
      });
      const answer = await caller.answer();
      assert.equal(answer?.status, 413, answer?.body);
      assert.equal(answer?.headers.get("connection"), undefined);
      await serves(caller);
    }
  },
  { env: { GATEWAY_MAX_BODY_BYTES: "100000" } },
);

test("a refusal does not wait for a body that does not arrive", async (gateway) => {
  for (const sent of ["", "{"]) {
    for (
      const framing of ["content-length: 1000", "transfer-encoding: chunked"]
    ) {
      using caller = await RawClient.connect(gateway);
      await caller.send(
        `POST /v1/messages HTTP/1.1\r\nhost: gateway\r\n${framing}\r\n\r\n` +
          (sent !== "" && framing.startsWith("transfer") ? "1\r\n{\r\n" : sent),
      );
      // The reply's text arrives at once, its end when the client has long been silent.
      const text = await caller.until(/"type":"authentication_error"/);
      assert.match(text, /^HTTP\/1\.1 401 /);
      assert.match(text, /^connection: close\r$/im);
    }
  }
});

/** The first bytes of a gzip stream. */
const GZIP_HEAD = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3);

/** Sends a request head and one piece of a longer body. */
async function half(
  gateway: TestGateway,
  framing: string,
  encoding: string,
  piece: Uint8Array,
): Promise<RawClient> {
  const caller = await RawClient.connect(gateway);
  await caller.send(
    `POST /v1/messages HTTP/1.1\r\nhost: gateway\r\nx-api-key: ${TEST_KEY}\r\n` +
      `content-encoding: ${encoding}\r\n${framing}\r\n\r\n`,
  );
  const isChunked = framing.startsWith("transfer");
  if (isChunked) await caller.send(`${piece.length.toString(16)}\r\n`);
  await caller.send(piece);
  if (isChunked) await caller.send("\r\n");
  return caller;
}

const FRAMINGS = ["content-length: 1000", "transfer-encoding: chunked"];

test(
  "a body that stops halfway is a 408 that announces the close",
  async (gateway) => {
    for (const framing of FRAMINGS) {
      for (const encoding of ["identity", "gzip"]) {
        using caller = await half(gateway, framing, encoding, GZIP_HEAD);
        const answer = await caller.answer();
        assert.equal(answer?.status, 408);
        assert.match(answer?.headers.get("connection") ?? "", /close/);
      }
    }
  },
  { env: { GATEWAY_BODY_TIMEOUT_SECONDS: "0.1" } },
);

test("a body that is invalid before it stops halfway is refused, and the response announces the close", async (gateway) => {
  for (const framing of FRAMINGS) {
    using caller = await half(gateway, framing, "gzip", new Uint8Array(100));
    const text = await caller.until(/"type":"invalid_request_error"/);
    assert.match(text, /^HTTP\/1\.1 400 /);
    assert.match(text, /^connection: close\r$/im);
  }
});

test("a refused request with expect: 100-continue gets no 100", async (gateway) => {
  using refused = await RawClient.connect(gateway);
  const head = (key: string, length: number) =>
    `POST /v1/messages HTTP/1.1\r\nhost: gateway\r\nx-api-key: ${key}\r\n` +
    `expect: 100-continue\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
  await refused.send(head("sk-wrong", 30_000));
  const text = await refused.until(/\r\n\r\n\{.*\}$/s);
  assert.match(text, /^HTTP\/1\.1 401 /);
  assert.match(text, /^connection: close\r$/im);
  using asked = await RawClient.connect(gateway);
  const body = JSON.stringify(RIGHT);
  await asked.send(head(TEST_KEY, body.length));
  assert.match(await asked.until(/\r\n\r\n/), /^HTTP\/1\.1 100 /);
  await asked.send(body);
  assert.equal((await asked.answer())?.status, 200);
  await serves(asked);
});

test("an answer to GET or HEAD with a body announces the close", async (gateway) => {
  for (const method of ["GET", "HEAD"]) {
    for (const framing of ["declared", "chunked"]) {
      using caller = await RawClient.connect(gateway);
      const body = bodyOf(30_000);
      await caller.send(
        `${method} /v1/models HTTP/1.1\r\nhost: gateway\r\nx-api-key: ${TEST_KEY}\r\n` +
          (framing === "declared"
            ? `content-length: ${body.length}\r\n\r\n${body}`
            : `transfer-encoding: chunked\r\n\r\n${chunked(body)}`),
      );
      const text = await caller.until(/\r\n\r\n/);
      assert.match(text, /^HTTP\/1\.1 200 /);
      assert.match(text, /^connection: close\r$/im);
    }
  }
});

test("a request with two lengths is the last one on its connection", async (gateway) => {
  using caller = await RawClient.connect(gateway);
  await caller.send(
    `POST /v1/messages HTTP/1.1\r\nhost: gateway\r\nx-api-key: ${TEST_KEY}\r\n` +
      "content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n" +
      `GET /v1/models HTTP/1.1\r\nhost: gateway\r\nx-api-key: ${TEST_KEY}\r\n\r\n`,
  );
  assert.equal((await caller.answer())?.status, 400);
  await ends(caller);
});

test("an HTTP/1.0 client receives its refusal, and the connection closes", async (gateway) => {
  for (const bytes of [30_000, 3 * MIB]) {
    using caller = await RawClient.connect(gateway);
    const body = bodyOf(bytes);
    await caller.send(
      `POST /v1/messages HTTP/1.0\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    const text = await caller.rest();
    assert.match(text, /^HTTP\/1\.\d 401 /);
    assert.match(text, /"type":"authentication_error"/);
  }
});

test("no connection header if the body was read or there is none", async (gateway) => {
  using caller = await RawClient.connect(gateway);
  for (let again = 0; again < 3; again++) {
    for (const path of ["/healthz", "/v1/models", "/v1/nothing"]) {
      await caller.send(
        `GET ${path} HTTP/1.1\r\nhost: gateway\r\nx-api-key: ${TEST_KEY}\r\n\r\n`,
      );
      assert.equal(
        (await caller.answer())?.headers.get("connection"),
        undefined,
      );
    }
    for (const length of ["", "content-length: 0\r\n"]) {
      await caller.send(
        `POST /v1/nothing HTTP/1.1\r\nhost: gateway\r\n${length}\r\n`,
      );
      assert.equal(
        (await caller.answer())?.headers.get("connection"),
        undefined,
      );
    }
    await serves(caller);
  }
});
