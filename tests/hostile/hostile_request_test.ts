/**
 * Requests that no HTTP library sends: smuggled, with false lengths, odd targets, hosts and keys.
 * None causes a 5xx.
 */
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { requestText } from "../support/tables/hostile_bodies.ts";
import { RawClient, type RawResponse } from "../support/clients/raw_client.ts";
import {
  startTestGateway,
  TEST_KEY,
  type TestGateway,
} from "../support/test_gateway.ts";

const ADMIN_TOKEN = "an-admin-token-of-some-length";
const PATH = "/v1/messages";
const BODY = requestText("vendorb-5");
const PATHS: readonly string[] = [PATH, "/v1/chat/completions"];

async function withGateway(
  run: (gateway: TestGateway) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  await using gateway = await startTestGateway({ env });
  await run(gateway);
  assert.equal(gateway.gateway.concurrency.inUse(), 0);
  assert.deepEqual(await gateway.accounts.admin.audit(), []);
}

/** Sends bytes on a new connection; the first answer, or undefined if the connection closed. */
async function exchange(
  gateway: TestGateway,
  bytes: string,
): Promise<RawResponse | undefined> {
  using caller = await RawClient.connect(gateway);
  await caller.send(bytes);
  return await caller.answer();
}

/** Sends a request whose body never ends; returns the status line of the delayed answer. */
async function refusal(gateway: TestGateway, bytes: string): Promise<string> {
  using caller = await RawClient.connect(gateway);
  await caller.send(bytes);
  return await caller.until(/\r\n/);
}

async function goodCallWorks(gateway: TestGateway): Promise<void> {
  using caller = await RawClient.connect(gateway);
  await caller.post(PATH, BODY);
  assert.equal((await caller.answer())?.status, 200);
}

function request(
  first: string,
  headers: readonly string[],
  body: string = "",
): string {
  return [first, ...headers, "", body].join("\r\n");
}

const KEY = `x-api-key: ${TEST_KEY}`;
const HOST = "host: gateway";
const TYPE = "content-type: application/json";
const LENGTH = `content-length: ${BODY.length}`;
const POST = `POST ${PATH} HTTP/1.1`;

/** A request and its accepted statuses; undefined: the connection closes without an answer. */
type Row = readonly [
  name: string,
  bytes: string,
  statuses: readonly (number | undefined)[],
];

const SMUGGLED: readonly Row[] = [
  [
    "a content length and chunks",
    request(
      POST,
      [HOST, KEY, TYPE, LENGTH, "transfer-encoding: chunked"],
      `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`,
    ),
    [400, undefined],
  ],
  [
    "chunks and a content length, which Deno removes",
    request(
      POST,
      [HOST, KEY, TYPE, "transfer-encoding: chunked", "content-length: 4"],
      `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`,
    ),
    [200],
  ],
  [
    "two equal lengths, which Deno joins",
    request(POST, [HOST, KEY, TYPE, LENGTH, LENGTH], BODY),
    [200],
  ],
  [
    "two lengths",
    request(POST, [HOST, KEY, TYPE, LENGTH, "content-length: 5"], BODY),
    [400, undefined],
  ],
  [
    "two lengths in one",
    request(POST, [HOST, KEY, TYPE, `${LENGTH}, 5`], BODY),
    [400, undefined],
  ],
  ...["-1", "+5", "0x10", "5 5", "18446744073709551617", "", "1e1"].map((
    length,
  ): Row => [
    `a length of "${length}"`,
    request(POST, [HOST, KEY, TYPE, `content-length: ${length}`], BODY),
    [400, undefined],
  ]),
  ...["xchunked", "chunked, identity", "gzip, chunked", "chunked, chunked"]
    .map((coding): Row => [
      `the coding ${coding}`,
      request(
        POST,
        [HOST, KEY, TYPE, `transfer-encoding: ${coding}`],
        `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`,
      ),
      // The status depends on how the last coding frames the body, and on whether the content is
      // JSON.
      [200, 400, 415, 501, undefined],
    ]),
  ...["zz", "-1", "ffffffffffffffffff", "5;"].map((size): Row => [
    `a chunk of size ${size}`,
    request(
      POST,
      [HOST, KEY, TYPE, "transfer-encoding: chunked"],
      `${size}\r\n${BODY}\r\n0\r\n\r\n`,
    ),
    [400, undefined],
  ]),
  [
    "a folded header",
    request(
      POST,
      [HOST, `x-api-key: ${TEST_KEY}\r\n more`, TYPE, LENGTH],
      BODY,
    ),
    [400, 401, undefined],
  ],
  [
    "a space before the colon",
    request(POST, [HOST, `x-api-key : ${TEST_KEY}`, TYPE, LENGTH], BODY),
    [400, undefined],
  ],
  [
    "a header without a name",
    request(POST, [HOST, KEY, ": x", TYPE, LENGTH], BODY),
    [400, undefined],
  ],
  [
    "a zero byte in a header",
    request(POST, [HOST, KEY, "x-odd: a\0b", TYPE, LENGTH], BODY),
    [400, undefined],
  ],
  [
    "bare line feeds",
    request(POST, [HOST, KEY, TYPE, LENGTH], BODY).replaceAll("\r\n", "\n"),
    [200, 400, undefined],
  ],
  [
    "a huge header",
    request(POST, [
      HOST,
      KEY,
      TYPE,
      LENGTH,
      `x-odd: ${"a".repeat(1024 * 1024)}`,
    ], BODY),
    [400, 431, undefined],
  ],
  [
    "ten thousand headers",
    request(POST, [
      HOST,
      KEY,
      TYPE,
      LENGTH,
      ...Array.from({ length: 10_000 }, (_, i) => `x-${i}: a`),
    ], BODY),
    [400, 431, undefined],
  ],
  [
    "a target of 1 MiB",
    request(`GET /${"a".repeat(1024 * 1024)} HTTP/1.1`, [HOST]),
    [400, 404, 414, 431, undefined],
  ],
  ["HTTP/3.0", request(`GET ${PATH} HTTP/3.0`, [HOST]), [400, undefined]],
  ["HTTP/0.9", `GET ${PATH}\r\n\r\n`, [400, undefined]],
  ["TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", [
    400,
    undefined,
  ]],
  [
    "an unknown expectation",
    request(POST, [HOST, KEY, TYPE, LENGTH, "expect: 200-maybe"], BODY),
    [200, 417],
  ],
  [
    "an upgrade",
    request(POST, [
      HOST,
      KEY,
      TYPE,
      LENGTH,
      "connection: upgrade",
      "upgrade: websocket",
    ], BODY),
    [200],
  ],
];

Deno.test("requests that two parsers could read differently are refused or read in one way", (t) =>
  withGateway(async (gateway) => {
    for (const [name, bytes, statuses] of SMUGGLED) {
      await t.step(name, async () => {
        const answer = await exchange(gateway, bytes);
        assert.ok(
          statuses.includes(answer?.status),
          `${answer?.status}: ${answer?.body}`,
        );
        await goodCallWorks(gateway);
      });
    }
  }));

Deno.test("bytes after a request's body are a request of their own, with its own key", () =>
  withGateway(async (gateway) => {
    using caller = await RawClient.connect(gateway);
    // The body is longer than declared: the rest must not use the first request's key.
    const hidden = request("GET /v1/models HTTP/1.1", [HOST]);
    await caller.send(
      request(POST, [HOST, KEY, TYPE, LENGTH], BODY) + hidden,
    );
    assert.equal((await caller.answer())?.status, 200);
    assert.equal((await caller.answer())?.status, 401);
    await caller.send(request("GET /v1/models HTTP/1.1", [HOST, KEY]));
    assert.equal((await caller.answer())?.status, 200);
  }));

Deno.test("requests on one connection are answered in order, each with its own answer", () =>
  withGateway(async (gateway) => {
    using caller = await RawClient.connect(gateway);
    const models = ["vendora-opus-4-8", "nope", "vendorc-3-pro", "nope"];
    for (const model of models) await caller.post(PATH, requestText(model));
    for (const model of models) {
      const answer = await caller.answer();
      assert.equal(answer?.status, model === "nope" ? 404 : 200);
      assert.match(answer?.body ?? "", new RegExp(model));
    }
  }));

Deno.test("odd targets and hosts get a 4xx or are read by their path, and give no access", (t) =>
  withGateway(async (gateway) => {
    const hosts = [
      undefined,
      "",
      "a b",
      "localhost:4000/#@x",
      "gateway/admin/v1/plans?",
      "@",
      ":",
      "[::1",
      "a:99999",
      "a:b",
      "\u00e4",
      "%zz",
      "evil\tcom",
      "a, b",
      "[]",
      "<>",
      "a".repeat(10_000),
    ];
    for (const host of hosts) {
      await t.step(`host ${host?.slice(0, 30)}`, async () => {
        for (const path of ["/v1/models", "/admin/v1/plans", "/healthz"]) {
          const answer = await exchange(
            gateway,
            request(
              `GET ${path} HTTP/1.1`,
              host === undefined ? [] : [`host: ${host}`],
            ),
          );
          const right = path === "/healthz"
            ? [200, 400, undefined]
            : [400, 401, 404, 429, undefined];
          assert.ok(
            right.includes(answer?.status),
            `${path}: ${answer?.status} ${answer?.body}`,
          );
        }
        await goodCallWorks(gateway);
      });
    }
    const targets = [
      "http://evil.example/v1/models",
      "http://localhost/admin/v1/plans",
      "https://a:b@c/v1/models",
      "http:///v1/models",
      "http://[/v1/models",
      "http://a:99999/v1/models",
      "ftp://a/v1/models",
      "//v1/models",
      "///admin/v1/plans",
      "/\\admin/v1/plans",
      "*",
      "gateway:80",
      "v1/models",
      "?",
      "/%",
      "/%zz",
      "/v1/models/%",
      "/v1/models/%ff",
      "/v1/models/%00",
      "/v1/models/..%2f..%2fadmin",
      "/v1/models?limit=%ff&limit=%zz",
      "/v1/models#fragment",
      "/\u00fc\u4e2d",
      "/\x01",
      "/a b",
      "/\u007f",
      "/v1/messages?" + "a=b&".repeat(10_000),
    ];
    for (const target of targets) {
      await t.step(`target ${target.slice(0, 40)}`, async () => {
        for (
          const method of [
            "GET",
            "POST",
            "OPTIONS",
            "HEAD",
            "TRACE",
            "get",
            "\u00e4",
          ]
        ) {
          using caller = await RawClient.connect(gateway);
          await caller.send(request(`${method} ${target} HTTP/1.1`, [HOST]));
          const head = await caller.until(/\r\n\r\n/).catch(() => "closed");
          assert.match(
            head,
            /^closed|^HTTP\/1\.1 (204|40[0145]|414|429|431) /,
            `${method} ${target}`,
          );
        }
        await goodCallWorks(gateway);
      });
    }
  }, { GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN }));

Deno.test("altered keys are refused, and none is repeated in an answer", (t) =>
  withGateway(async (gateway) => {
    const names = ["x-api-key: ", "authorization: Bearer "];
    const spoiled = [
      "",
      `"${TEST_KEY}"`,
      `'${TEST_KEY}'`,
      `\u00a0${TEST_KEY}`,
      `${TEST_KEY}\u00a0`,
      `${TEST_KEY}\u200b`,
      `${TEST_KEY}\\n`,
      `${TEST_KEY}%0a`,
      `${TEST_KEY},${TEST_KEY}`,
      `${TEST_KEY} ${TEST_KEY}`,
      TEST_KEY.toUpperCase(),
      TEST_KEY.slice(0, -1),
      `${TEST_KEY}x`,
      "' OR '1'='1",
      "sk-' OR '1'='1' --",
      "sk-%",
      "sk-_____________________",
      "sk-*",
      "null",
      "undefined",
      "__proto__",
      `sk-${"a".repeat(30_000)}`,
      "sk-\u00fc\u4e2d",
    ];
    for (const name of names) {
      for (const key of spoiled) {
        await t.step(`${name}${key.slice(0, 40)}`, async () => {
          for (const path of PATHS) {
            const answer = await exchange(
              gateway,
              request(`POST ${path} HTTP/1.1`, [
                HOST,
                `${name}${key}`,
                TYPE,
                LENGTH,
              ], BODY),
            );
            assert.ok(
              [400, 401].includes(answer?.status ?? 0),
              `${answer?.status}`,
            );
            if (key.length > 12) {
              assert.ok(!answer?.body.includes(key), "the key is repeated");
            }
          }
        });
      }
    }
    await t.step("the header twice, once with the valid key", async () => {
      const answer = await exchange(
        gateway,
        request(POST, [HOST, "x-api-key: sk-other", KEY, TYPE, LENGTH], BODY),
      );
      assert.equal(answer?.status, 401);
    });
    for (const fold of ["\r\n ", "\r\n\t", "\n ", "\r"]) {
      await t.step(`a key folded by ${JSON.stringify(fold)}`, async () => {
        const answer = await exchange(
          gateway,
          request(
            POST,
            [HOST, `x-api-key:${fold}${TEST_KEY}`, TYPE, LENGTH],
            BODY,
          ),
        );
        assert.ok(
          [400, 401, undefined].includes(answer?.status),
          `${answer?.status}`,
        );
      });
    }
    await goodCallWorks(gateway);
  }));

Deno.test("a body's size is counted as it arrives, whatever length is declared", (t) =>
  withGateway(async (gateway) => {
    const long = "a".repeat(4000);
    const chunks = Array.from(
      { length: 1000 },
      () => `${long.length.toString(16)}\r\n${long}\r\n`,
    ).join("");
    for (const path of PATHS) {
      await t.step(`${path}: a length beyond the limit`, async () => {
        const lines = [HOST, KEY, TYPE, "content-length: 9000000000"];
        assert.match(
          await refusal(gateway, request(`POST ${path} HTTP/1.1`, lines)),
          /^HTTP\/1\.1 413 /,
        );
      });
      await t.step(
        `${path}: chunks beyond the limit, without a last chunk`,
        async () => {
          const lines = [HOST, KEY, TYPE, "transfer-encoding: chunked"];
          assert.match(
            await refusal(
              gateway,
              request(`POST ${path} HTTP/1.1`, lines, chunks),
            ),
            /^HTTP\/1\.1 413 /,
          );
        },
      );
      await t.step(`${path}: a decompression bomb`, async () => {
        using caller = await RawClient.connect(gateway);
        await caller.post(path, gzipSync(new Uint8Array(64 * 1024 * 1024)), {
          "content-encoding": "gzip",
        });
        assert.equal((await caller.answer())?.status, 413);
      });
      await t.step(`${path}: a declared length that is too small`, async () => {
        using caller = await RawClient.connect(gateway);
        await caller.post(path, BODY, { "content-length": "30" });
        assert.equal((await caller.answer())?.status, 400);
      });
      await goodCallWorks(gateway);
    }
  }, { GATEWAY_MAX_BODY_BYTES: "100000" }));

Deno.test("a body that stops arriving is a 408, however it is framed", (t) =>
  withGateway(async (gateway) => {
    for (const path of [...PATHS, "/v1/messages/count_tokens"]) {
      for (
        const [name, header, sent] of [
          [
            "a declared length that is too large",
            "content-length: 10000",
            BODY,
          ],
          [
            "chunks without a last chunk",
            "transfer-encoding: chunked",
            `5\r\n{"a":`,
          ],
          [
            "an incomplete chunk",
            "transfer-encoding: chunked",
            `fff\r\n{"a":`,
          ],
          ["no body at all", "transfer-encoding: chunked", ""],
        ] as const
      ) {
        await t.step(`${path}: ${name}`, async () => {
          const answer = await exchange(
            gateway,
            request(`POST ${path} HTTP/1.1`, [HOST, KEY, TYPE, header], sent),
          );
          assert.equal(answer?.status, 408);
          assert.equal(gateway.gateway.concurrency.inUse(), 0);
        });
      }
      await t.step(`${path}: a byte every 20 ms`, async () => {
        using caller = await RawClient.connect(gateway);
        await caller.send(
          request(`POST ${path} HTTP/1.1`, [
            HOST,
            KEY,
            TYPE,
            "content-length: 10000",
          ]),
        );
        const drip = setInterval(() => void caller.send(" "), 20);
        try {
          assert.equal((await caller.answer())?.status, 408);
        } finally {
          clearInterval(drip);
        }
      });
    }
    await goodCallWorks(gateway);
  }, { GATEWAY_BODY_TIMEOUT_SECONDS: "0.2" }));

Deno.test("no spelling of a path opens the admin API without its token, and few reach it with the token", (t) =>
  withGateway(async (gateway) => {
    const right = `authorization: Bearer ${ADMIN_TOKEN}`;
    const odd = [
      "//admin/v1/plans",
      "/admin//v1/plans",
      "/admin/v1//plans",
      "/admin/v1/plans/",
      "/admin/v1/plans/.",
      "/admin/../admin/v1/plans",
      "/v1/../admin/v1/plans",
      "/healthz/../admin/v1/plans",
      "/%2e%2e/admin/v1/plans",
      "/v1/%2e%2e/admin/v1/plans",
      "/v1/models/%2e%2e/%2e%2e/admin/v1/plans",
      "/admin%2fv1%2fplans",
      "/%61dmin/v1/plans",
      "/ADMIN/v1/plans",
      "/Admin/V1/Plans",
      "/admin/v1/plans;a=b",
      "/admin;a=b/v1/plans",
      "/admin/v1/plans%00",
      "/admin/v1/plans%20",
      "/admin/v1/plans.json",
      "/admin\\v1\\plans",
      "/\\admin/v1/plans",
      "/admin/v1/plans%3fa",
      "/admin/v1/plans#a",
      "http://localhost/admin/v1/plans",
      "http://127.0.0.1/admin/v1/plans",
      "http://gateway/v1/../admin/v1/plans",
    ];
    /** The spellings that URL parsing resolves to the admin path itself. */
    const same = /\.\.|%2e|\\|\/\.$|^http|#a$/;
    for (const target of odd) {
      await t.step(target, async () => {
        for (
          const key of [KEY, `authorization: Bearer ${TEST_KEY}`, "x-none: a"]
        ) {
          const answer = await exchange(
            gateway,
            request(`GET ${target} HTTP/1.1`, [HOST, key]),
          );
          assert.ok(
            [400, 401, 404, 429, undefined].includes(answer?.status),
            `${answer?.status} ${answer?.body}`,
          );
        }
        const answer = await exchange(
          gateway,
          request(`GET ${target} HTTP/1.1`, [HOST, right]),
        );
        if (!same.test(target)) assert.notEqual(answer?.status, 200);
      });
    }
    await t.step(
      "a model id with path segments does not leave its route",
      async () => {
        const answer = await exchange(
          gateway,
          request("GET /v1/models/..%2f..%2fadmin%2fv1%2fplans HTTP/1.1", [
            HOST,
            KEY,
          ]),
        );
        assert.equal(answer?.status, 404);
      },
    );
    await t.step(
      "guessing is slowed down, but not for the valid token",
      async () => {
        const statuses: (number | undefined)[] = [];
        for (let i = 0; i < 20; i++) {
          const answer = await exchange(
            gateway,
            request("GET /admin/v1/plans HTTP/1.1", [
              HOST,
              `authorization: Bearer ${ADMIN_TOKEN.slice(0, -1)}${i}`,
            ]),
          );
          statuses.push(answer?.status);
          if (answer?.status === 429) {
            assert.ok(answer.headers.has("retry-after"));
          }
        }
        assert.ok(statuses.slice(-5).every((status) => status === 429));
        const answer = await exchange(
          gateway,
          request("GET /admin/v1/plans HTTP/1.1", [HOST, right]),
        );
        assert.equal(answer?.status, 200);
      },
    );
  }, { GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN }));
