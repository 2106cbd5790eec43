import assert from "node:assert/strict";
import {
  ApiError,
  type ErrorDetails,
  type ErrorKind,
} from "../../model/error.ts";
import { objectOr } from "../../bytes/json.ts";
import { decodeError, encodeError, inBandError } from "./error.ts";

Deno.test("encodeError() uses the statuses and codes that clients of this format expect", () => {
  const rows: readonly (readonly [
    ErrorKind,
    ErrorDetails,
    number,
    string | null,
  ])[] = [
    ["not_found", { code: "model_not_found" }, 404, "model_not_found"],
    ["authentication", {}, 401, "invalid_api_key"],
    ["billing", {}, 429, "insufficient_quota"],
    [
      "permission",
      { code: "insufficient_balance" },
      429,
      "insufficient_quota",
    ],
    ["rate_limit", { code: "insufficient_quota" }, 429, "insufficient_quota"],
    [
      "permission",
      { code: "model_not_in_plan" },
      403,
      "model_not_in_plan",
    ],
    ["overloaded", {}, 503, "server_is_overloaded"],
    ["unavailable", {}, 503, "server_is_overloaded"],
    ["rate_limit", {}, 429, "rate_limit_exceeded"],
    [
      "invalid_request",
      { code: "context_length_exceeded" },
      400,
      "context_length_exceeded",
    ],
    ["invalid_request", { param: "input[0]" }, 400, null],
    ["upstream", {}, 502, null],
    ["timeout", {}, 504, null],
  ];
  for (const [kind, details, status, code] of rows) {
    const encoded = encodeError(new ApiError(kind, "why", details), "req_1");
    const error = objectOr(encoded.body["error"]);
    assert.equal(encoded.status, status, kind);
    assert.equal(error["code"], code, kind);
    assert.equal(error["message"], "why");
    assert.equal(error["param"], details.param ?? null);
    assert.equal(encoded.body["request_id"], "req_1");
  }
});

Deno.test("encodeError() does not invite a retry if the account cannot pay", () => {
  const unpaid = encodeError(
    new ApiError("permission", "empty", {
      code: "insufficient_balance",
      retryAfterSeconds: 3,
    }),
    "",
  );
  assert.deepEqual(unpaid.headers, { "x-should-retry": "false" });
  const limited = encodeError(
    new ApiError("rate_limit", "slow", { retryAfterSeconds: 3 }),
    "",
  );
  assert.deepEqual(limited.headers, { "retry-after": "3" });
});

Deno.test("decodeError() decodes errors of every shape", () => {
  const bodies: readonly (readonly [number, string, ErrorKind, string])[] = [
    [
      400,
      '{"error":{"message":"no model","type":"invalid_request_error","param":"model","code":"model_not_found"}}',
      "invalid_request",
      "no model",
    ],
    [
      429,
      '{"error":{"message":"pay","code":"insufficient_quota"}}',
      "upstream",
      "the upstream refused the gateway's own credentials or account; the operator must look into it",
    ],
    [
      400,
      '{"code":"x","error":"plain words"}',
      "invalid_request",
      "plain words",
    ],
    [
      401,
      '{"error":{"message":"key sk-1"}}',
      "upstream",
      "the upstream refused the gateway's own credentials or account; the operator must look into it",
    ],
    [
      400,
      '{"error":{"message":"Incorrect API key provided: sk-1"}}',
      "upstream",
      "the upstream refused the gateway's own credentials or account; the operator must look into it",
    ],
    [503, "<html><title>busy</title></html>", "unavailable", "busy"],
  ];
  for (const [status, body, kind, message] of bodies) {
    const error = decodeError(status, new Headers(), body);
    assert.equal(error.kind, kind, body);
    assert.equal(error.message, message, body);
    assert.equal(error.details.upstreamStatus, status);
  }
});

Deno.test("inBandError() uses the error's words if there is no status", () => {
  const rows: readonly (readonly [object, ErrorKind])[] = [
    [
      { type: "error", code: "rate_limit_exceeded", message: "m" },
      "rate_limit",
    ],
    [{ type: "error", error: { type: "tokens", message: "m" } }, "rate_limit"],
    [
      {
        response: { error: { code: "context_length_exceeded", message: "m" } },
      },
      "invalid_request",
    ],
    [
      { response: { error: { code: "server_error", message: "m" } } },
      "internal",
    ],
    [
      { type: "error", code: "server_is_overloaded", message: "m" },
      "overloaded",
    ],
    [{ response: { status: "cancelled" } }, "upstream"],
    [{ type: "error" }, "upstream"],
  ];
  for (const [body, kind] of rows) {
    const error = inBandError({ ...body });
    assert.equal(error.kind, kind, JSON.stringify(body));
    assert.equal(error.details.upstreamStatus, undefined);
  }
});
