import assert from "node:assert/strict";
import { overflowNumbers } from "../../errors/context_overflow.ts";
import { objectOr } from "../../bytes/json.ts";
import { ApiError, type ErrorKind } from "../../model/error.ts";
import { decodeError, encodeError } from "./error.ts";

function decoded(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): ApiError {
  return decodeError(
    status,
    new Headers(headers),
    typeof body === "string" ? body : JSON.stringify(body),
  );
}

const EXHAUSTED = {
  error: {
    code: 429,
    message: "You exceeded your current quota.",
    status: "RESOURCE_EXHAUSTED",
    details: [
      { "@type": "type.googleapis.com/google.rpc.QuotaFailure" },
      {
        "@type": "type.googleapis.com/google.rpc.RetryInfo",
        retryDelay: "48.9s",
      },
    ],
  },
};

Deno.test("decodeError() takes the kind from the status and keeps the message", async (t) => {
  const cases: readonly (readonly [number, string, string])[] = [
    [400, "INVALID_ARGUMENT", "invalid_request"],
    [400, "FAILED_PRECONDITION", "invalid_request"],
    [404, "NOT_FOUND", "not_found"],
    [429, "RESOURCE_EXHAUSTED", "rate_limit"],
    [500, "INTERNAL", "internal"],
    [503, "UNAVAILABLE", "unavailable"],
    [504, "DEADLINE_EXCEEDED", "timeout"],
  ];
  for (const [code, status, kind] of cases) {
    await t.step(`${code} ${status}`, () => {
      for (
        const body of [
          { error: { code, message: "message", status } },
          [{ error: { code, message: "message", status } }],
        ]
      ) {
        const error = decoded(code, body);
        assert.equal(error.kind, kind);
        assert.equal(error.message, "message");
        assert.equal(error.details.upstreamStatus, code);
        assert.equal(error.details.code, undefined);
      }
    });
  }
});

Deno.test("decodeError() reads the exact delay of a RetryInfo, after a header", () => {
  assert.equal(decoded(429, EXHAUSTED).details.retryAfterSeconds, 48.9);
  assert.equal(decoded(429, [EXHAUSTED]).details.retryAfterSeconds, 48.9);
  assert.equal(
    decoded(429, EXHAUSTED, { "retry-after": "7" }).details.retryAfterSeconds,
    7,
  );
  for (const retryDelay of ["0s", "7s"]) {
    const body = { error: { message: "m", details: [{ retryDelay }] } };
    assert.equal(
      decoded(429, body).details.retryAfterSeconds,
      Number(retryDelay.slice(0, 1)),
    );
  }
  for (const retryDelay of ["soon", 7, "", null]) {
    const body = { error: { message: "m", details: [null, { retryDelay }] } };
    assert.equal(decoded(429, body).details.retryAfterSeconds, undefined);
  }
});

Deno.test("decodeError() reports a refusal of the gateway's own key without the vendor's message", async (t) => {
  const cases: readonly (readonly [string, number, unknown])[] = [
    ["a bad key, which is a 400", 400, {
      error: {
        code: 400,
        message: "SECRET",
        status: "INVALID_ARGUMENT",
        details: [{ reason: "API_KEY_INVALID" }],
      },
    }],
    ["a bad key without details", 400, {
      error: {
        message: "API key not valid. SECRET",
        status: "INVALID_ARGUMENT",
      },
    }],
    ["a country that our account may not call from", 400, {
      error: {
        message: "User location is not supported for the API use. SECRET",
        status: "FAILED_PRECONDITION",
      },
    }],
    ["401", 401, { error: { message: "SECRET", status: "UNAUTHENTICATED" } }],
    ["403", 403, [{
      error: { message: "SECRET", status: "PERMISSION_DENIED" },
    }]],
  ];
  for (const [name, status, body] of cases) {
    await t.step(name, () => {
      const error = decoded(status, body);
      assert.equal(error.kind, "upstream");
      assert.equal(error.details.upstreamStatus, status);
      assert.equal(error.details.retryable, false);
      assert.doesNotMatch(error.message, /SECRET|API key/);
    });
  }
});

Deno.test("decodeError() recognizes a context overflow by its wording", () => {
  for (
    const message of [
      "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      "Unable to submit request because the input token count is 1200000 but model only supports up to 1048576. Reduce the input token count and try again.",
    ]
  ) {
    const error = decoded(400, {
      error: { code: 400, message, status: "INVALID_ARGUMENT" },
    });
    assert.equal(error.kind, "invalid_request");
    assert.equal(error.details.code, "context_length_exceeded");
    assert.equal(error.message, message);
    assert.deepEqual(overflowNumbers(message), {
      tokens: 1200000,
      maximum: 1048576,
    });
  }
});

Deno.test("decodeError() never throws, whatever the body", async (t) => {
  const cases: readonly (readonly [number, string, string, string])[] = [
    [502, "", "upstream", "the upstream failed"],
    [503, "busy", "unavailable", "busy"],
    [404, "<html><title>Error 404</title></html>", "not_found", "Error 404"],
    [400, "[]", "invalid_request", "the upstream refused the request"],
    [400, '{"error":"plain"}', "invalid_request", "plain"],
    [
      400,
      '{"error":{"details":7}}',
      "invalid_request",
      "the upstream refused the request",
    ],
    [400, "null", "invalid_request", "null"],
  ];
  for (const [status, body, kind, message] of cases) {
    await t.step(`${status} ${body}`, () => {
      const error = decoded(status, body);
      assert.equal(error.kind, kind);
      assert.equal(error.message, message);
    });
  }
});

Deno.test("encodeError() writes every kind with a status and its word", () => {
  const rows: readonly (readonly [ErrorKind, number, string])[] = [
    ["invalid_request", 400, "INVALID_ARGUMENT"],
    ["authentication", 401, "UNAUTHENTICATED"],
    ["billing", 402, "FAILED_PRECONDITION"],
    ["permission", 403, "PERMISSION_DENIED"],
    ["not_found", 404, "NOT_FOUND"],
    ["too_large", 413, "INVALID_ARGUMENT"],
    ["rate_limit", 429, "RESOURCE_EXHAUSTED"],
    ["internal", 500, "INTERNAL"],
    ["upstream", 502, "INTERNAL"],
    ["unavailable", 503, "UNAVAILABLE"],
    ["overloaded", 503, "UNAVAILABLE"],
    ["timeout", 504, "DEADLINE_EXCEEDED"],
  ];
  for (const [kind, status, word] of rows) {
    const encoded = encodeError(new ApiError(kind, "why"), "req_1");
    const error = objectOr(encoded.body["error"]);
    assert.equal(encoded.status, status);
    assert.deepEqual([error["code"], error["status"]], [status, word]);
    assert.equal(error["message"], "why");
  }
});

Deno.test("encodeError() lists reason, field, delay and request id as details", () => {
  const error = new ApiError("rate_limit", "slow", {
    code: "tokens_per_minute",
    param: "contents",
    retryAfterSeconds: 7,
    retryable: true,
  });
  const { headers, body } = encodeError(error, "req_1");
  assert.deepEqual(headers, { "retry-after": "7", "x-should-retry": "true" });
  const type = "type.googleapis.com/google.rpc.";
  assert.deepEqual(objectOr(body["error"])["details"], [
    {
      "@type": `${type}ErrorInfo`,
      reason: "TOKENS_PER_MINUTE",
      domain: "model-gateway",
    },
    {
      "@type": `${type}BadRequest`,
      fieldViolations: [{ field: "contents", description: "slow" }],
    },
    { "@type": `${type}RetryInfo`, retryDelay: "7s" },
    { "@type": `${type}RequestInfo`, requestId: "req_1" },
  ]);
});

Deno.test("encodeError() words an overflow as the vendor does", () => {
  const message = (text: string): unknown =>
    objectOr(
      encodeError(
        new ApiError("invalid_request", text, {
          code: "context_length_exceeded",
        }),
        "req_1",
      ).body["error"],
    )["message"];
  assert.equal(
    message("prompt is too long: 300 tokens > 200 maximum"),
    "The input token count (300) exceeds the maximum number of tokens allowed (200).",
  );
  assert.equal(message("too long"), "too long");
});

const TYPES = "type.googleapis.com/google.rpc.";
const QUOTA = {
  "@type": `${TYPES}QuotaFailure`,
  violations: [{ quotaId: "GenerateRequestsPerMinutePerProjectPerModel" }],
};
const HELP = {
  "@type": `${TYPES}Help`,
  links: [{ url: "https://example.com" }],
};
const INFO = {
  "@type": `${TYPES}ErrorInfo`,
  reason: "RATE_LIMIT_EXCEEDED",
  domain: "googleapis.com",
  metadata: { service: "generativelanguage.googleapis.com" },
};
const DELAY = { "@type": `${TYPES}RetryInfo`, retryDelay: "1.2s" };

function detailsOf(error: ApiError): unknown {
  return objectOr(encodeError(error, "req_1").body["error"])["details"];
}

Deno.test("an upstream's details pass to its own clients, with the request's id in place of its own", () => {
  const sent = { "@type": `${TYPES}RequestInfo`, requestId: "theirs" };
  const own = { "@type": `${TYPES}RequestInfo`, requestId: "req_1" };
  const error = decoded(429, {
    error: {
      code: 429,
      message: "slow down",
      status: "RESOURCE_EXHAUSTED",
      details: [QUOTA, HELP, INFO, sent, DELAY],
    },
  });
  assert.deepEqual(detailsOf(error), [QUOTA, HELP, INFO, DELAY, own]);
  assert.equal(encodeError(error, "req_1").headers["retry-after"], "2");
});

Deno.test("no RetryInfo is added where the upstream sent no delay", () => {
  const error = decoded(429, {
    error: { code: 429, message: "slow down", details: [QUOTA, INFO] },
  });
  assert.deepEqual(detailsOf(error), [
    QUOTA,
    INFO,
    { "@type": `${TYPES}RequestInfo`, requestId: "req_1" },
  ]);
  assert.equal(encodeError(error, "req_1").headers["retry-after"], undefined);
});

Deno.test("the status word of an upstream passes where it means the status that is sent", () => {
  const word = (status: number, sent: string): unknown =>
    objectOr(
      encodeError(
        decoded(status, { error: { message: "m", status: sent } }),
        "",
      ).body["error"],
    )["status"];
  assert.equal(word(400, "FAILED_PRECONDITION"), "FAILED_PRECONDITION");
  assert.equal(word(400, "OUT_OF_RANGE"), "OUT_OF_RANGE");
  assert.equal(word(400, "UNAVAILABLE"), "INVALID_ARGUMENT");
});

Deno.test("details of another format do not pass", () => {
  const error = new ApiError("rate_limit", "m", {
    vendorError: { family: "openai", fields: { details: [HELP], x: 1 } },
  });
  const { error: body } = encodeError(error, "req_1").body;
  assert.equal(objectOr(body)["x"], undefined);
  assert.doesNotMatch(JSON.stringify(body), /Help/);
});
