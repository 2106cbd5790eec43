import assert from "node:assert/strict";
import { startTestGateway, TEST_KEY } from "../tests/support/test_gateway.ts";
import { contentErrorReply, errorReply } from "./reply_schemas.ts";

/** A request to a wrong address, the error format of the response, and its message. */
type Row = readonly [string, "chat" | "messages" | "content", RegExp];

const LACKS_V1 =
  /lacks \/v1: set it to the gateway's address followed by \/v1$/;
const DOUBLED = /adds another: remove \/v1 from the base address$/;
const SLASH = /an extra slash: remove the one at the end/;
const ENDPOINT_ALONE =
  /is a whole endpoint, .*: set it to the gateway's address alone, without a path$/;
const ENDPOINT_V1 =
  /is a whole endpoint, .*: set it to the gateway's address followed by \/v1$/;
const PREFIX_ALONE =
  /has a path that this gateway does not have: set it to the gateway's address alone/;
const PREFIX_V1 =
  /has a path that this gateway does not have: set it to the gateway's address followed by \/v1$/;
const GENERATE =
  /^no such path: the generate-content format is at POST \/v1beta\/models\/\{model\}:generateContent, .* address alone, without a path$/;
const NO_STATE =
  /^no such path: interactions, cached contents, files .* are not served here; POST \/v1beta/;
const NO_DECISIONS =
  /^no such path: decisions are served where the operator has configured a route/;
const NO_AGENTS = /^no such path: agents, sessions, skills .* not served here/;
const NO_TEXT =
  /^no such path: embeddings, pictures, batches and live sessions are not served in this format; .* POST \/v1\/embeddings/;
const CLOUD =
  /^no such path: the formats of cloud hosts are not served here; .*POST \/v1\/messages/;
const GATEWAY_PROVIDER =
  /^no such path: .*createOpenAI\(\{ baseURL \}\) with the gateway's address followed by \/v1$/;
const COMPACT =
  /^no such path: conversations are not compacted here; .*model_provider.*docs\/clients\.md$/;
const STORED =
  /^no such path: stored replies are at GET and DELETE \/v1\/responses\/\{id\} and /;
const OTHER_SERVICE = /^no such path: audio, images, files, batches/;

const ROWS: readonly Row[] = [
  ["POST /messages", "messages", LACKS_V1],
  ["POST /messages/count_tokens", "messages", LACKS_V1],
  ["POST /chat/completions", "chat", LACKS_V1],
  ["GET /models", "chat", LACKS_V1],
  ["GET /models/vendorb-5", "chat", LACKS_V1],
  ["POST /v1/v1/messages", "messages", DOUBLED],
  ["POST /v1/v1/messages/count_tokens", "messages", DOUBLED],
  ["GET /v1/v1/models", "chat", DOUBLED],
  ["POST /v1/v1/chat/completions", "chat", DOUBLED],
  ["POST //v1/messages", "messages", SLASH],
  ["POST /v1//chat/completions", "chat", SLASH],
  ["POST /v1/messages/", "messages", SLASH],
  ["POST /v1/chat/completions/", "chat", SLASH],
  ["GET /v1/models/", "chat", SLASH],
  ["POST //messages", "messages", LACKS_V1],
  ["POST /V1/Messages", "messages", /lower case/],
  ["POST /v1/messages/v1/messages", "messages", ENDPOINT_ALONE],
  ["POST /v1/chat/completions/v1/messages", "messages", ENDPOINT_ALONE],
  ["POST /v1/chat/completions/chat/completions", "chat", ENDPOINT_V1],
  ["POST /v1/messages/chat/completions", "chat", ENDPOINT_V1],
  ["GET /v1/chat/completions/models", "chat", ENDPOINT_V1],
  ["POST /chat/completions/chat/completions", "chat", ENDPOINT_V1],
  ["POST /anthropic/v1/messages", "messages", PREFIX_ALONE],
  ["POST /api/v1/chat/completions", "chat", PREFIX_V1],
  ["GET /api/v1/models", "chat", PREFIX_V1],
  ["POST /api/chat/completions", "chat", PREFIX_V1],
  ["POST /azure/deployments/x/chat/completions", "chat", PREFIX_V1],
  ["POST /responses", "chat", LACKS_V1],
  ["POST /v1/v1/responses", "chat", DOUBLED],
  ["POST /v1/responses/", "chat", SLASH],
  ["POST /v1/responses/chat/completions", "chat", ENDPOINT_V1],
  ["POST /v1/responses/responses", "chat", ENDPOINT_V1],
  ["POST /api/v1/responses", "chat", PREFIX_V1],
  ["GET /v1/responses/models", "chat", ENDPOINT_V1],
  ["POST /v1/responses/compact", "chat", COMPACT],
  ["POST /responses/compact", "chat", COMPACT],
  [
    "POST /responses/input_tokens",
    "chat",
    /the endpoint is POST \/v1\/responses\/input_tokens; .* lacks \/v1/,
  ],
  [
    "POST /chat/completions/input_tokens",
    "chat",
    /the endpoint is POST \/v1\/chat\/completions\/input_tokens; .* lacks \/v1/,
  ],
  ["GET /v1/responses/1", "chat", STORED],
  ["GET /responses/resp_1", "chat", STORED],
  ["GET /v1/responses/resp_1/items", "chat", STORED],
  [
    "POST /embeddings",
    "chat",
    /the endpoint is POST \/v1\/embeddings; .* lacks \/v1/,
  ],
  ["POST /v1/completions", "chat", /the completions format, with a prompt/],
  ["POST /v1/complete", "messages", /POST \/v1\/messages takes the same text/],
  ["POST /v1/messages/batches", "messages", /batches are not served here/],
  ["POST /v1/audio/speech", "chat", OTHER_SERVICE],
  ["POST /v1/images/generations", "chat", OTHER_SERVICE],
  ["GET /v1/files", "chat", OTHER_SERVICE],
  ["POST /v1/models/vendorc-3-pro:embedContent", "content", NO_TEXT],
  [
    "POST /v1beta1/projects/p/locations/l/publishers/google/models/vendorc-3-pro:streamGenerateContent?alt=sse",
    "content",
    GENERATE,
  ],
  ["POST /v1beta/models/vendorc-3-pro:embedContent", "content", NO_TEXT],
  ["POST /v1beta/models/vendorc-3-pro:predict", "content", NO_TEXT],
  ["GET /v1alpha/models?pageSize=50", "content", GENERATE],
  ["GET /v1/v1beta/models", "content", GENERATE],
  ["POST /v1beta/interactions", "content", NO_STATE],
  ["POST /v1beta/cachedContents", "content", NO_STATE],
  ["POST /upload/v1beta/files", "content", NO_STATE],
  ["POST /v1/interactions", "chat", NO_AGENTS],
  ["POST /v1/skills", "chat", NO_AGENTS],
  ["GET /v1/agents/a/sessions", "chat", NO_AGENTS],
  ["POST /v1/live/sessions", "chat", NO_AGENTS],
  ["GET /mcp", "chat", NO_AGENTS],
  ["POST /v1/decisions", "chat", NO_DECISIONS],
  ["POST /v1beta/decisions", "chat", NO_DECISIONS],
  ["POST /v1beta/openai/files", "chat", OTHER_SERVICE],
  ["POST /v1beta/openai/chat/completions", "chat", PREFIX_V1],
  ["GET /v1beta/openai/models", "chat", PREFIX_V1],
  ["POST /v1/ai/language-model", "chat", GATEWAY_PROVIDER],
  ["GET /v1/ai/config", "chat", GATEWAY_PROVIDER],
  ["POST /v4/ai/language-model", "chat", GATEWAY_PROVIDER],
  [
    "POST /model/vendora-opus-4-8/invoke-with-response-stream",
    "messages",
    CLOUD,
  ],
  ["POST /model/vendora-opus-4-8/converse", "messages", CLOUD],
  [
    "POST /v1/projects/p/locations/l/publishers/anthropic/models/vendora-opus-4-8:streamRawPredict",
    "messages",
    CLOUD,
  ],
  ["GET /v1", "messages", /this is a base address; the endpoints are POST/],
  ["GET /v1/", "messages", /this is a base address/],
  [
    "GET /v2/nothing",
    "messages",
    /GET \/openapi\.json lists the endpoints$/,
  ],
];

Deno.test("the error for a wrong address names the right one, in the client's format", async (t) => {
  await using gateway = await startTestGateway();
  for (const [request, format, message] of ROWS) {
    await t.step(request, async () => {
      const [method = "", target = ""] = request.split(" ");
      const response = await fetch(gateway.url + target, {
        method,
        headers: {
          authorization: `Bearer ${TEST_KEY}`,
          "content-type": "application/json",
        },
        ...(method === "POST" ? { body: "{}" } : {}),
      });
      assert.equal(response.status, 404);
      assert.equal(response.headers.get("x-should-retry"), "false");
      const body = await response.json();
      if (format === "content") {
        const { error } = contentErrorReply.parse(body);
        assert.equal(error.status, "NOT_FOUND");
        assert.match(error.message, message);
        return;
      }
      const { error } = errorReply.parse(body);
      assert.match(error.message, /^no such path: /);
      assert.match(error.message, message);
      assert.equal(
        error.type,
        format === "chat" ? "invalid_request_error" : "not_found_error",
      );
    });
  }
});

Deno.test("the client's headers decide the format of the error", async (t) => {
  await using gateway = await startTestGateway();
  const rows: readonly (readonly [
    header: string,
    path: string,
    type: unknown,
    status: unknown,
  ])[] = [
    ["anthropic-version", "/v1/files", "not_found_error", undefined],
    ["x-goog-api-key", "/v1/files", undefined, "NOT_FOUND"],
    ["x-goog-api-key", "/v1/interactions", undefined, "NOT_FOUND"],
    ["x-goog-api-key", "/v1/cachedContents", undefined, "NOT_FOUND"],
    ["api-key", "/nothing", "invalid_request_error", undefined],
  ];
  for (const [header, path, type, status] of rows) {
    await t.step(`${header} at ${path}`, async () => {
      const response = await fetch(gateway.url + path, {
        headers: { [header]: TEST_KEY },
      });
      const { error } = await response.json();
      assert.equal(response.status, 404);
      assert.deepEqual([error.type, error.status], [type, status]);
    });
  }
});

/** What each library appends to its base address. */
const APPENDED: readonly (readonly [
  before: string,
  tail: string,
  header: string,
])[] = [
  ["", "/chat/completions", "authorization"],
  ["/api/v1", "/chat/completions", "authorization"],
  ["/api", "/responses", "authorization"],
  ["/v1/v1", "/chat/completions", "authorization"],
  ["/v1/chat/completions", "/chat/completions", "authorization"],
  ["/api/v1", "/models", "authorization"],
  ["/anthropic", "/v1/messages", "anthropic-version"],
  ["/anthropic", "/v1/models", "anthropic-version"],
  ["/v1", "/v1/messages", "anthropic-version"],
  ["/v1/messages", "/v1/messages", "anthropic-version"],
];

Deno.test("the advice about a wrong address leads to one that answers", async (t) => {
  await using gateway = await startTestGateway();
  for (const [before, tail, header] of APPENDED) {
    await t.step(`${before} and ${tail}`, async () => {
      const send = (base: string): Promise<Response> =>
        fetch(`${gateway.url}${base}${tail}`, {
          method: tail.endsWith("/models") ? "GET" : "POST",
          headers: {
            [header]: "2023-06-01",
            "x-api-key": TEST_KEY,
            "content-type": "application/json",
          },
          ...(tail.endsWith("/models") ? {} : { body: "{}" }),
        });
      const wrong = await send(before);
      assert.equal(wrong.status, 404);
      const { error: { message } } = await wrong.json();
      const base = /followed by \/v1$/.test(message)
        ? "/v1"
        : /address alone, without a path$/.test(message)
        ? ""
        : before.replace(/\/v1$/, "");
      const right = await send(base);
      await right.body?.cancel();
      assert.notEqual(right.status, 404, message);
    });
  }
});

Deno.test("a long path of slashes is refused quickly", async () => {
  await using gateway = await startTestGateway();
  for (const path of ["/".repeat(8_000) + "x", "/models/".repeat(1_000)]) {
    const response = await fetch(gateway.url + path);
    assert.equal(response.status, 404);
    await response.body?.cancel();
  }
});
