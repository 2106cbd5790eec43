/** What a web socket of the Responses format refuses, before and after its handshake. */
import assert from "node:assert/strict";
import { type JsonObject, objectOr } from "../../translate/bytes/json.ts";
import {
  openSocket,
  type SocketClient,
} from "../support/clients/socket_client.ts";
import { HANDSHAKE } from "../support/clients/handshake.ts";
import {
  FAMILIES,
  startTestGateway,
  TEST_KEY,
  type TestGateway,
} from "../support/test_gateway.ts";

const [MODEL = ""] = FAMILIES;
const TURN = { model: MODEL, input: "Hi.", store: false };

async function withSocket(
  run: (client: SocketClient, gateway: TestGateway) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  await using gateway = await startTestGateway({ env });
  await using client = await openSocket(gateway.url);
  await run(client, gateway);
}

/** Sends a handshake by hand; the head and body of the response, if there is no web socket. */
function handshake(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  return fetch(`${url}/v1/responses`, {
    headers: { ...HANDSHAKE, ...headers },
  });
}

const BEARER = { authorization: `Bearer ${TEST_KEY}` };

Deno.test("who may not open a web socket gets an HTTP error", async (t) => {
  await using gateway = await startTestGateway({
    env: { GATEWAY_CORS_ORIGINS: "https://app.example.com" },
  });
  const { admin } = gateway.accounts;
  const { id: accountId } = await admin.accounts.create({});
  const { text: disabled = "" } = await admin.keys.issue({ accountId });
  await admin.accounts.update(accountId, { status: "disabled" });
  const rows: readonly (readonly [
    string,
    Readonly<Record<string, string>>,
    number,
    string,
  ])[] = [
    ["no key", {}, 401, "invalid_api_key"],
    ["a wrong key", { "x-api-key": "sk-wrong" }, 401, "invalid_api_key"],
    [
      "a disabled account",
      { "x-api-key": disabled },
      403,
      "account_disabled",
    ],
    [
      "a page of another origin",
      { ...BEARER, origin: "https://evil.example.com" },
      403,
      "origin_not_allowed",
    ],
    [
      "a page of the origin null",
      { ...BEARER, origin: "null" },
      403,
      "origin_not_allowed",
    ],
    [
      "another version of the protocol",
      { ...BEARER, "sec-websocket-version": "8" },
      426,
      "",
    ],
    [
      "no key of the protocol",
      { ...BEARER, "sec-websocket-key": "" },
      400,
      "",
    ],
  ];
  for (const [name, headers, status, code] of rows) {
    await t.step(name, async () => {
      const response = await handshake(gateway.url, headers);
      const text = await response.text();
      assert.equal(response.status, status, text);
      const error = objectOr(objectOr(JSON.parse(text))["error"]);
      assert.equal(error["code"] ?? "", code, text);
      assert.ok(response.headers.get("request-id"));
    });
  }
  await t.step("a key in the query", async () => {
    const response = await fetch(
      `${gateway.url}/v1/responses?key=${TEST_KEY}&api-key=${TEST_KEY}`,
      { headers: { upgrade: "websocket" } },
    );
    assert.equal(response.status, 401);
    await response.body?.cancel();
  });
  assert.equal(gateway.gateway.sockets.count, 0);
  for (const origin of [gateway.url, "https://app.example.com"]) {
    const client = await openSocket(gateway.url, { ...BEARER, origin });
    await client.close();
  }
});

Deno.test("without web sockets, a handshake is 426 and a plain GET 405", async () => {
  await using gateway = await startTestGateway({
    env: { GATEWAY_WEB_SOCKETS: "0" },
  });
  const refused = await handshake(gateway.url, BEARER);
  assert.equal(refused.status, 426);
  assert.equal(refused.headers.get("upgrade"), "websocket");
  assert.equal((await refused.json()).type, "error");
  const get = await fetch(`${gateway.url}/v1/responses`, { headers: BEARER });
  assert.equal(get.status, 405);
  assert.equal(get.headers.get("allow"), "POST, OPTIONS");
  await get.body?.cancel();
});

Deno.test("a key and the process have a number of web sockets", async () => {
  await using gateway = await startTestGateway({
    env: { GATEWAY_WEB_SOCKETS: "3", GATEWAY_WEB_SOCKETS_PER_KEY: "2" },
  });
  await using stack = new AsyncDisposableStack();
  const { admin } = gateway.accounts;
  const { id: accountId } = await admin.accounts.create({});
  const { text: first = "" } = await admin.keys.issue({ accountId });
  const { text: second = "" } = await admin.keys.issue({ accountId });
  const open: SocketClient[] = [];
  const refused = async (key: string): Promise<unknown> => {
    const response = await handshake(gateway.url, { "x-api-key": key });
    const { error } = await response.json();
    return [response.status, error.code, response.headers.get("retry-after")];
  };
  for (const key of [first, first, second]) {
    const client = await openSocket(gateway.url, { "x-api-key": key });
    open.push(stack.use(client));
    if (open.length === 2) {
      assert.deepEqual(await refused(first), [
        429,
        "concurrent_connections",
        "1",
      ]);
    }
  }
  assert.deepEqual(await refused(second), [503, "server_is_overloaded", "1"]);
  await open[0]?.close();
  stack.use(await openSocket(gateway.url, { "x-api-key": first }));
});

Deno.test("a wrong event is answered with an error, and the connection goes on", (t) =>
  withSocket(async (client, gateway) => {
    const rows: readonly (readonly [
      string,
      JsonObject | string,
      {
        readonly status: number;
        readonly code?: string;
        readonly param?: string;
      },
    ])[] = [
      ["no JSON", "{", { status: 400 }],
      ["no object", "[]", { status: 400 }],
      ["nothing", "", { status: 400 }],
      ["no type", {}, { status: 400, param: "type" }],
      ["another type", { type: "response.cancel" }, {
        status: 400,
        param: "type",
      }],
      [
        "a field twice",
        '{"type":"response.create","model":"a","model":"b","input":"x"}',
        { status: 400, param: "model" },
      ],
      [
        "an empty lane",
        { type: "response.create", ...TURN, stream_id: "" },
        { status: 400, code: "invalid_stream_id", param: "stream_id" },
      ],
      [
        "generate as text",
        { type: "response.create", ...TURN, generate: "no" },
        { status: 400, param: "generate" },
      ],
      [
        "in the background",
        { type: "response.create", ...TURN, background: true },
        { status: 400, code: "unsupported_parameter", param: "background" },
      ],
      [
        "an unknown model",
        { type: "response.create", ...TURN, model: "no-such-model" },
        { status: 404, code: "model_not_found", param: "model" },
      ],
      ["no model", { type: "response.create", input: "x" }, {
        status: 400,
        param: "model",
      }],
    ];
    for (const [name, event, { status, code, param }] of rows) {
      await t.step(name, async () => {
        client.send(event);
        const refused = await client.next();
        const error = objectOr(refused["error"]);
        assert.equal(refused["type"], "error");
        assert.equal(refused["status"], status, JSON.stringify(refused));
        assert.ok(objectOr(refused["headers"])["request-id"]);
        assert.equal(typeof error["message"], "string");
        if (code !== undefined) assert.equal(error["code"], code);
        if (param !== undefined) assert.equal(error["param"], param);
        const logged = gateway.logged.at(-1);
        assert.equal(logged?.status, status);
        assert.equal(logged?.ended, "refused");
      });
    }
    const events = await client.create(TURN);
    assert.equal(events.at(-1)?.["type"], "response.completed");
  }));

Deno.test("a notice of Codex is not answered", () =>
  withSocket(async (client) => {
    client.send({ type: "response.processed", response_id: "resp_1" });
    const [first] = await client.create(TURN);
    assert.equal(first?.["type"], "response.created");
  }));

Deno.test("steering is refused with its code and its input", () =>
  withSocket(async (client) => {
    const steer = { previous_response_id: "resp_1", input: "Shorter." };
    client.send({ type: "response.steer", ...steer });
    const failed = await client.next();
    assert.equal(failed["type"], "response.steer.failed");
    assert.equal(objectOr(failed["error"])["code"], "steering_not_supported");
    assert.deepEqual(failed["steer"], steer);
  }));
