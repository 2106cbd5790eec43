import assert from "node:assert/strict";
import { VERSION } from "../gateway/version.ts";
import {
  contentErrorReply,
  errorReply,
  modelListReply,
  modelReply,
} from "./reply_schemas.ts";
import { OWN_PATHS } from "../gateway/upstream/catalogue/route_problems.ts";
import { ROUTES } from "./mod.ts";
import {
  startTestGateway,
  TEST_KEY,
  type TestGateway,
} from "../tests/support/test_gateway.ts";

async function withGateway(
  run: (gateway: TestGateway) => Promise<void>,
  env: Record<string, string> = {},
): Promise<void> {
  await using gateway = await startTestGateway({ env });
  await run(gateway);
}

Deno.test("no configured route can have a path of the gateway's own", () => {
  const own = new Set(
    ROUTES.flatMap(({ path }) => /^\/v\d+\/([^/:]+)/.exec(path)?.[1] ?? []),
  );
  assert.deepEqual([...own].toSorted(), [...OWN_PATHS].toSorted());
});

const bearer = { authorization: `Bearer ${TEST_KEY}` };

Deno.test("every key route answers 401 in the specified form without a key", () =>
  withGateway(async ({ url }) => {
    for (const route of ROUTES.filter((route) => route.access === "key")) {
      const response = await fetch(
        url + route.path.replace("/responses/:id", "/responses/resp_1")
          .replace(":id", "vendora-opus-4-8"),
        { method: route.method },
      );
      assert.equal(response.status, 401, route.path);
      assert.equal(response.headers.get("content-type"), "application/json");
      const given = await response.json();
      if (route.dialect?.name === "generate_content") {
        const { error } = contentErrorReply.parse(given);
        assert.equal(error.status, "UNAUTHENTICATED", route.path);
        continue;
      }
      const body = errorReply.parse(given);
      assert.equal(body.error.type, "authentication_error", route.path);
      assert.equal(response.headers.get("request-id"), body.request_id);
      assert.equal(response.headers.get("x-request-id"), body.request_id);
    }
  }));

Deno.test("both headers for the key are accepted, and the key is not normalized", (t) =>
  withGateway(async ({ url }) => {
    const rows: readonly [string, Record<string, string>, number][] = [
      ["x-api-key", { "x-api-key": TEST_KEY }, 200],
      ["bearer", bearer, 200],
      ["bearer in any case", { authorization: `bEARER ${TEST_KEY}` }, 200],
      ["both, one of them wrong", { "x-api-key": "sk-wrong", ...bearer }, 200],
      ["quoted", { "x-api-key": `"${TEST_KEY}"` }, 401],
      ["quoted bearer", { authorization: `Bearer '${TEST_KEY}'` }, 401],
      ["two blanks", { authorization: `Bearer  ${TEST_KEY}` }, 401],
      ["a literal \\n", { "x-api-key": `${TEST_KEY}\\n` }, 401],
      ["no-break space", { "x-api-key": `${TEST_KEY}\u00a0` }, 401],
      [
        "another scheme",
        { authorization: `Basic ${btoa(`x:${TEST_KEY}`)}` },
        401,
      ],
      ["the bare key as authorization", { authorization: TEST_KEY }, 401],
      ["shortened", { "x-api-key": TEST_KEY.slice(0, -1) }, 401],
      ["another service's", {
        "x-api-key": "sk-ant-api03-something-long-enough",
      }, 401],
    ];
    for (const [name, headers, status] of rows) {
      await t.step(name, async () => {
        const response = await fetch(`${url}/v1/models`, { headers });
        assert.equal(response.status, status);
        await response.body?.cancel();
      });
    }
  }));

Deno.test("the model list has the fields of both formats, and each entry can be fetched", () =>
  withGateway(async ({ url }) => {
    const response = await fetch(`${url}/v1/models`, { headers: bearer });
    const list = modelListReply.parse(await response.json());
    assert.deepEqual(list.data.map((model) => model.id), [
      "vendora-opus-4-8",
      "vendora-fable-5",
      "vendora-sonnet-4-6",
      "vendora-haiku-4-5",
      "vendora-sonnet-4-6 (context-1m beta)",
      "vendorb-5.5",
      "vendorb-5",
      "vendorc-3-pro",
      "vendorc-3-flash",
      "vendord-m3",
    ]);
    assert.equal(list.first_id, "vendora-opus-4-8");
    assert.equal(list.last_id, "vendord-m3");
    assert.equal(list.has_more, false);
    for (const model of list.data) {
      const one = await fetch(
        `${url}/v1/models/${encodeURIComponent(model.id)}`,
        { headers: bearer },
      );
      assert.deepEqual(modelReply.parse(await one.json()), model);
    }
  }));

Deno.test("the model list states what each model can do, and lists the stages of life that are asked for", () =>
  withGateway(async ({ url }) => {
    const get = async (path: string) => {
      const response = await fetch(`${url}/v1/models${path}`, {
        headers: bearer,
      });
      return { status: response.status, body: await response.json() };
    };
    const { body: opus } = await get("/vendora-opus-4-8");
    assert.equal(opus.lifecycle, "active");
    assert.equal(opus.deprecated_at, null);
    assert.equal(opus.retires_at, null);
    assert.equal(opus.max_tokens, 128_000);
    assert.equal(opus.max_input_tokens, 1_000_000);
    assert.equal(opus.capabilities.thinking.types.adaptive.supported, true);
    assert.equal(opus.capabilities.thinking.types.enabled.supported, false);
    assert.equal(opus.capabilities.context_management.supported, true);
    const { body: chat } = await get("/vendorb-5.5");
    assert.equal(chat.capabilities.effort.supported, true);
    assert.equal(chat.capabilities.server_tools.supported, false);
    for (
      const [query, count] of [
        ["lifecycle=active", 10],
        ["lifecycle[]=active&lifecycle[]=retired", 10],
        ["lifecycle=deprecated", 0],
        ["lifecycle[]=retired", 0],
      ] as const
    ) {
      const { body } = await get(`?${query}`);
      assert.equal(body.data.length, count, query);
    }
    const wrong = await get("?lifecycle=asleep");
    assert.equal(wrong.status, 400);
    assert.equal(errorReply.parse(wrong.body).error.param, "lifecycle");
  }));

Deno.test("the model list supports the pagination of the message format", () =>
  withGateway(async ({ url }) => {
    const get = async (query: string) => {
      const response = await fetch(`${url}/v1/models?${query}`, {
        headers: bearer,
      });
      return { status: response.status, body: await response.json() };
    };
    const { body: first } = await get("limit=4");
    assert.equal(first.data.length, 4);
    assert.equal(first.has_more, true);
    const { body: rest } = await get(
      `limit=100&after_id=${encodeURIComponent(first.last_id)}`,
    );
    assert.equal(rest.data.length, 6);
    assert.equal(rest.has_more, false);
    const { body: before } = await get("limit=2&before_id=vendorb-5");
    assert.deepEqual(before.data.map((model: { id: string }) => model.id), [
      "vendora-sonnet-4-6 (context-1m beta)",
      "vendorb-5.5",
    ]);
    for (
      const [query, param, problem] of [
        ["limit=0", "limit", /must be a whole number/],
        ["limit=1&limit=2", "limit", /must not be given more than once/],
        ["after_id=vendorb-5&after_id=x", "after_id", /more than once/],
        ["of_a_library=1&of_a_library=2", "of_a_library", /more than once/],
      ] as const
    ) {
      const wrong = await get(query);
      assert.equal(wrong.status, 400, query);
      const { error } = errorReply.parse(wrong.body);
      assert.equal(error.param, param);
      assert.match(error.message, problem);
    }
    assert.equal((await get("of_a_library=1")).status, 200);
  }));

Deno.test("an unknown model is 404 model_not_found on every endpoint that takes a model", () =>
  withGateway(async ({ url, post }) => {
    const turn = [{ role: "user", content: "Hi" }];
    const replies = [
      await post("/v1/messages", {
        model: "acme-1",
        max_tokens: 5,
        messages: turn,
      }),
      await post("/v1/messages/count_tokens", {
        model: "acme-1",
        messages: turn,
      }),
      await post("/v1/chat/completions", { model: "acme-1", messages: turn }),
      await fetch(`${url}/v1/models/acme-1`, { headers: bearer }),
    ];
    for (const response of replies) {
      assert.equal(response.status, 404);
      assert.equal(
        errorReply.parse(await response.json()).error.code,
        "model_not_found",
      );
    }
  }));

Deno.test("unknown paths and wrong methods return JSON with the allowed methods", () =>
  withGateway(async ({ url }) => {
    const unknown = await fetch(`${url}/v2/nothing`);
    assert.equal(unknown.status, 404);
    assert.equal(
      errorReply.parse(await unknown.json()).error.type,
      "not_found_error",
    );
    const doubled = await fetch(`${url}/v1/v1/messages`, { method: "POST" });
    assert.equal(doubled.status, 404);
    assert.match(
      errorReply.parse(await doubled.json()).error.message,
      /remove \/v1/,
    );
    const wrong = await fetch(`${url}/v1/messages`);
    assert.equal(wrong.status, 405);
    assert.equal(wrong.headers.get("allow"), "POST, OPTIONS");
    errorReply.parse(await wrong.json());
    const deleted = await fetch(`${url}/v1/models`, { method: "DELETE" });
    assert.equal(deleted.status, 405);
    assert.equal(deleted.headers.get("allow"), "GET, HEAD, OPTIONS");
    await deleted.body?.cancel();
  }));

Deno.test("HEAD is served like GET, without a body", () =>
  withGateway(async ({ url }) => {
    for (const path of ["/", "/api/hello", "/healthz", "/readyz"]) {
      const response = await fetch(url + path, { method: "HEAD" });
      assert.equal(response.status, 200, path);
      assert.equal(await response.text(), "");
    }
    const refused = await fetch(`${url}/v1/models`, { method: "HEAD" });
    assert.equal(refused.status, 401);
    assert.equal(await refused.text(), "");
  }));

Deno.test("CORS is off unless configured", async () => {
  const preflight = {
    method: "OPTIONS",
    headers: {
      origin: "https://app.example",
      "access-control-request-method": "POST",
    },
  };
  await withGateway(async ({ url }) => {
    const response = await fetch(`${url}/v1/messages`, preflight);
    assert.equal(response.status, 204);
    assert.equal(response.headers.get("allow"), "POST, OPTIONS");
    assert.equal(response.headers.get("access-control-allow-origin"), null);
  });
  await withGateway(async ({ url }) => {
    const response = await fetch(`${url}/v1/messages`, preflight);
    assert.equal(
      response.headers.get("access-control-allow-origin"),
      "https://app.example",
    );
    const other = await fetch(`${url}/healthz`, {
      headers: { origin: "https://evil.example" },
    });
    assert.equal(other.headers.get("access-control-allow-origin"), null);
    await other.body?.cancel();
  }, { GATEWAY_CORS_ORIGINS: "https://app.example" });
});

Deno.test("a body that is no JSON object, too large or of another type is refused before anything else", (t) =>
  withGateway(async ({ url, post }) => {
    const rows: readonly [string, string, Record<string, string>, number][] = [
      ["not JSON", "{", {}, 400],
      ["an array", "[]", {}, 400],
      ["empty", "", {}, 400],
      ["plain text", "{}", { "content-type": "text/plain" }, 415],
      [
        "a form",
        "a=b",
        { "content-type": "application/x-www-form-urlencoded" },
        415,
      ],
      ["an unknown encoding", "{}", { "content-encoding": "zstd" }, 415],
      ["too large", JSON.stringify({ x: "y".repeat(3000) }), {}, 413],
    ];
    for (const path of ["/v1/messages", "/v1/chat/completions"]) {
      for (const [name, body, headers, status] of rows) {
        await t.step(`${path}: ${name}`, async () => {
          const response = await post(path, body, headers);
          assert.equal(response.status, status);
          errorReply.parse(await response.json());
        });
      }
      await t.step(`${path}: invalid UTF-8`, async () => {
        const response = await fetch(url + path, {
          method: "POST",
          headers: {
            "x-api-key": TEST_KEY,
            "content-type": "application/json",
          },
          body: Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d),
        });
        assert.equal(response.status, 400);
        assert.match(
          errorReply.parse(await response.json()).error.message,
          /UTF-8/,
        );
      });
    }
  }, { GATEWAY_MAX_BODY_BYTES: "2048" }));

Deno.test("/openapi.json describes every operation with the schemas that validate requests", () =>
  withGateway(async ({ url }) => {
    const document = await (await fetch(`${url}/openapi.json`)).json();
    assert.equal(document.info.version, "1.0.0");
    assert.match(document.info.description, new RegExp(`\\b${VERSION}\\b`));
    const operations = Object.values(
      document.paths as Record<string, Record<string, { operationId: string }>>,
    )
      .flatMap((path) =>
        Object.values(path).map((operation) => operation.operationId)
      );
    const named = ROUTES.map((route) => route.operation).filter((operation) =>
      operation !== undefined
    );
    assert.deepEqual(operations.sort(), named.sort());
    for (
      const operation of ["createMessage", "createChatCompletion", "listModels"]
    ) {
      assert.ok(operations.includes(operation), operation);
    }
    const schema = document.paths["/v1/messages"].post.requestBody
      .content["application/json"].schema;
    assert.deepEqual(
      ["model", "messages", "max_tokens"].filter((field) =>
        schema.required.includes(field)
      ),
      ["model", "messages", "max_tokens"],
    );
    assert.equal(schema.properties.temperature.maximum, 1);
    const chat = document.paths["/v1/chat/completions"].post.requestBody
      .content["application/json"].schema;
    assert.ok(!chat.required.includes("max_tokens"));
  }));
