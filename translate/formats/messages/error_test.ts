import assert from "node:assert/strict";
import {
  ApiError,
  type ErrorDetails,
  type ErrorKind,
} from "../../model/error.ts";
import { decodeError, encodeError } from "./error.ts";

const wire = (type: string, message: string): string =>
  JSON.stringify({
    type: "error",
    error: { type, message },
    request_id: "req_1",
  });

Deno.test("decodeError() reads errors by their status", async (t) => {
  const rows: readonly [number, string, ErrorKind, string][] = [
    [400, wire("invalid_request_error", "bad"), "invalid_request", "bad"],
    [404, wire("not_found_error", "no path"), "not_found", "no path"],
    [413, wire("request_too_large", "big"), "too_large", "big"],
    [429, wire("rate_limit_error", "slow"), "rate_limit", "slow"],
    [500, wire("api_error", "oops"), "internal", "oops"],
    [503, "<html><title>Down</title></html>", "unavailable", "Down"],
    [529, wire("overloaded_error", "Overloaded"), "overloaded", "Overloaded"],
    [529, "", "overloaded", "the upstream is overloaded"],
    [
      401,
      wire("authentication_error", "invalid x-api-key"),
      "upstream",
      "the upstream refused the gateway's own credentials or account; the operator must look into it",
    ],
    [
      400,
      wire(
        "invalid_request_error",
        "Your credit balance is too low to access the API.",
      ),
      "upstream",
      "the upstream refused the gateway's own credentials or account; the operator must look into it",
    ],
  ];
  for (const [status, body, kind, message] of rows) {
    await t.step(`${status} ${body}`, () => {
      const error = decodeError(status, new Headers(), body);
      assert.equal(error.kind, kind);
      assert.equal(error.message, message);
    });
  }
});

Deno.test("decodeError() reads codes", async (t) => {
  const rows: readonly [number, string, string | undefined][] = [
    [404, wire("not_found_error", "model: claude-x"), "model_not_found"],
    [404, wire("not_found_error", "path"), undefined],
    [
      400,
      wire(
        "invalid_request_error",
        "prompt is too long: 3333404 tokens > 200000 maximum",
      ),
      "context_length_exceeded",
    ],
    [
      400,
      JSON.stringify({
        type: "error",
        error: {
          type: "invalid_request_error",
          message: "m",
          details: { error_code: "tool_name_conflict" },
        },
      }),
      "tool_name_conflict",
    ],
  ];
  for (const [status, body, code] of rows) {
    await t.step(body, () => {
      const error = decodeError(status, new Headers(), body);
      assert.equal(error.details.code, code);
    });
  }
});

Deno.test("decodeError() reads the retry delay", () => {
  const error = decodeError(
    429,
    new Headers({ "retry-after": "7", "x-should-retry": "false" }),
    "",
  );
  assert.equal(error.details.retryAfterSeconds, 7);
  assert.equal(error.details.retryable, false);
});

Deno.test("encodeError() writes each kind as the dialect's type", async (t) => {
  const rows: readonly [ErrorKind, ErrorDetails, number, string][] = [
    ["invalid_request", {}, 400, "invalid_request_error"],
    ["authentication", {}, 401, "authentication_error"],
    ["billing", {}, 402, "billing_error"],
    ["permission", {}, 403, "permission_error"],
    ["not_found", {}, 404, "not_found_error"],
    ["method_not_allowed", {}, 405, "invalid_request_error"],
    ["request_timeout", {}, 408, "timeout_error"],
    ["conflict", {}, 409, "invalid_request_error"],
    ["too_large", {}, 413, "request_too_large"],
    ["unsupported_media", {}, 415, "invalid_request_error"],
    ["rate_limit", {}, 429, "rate_limit_error"],
    ["internal", {}, 500, "api_error"],
    ["upstream", {}, 502, "api_error"],
    ["unavailable", {}, 503, "api_error"],
    ["unavailable", { upstreamStatus: 503 }, 503, "overloaded_error"],
    ["timeout", {}, 504, "timeout_error"],
    ["overloaded", {}, 529, "overloaded_error"],
  ];
  for (const [kind, details, status, type] of rows) {
    await t.step(
      `${kind} ${JSON.stringify(details)}`,
      () =>
        assert.deepEqual(
          encodeError(new ApiError(kind, "m", details), "req_9"),
          {
            status,
            headers: {},
            body: {
              type: "error",
              error: { type, message: "m", code: null, param: null },
              request_id: "req_9",
            },
          },
        ),
    );
  }
});

Deno.test("encodeError() repeats the code of a lost thread where the official library reads it", () => {
  for (const code of ["thread_not_found", "thread_fingerprint_mismatch"]) {
    const lost = { ...JSON.parse(wire("not_found_error", "no thread")) };
    lost.error.details = { error_code: code };
    const error = decodeError(404, new Headers(), JSON.stringify(lost));
    const { body } = encodeError(error, "r");
    assert.deepEqual(body["error"], {
      type: "not_found_error",
      message: "no thread",
      code,
      param: null,
      details: { error_code: code },
    });
  }
});

Deno.test("encodeError() writes code, field and retry delay", () => {
  assert.deepEqual(
    encodeError(
      new ApiError("billing", "empty", {
        code: "insufficient_balance",
        param: "model",
        retryAfterSeconds: 5,
        retryable: false,
        allow: ["GET", "HEAD"],
      }),
      "r",
    ),
    {
      status: 402,
      headers: {
        "retry-after": "5",
        "x-should-retry": "false",
        "allow": "GET, HEAD",
      },
      body: {
        type: "error",
        error: {
          type: "billing_error",
          message: "empty",
          code: "insufficient_balance",
          param: "model",
        },
        request_id: "r",
      },
    },
  );
  assert.deepEqual(
    encodeError(new ApiError("overloaded", "m", { retryable: true }), "r")
      .headers,
    { "x-should-retry": "true" },
  );
});

Deno.test("encodeError() writes an overflow in the wording that agents recognize", async (t) => {
  const rows: readonly [string, string][] = [
    [
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130500 tokens.",
      "prompt is too long: 130500 tokens > 128000 maximum",
    ],
    [
      "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      "prompt is too long: 1200000 tokens > 1048576 maximum",
    ],
    [
      "prompt is too long: 3 tokens > 2 maximum",
      "prompt is too long: 3 tokens > 2 maximum",
    ],
    [
      "Your input exceeds the context window of this model.",
      "prompt is too long: Your input exceeds the context window of this model.",
    ],
  ];
  for (const [message, expected] of rows) {
    await t.step(message, () => {
      const { body } = encodeError(
        new ApiError("invalid_request", message, {
          code: "context_length_exceeded",
        }),
        "r",
      );
      assert.deepEqual(body["error"], {
        type: "invalid_request_error",
        message: expected,
        code: "context_length_exceeded",
        param: null,
      });
    });
  }
});

Deno.test("fields of an upstream's error that the format's own form lacks pass to its own clients", () => {
  const error = decodeError(
    429,
    new Headers(),
    '{"type":"error","error":{"type":"rate_limit_error","message":"m","details":{"a":1},"limit":{"reset":"2026-11-28"}}}',
  );
  assert.deepEqual(encodeError(error, "req_1").body["error"], {
    type: "rate_limit_error",
    message: "m",
    code: null,
    param: null,
    details: { a: 1 },
    limit: { reset: "2026-11-28" },
  });
});
