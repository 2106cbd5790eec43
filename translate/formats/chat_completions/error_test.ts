import assert from "node:assert/strict";
import { ApiError, ERROR_STATUS, type ErrorKind } from "../../model/error.ts";
import { decodeError, encodeError, inBandError } from "./error.ts";

const KINDS: Readonly<Record<ErrorKind, [number, string, string | null]>> = {
  invalid_request: [400, "invalid_request_error", null],
  authentication: [401, "authentication_error", "invalid_api_key"],
  billing: [402, "insufficient_quota", "insufficient_quota"],
  permission: [403, "permission_error", null],
  not_found: [404, "invalid_request_error", null],
  method_not_allowed: [405, "invalid_request_error", null],
  request_timeout: [408, "invalid_request_error", null],
  conflict: [409, "invalid_request_error", null],
  too_large: [413, "invalid_request_error", null],
  unsupported_media: [415, "invalid_request_error", null],
  rate_limit: [429, "requests", "rate_limit_exceeded"],
  internal: [500, "server_error", null],
  upstream: [502, "server_error", null],
  unavailable: [503, "server_error", null],
  timeout: [504, "server_error", null],
  overloaded: [503, "server_error", null],
};

Deno.test("encodeError() encodes every kind with this format's type and code", async (t) => {
  const kinds = Object.entries(KINDS);
  assert.equal(kinds.length, Object.keys(ERROR_STATUS).length);
  for (const [kind, [status, type, code]] of kinds) {
    await t.step(kind, () => {
      // The type of KINDS guarantees that its keys are error kinds.
      const error = new ApiError(kind as ErrorKind, "Words.");
      assert.deepEqual(encodeError(error, "req_1"), {
        status,
        headers: {},
        body: {
          type: "error",
          error: { type, message: "Words.", code, param: null },
          request_id: "req_1",
        },
      });
    });
  }
});

Deno.test("encodeError() sends the known code, field and headers", () => {
  const error = new ApiError("method_not_allowed", "No.", {
    code: "c",
    param: "messages[0]",
    retryAfterSeconds: 7,
    retryable: false,
    allow: ["GET", "HEAD"],
    upstreamStatus: 500,
  });
  const { headers, body } = encodeError(error, "r");
  assert.deepEqual(headers, {
    "retry-after": "7",
    "x-should-retry": "false",
    allow: "GET, HEAD",
  });
  assert.deepEqual(body["error"], {
    type: "invalid_request_error",
    message: "No.",
    code: "c",
    param: "messages[0]",
  });
  assert.equal(
    encodeError(new ApiError("timeout", "x", { retryable: true }), "r")
      .headers["x-should-retry"],
    "true",
  );
});

Deno.test("encodeError() keeps codes that clients act on", async (t) => {
  const rows: [ErrorKind, string, string][] = [
    ["not_found", "model_not_found", "invalid_request_error"],
    ["permission", "insufficient_balance", "permission_error"],
    ["invalid_request", "context_length_exceeded", "invalid_request_error"],
    ["rate_limit", "insufficient_quota", "insufficient_quota"],
  ];
  for (const [kind, code, type] of rows) {
    await t.step(code, () => {
      const { body } = encodeError(new ApiError(kind, "x", { code }), "r");
      assert.deepEqual(body["error"], {
        type,
        message: "x",
        code,
        param: null,
      });
    });
  }
});

Deno.test("decodeError() decodes errors of any shape", async (t) => {
  const rows: [string, number, string, ErrorKind, string, object][] = [
    [
      "openai",
      400,
      '{"error":{"message":"bad","type":"invalid_request_error","param":"messages","code":"x"}}',
      "invalid_request",
      "bad",
      { upstreamStatus: 400, code: "x", param: "messages" },
    ],
    [
      "mistral",
      422,
      '{"detail":"nope"}',
      "invalid_request",
      "nope",
      { upstreamStatus: 422 },
    ],
    [
      "quota",
      429,
      '{"error":{"message":"pay","type":"insufficient_quota","code":"insufficient_quota"}}',
      "upstream",
      "the upstream refused the gateway's own credentials or account; the operator must look into it",
      {
        upstreamStatus: 429,
        retryable: false,
        refused: "account",
        upstreamCode: "insufficient_quota",
        upstreamMessage: "pay",
      },
    ],
    [
      "overflow",
      400,
      '{"error":{"message":"maximum context length is 8 tokens"}}',
      "invalid_request",
      "maximum context length is 8 tokens",
      { upstreamStatus: 400, code: "context_length_exceeded" },
    ],
    [
      "our key",
      401,
      '{"error":{"message":"bad key sk-abc"}}',
      "upstream",
      "the upstream refused the gateway's own credentials or account; the operator must look into it",
      {
        upstreamStatus: 401,
        retryable: false,
        refused: "credential",
        upstreamCode: "401",
        upstreamMessage: "bad key sk-abc",
      },
    ],
    ["text", 503, "busy", "unavailable", "busy", { upstreamStatus: 503 }],
  ];
  for (const [name, status, body, kind, message, details] of rows) {
    await t.step(name, () => {
      const error = decodeError(status, new Headers(), body);
      assert.equal(error.kind, kind);
      assert.equal(error.message, message);
      assert.deepEqual(error.details, details);
    });
  }
});

Deno.test("inBandError() decodes an error whose code, type and status are objects", () => {
  const odd = { toString: 1, valueOf: 1 };
  for (const field of ["status_code", "code", "type", "status"]) {
    const error = inBandError({ error: { message: "m", [field]: odd } });
    assert.deepEqual([error.kind, error.message], ["upstream", "m"]);
  }
});

Deno.test("fields of an upstream's error that the format's own form lacks pass to its own clients", () => {
  const error = decodeError(
    429,
    new Headers(),
    '{"error":{"message":"m","type":"tokens","code":"rate_limit_exceeded","param":null,"metadata":{"limit":5}},"user_id":"of the operator"}',
  );
  const { error: own, ...rest } = encodeError(error, "req_1").body;
  assert.deepEqual(own, {
    type: "requests",
    message: "m",
    code: "rate_limit_exceeded",
    param: null,
    metadata: { limit: 5 },
  });
  assert.deepEqual(rest, { type: "error", request_id: "req_1" });
});

Deno.test("no field of an upstream's refusal of the gateway's account passes", () => {
  const error = decodeError(
    402,
    new Headers(),
    '{"error":{"message":"m","metadata":{"balance":0}}}',
  );
  assert.equal(error.details.vendorError, undefined);
});
